package throughput

import (
	"cmp"
	"math/big"
	"slices"

	"lockstep/conformance/go/lcj"
)

const million = 1_000_000

// ratio is of the walls of a pair.
type ratio struct{ block, x, y int64 }

// against compares x/y with z/w as x·w and z·y do.
func (r ratio) against(x, y int64) int {
	left := new(big.Int).Mul(big.NewInt(r.x), big.NewInt(y))
	return left.Cmp(new(big.Int).Mul(big.NewInt(x), big.NewInt(r.y)))
}

// ranked orders ratios, of equal ones the earlier block first ([THR-6]).
func ranked(ratios []ratio) []ratio {
	ordered := slices.Clone(ratios)
	slices.SortFunc(ordered, func(a, b ratio) int {
		if order := a.against(b.x, b.y); order != 0 {
			return order
		}
		return cmp.Compare(a.block, b.block)
	})
	return ordered
}

// parts is ⌊(scale · x + extra) ÷ (y · by)⌋ for extra = y · more.
func (r ratio) parts(scale, more, by int64) int64 {
	up := new(big.Int).Mul(big.NewInt(scale), big.NewInt(r.x))
	up.Add(up, new(big.Int).Mul(big.NewInt(r.y), big.NewInt(more)))
	return up.Quo(up, new(big.Int).Mul(big.NewInt(r.y), big.NewInt(by))).Int64()
}

func (r ratio) down() int64   { return r.parts(million, 0, 1) }
func (r ratio) halfUp() int64 { return r.parts(2*million, 1, 2) }

func (r ratio) up() int64 {
	up := new(big.Int).Mul(big.NewInt(million), big.NewInt(r.x))
	up.Add(up, big.NewInt(r.y-1))
	return up.Quo(up, big.NewInt(r.y)).Int64()
}

// document is a ratio as a document has it.
func (r ratio) document(ppm int64) *lcj.Object {
	return lcj.NewObject().Set("block", r.block).Set("ppm", ppm)
}

// interval is the rank k of [THR-7] for n pairs, 0 where there is none, and its coverage.
func interval(n, confidence int64) (k, coverage int64) {
	whole := new(big.Int).Lsh(big.NewInt(1), uint(n))
	most := new(big.Int).Mul(whole, big.NewInt(1000-confidence))
	tail, chosen := new(big.Int), new(big.Int)
	for i := range (n + 1) / 2 {
		tail.Add(tail, new(big.Int).Binomial(n, i))
		if new(big.Int).Mul(tail, big.NewInt(2000)).Cmp(most) > 0 {
			break
		}
		k = i + 1
		chosen.Set(tail)
	}
	if k == 0 {
		return 0, 0
	}
	missed := chosen.Mul(chosen, big.NewInt(2*million))
	missed.Add(missed, new(big.Int).Sub(whole, big.NewInt(1)))
	return k, million - missed.Quo(missed, whole).Int64()
}
