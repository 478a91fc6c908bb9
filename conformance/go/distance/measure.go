package distance

import (
	"math/big"
	"slices"
)

// measuresNumber is how many measures there are: mae, kl and max.
const measuresNumber = 3

// ceiling is the largest number that is told.
const ceiling = 1<<53 - 1

// measures are those of a position, in the order of the data.
type measures [measuresNumber]int64

// told is a number, at most the ceiling.
func told(n *big.Int) int64 {
	if n.Cmp(big.NewInt(ceiling)) > 0 {
		return ceiling
	}
	return n.Int64()
}

// measure compares what was signed with what was recomputed, of which top is T ([DIST-1] to [DIST-4]).
func measure(signed, recomputed, top *support) measures {
	edge := slices.MaxFunc(signed.entries, func(a, b entry) int { return a.gap.Cmp(b.gap) })
	sum, most, divergence, size := new(big.Int), new(big.Int), new(big.Int), int64(0)
	add := func(s, r entry) {
		size++
		// Gaps are below zero: s − r is the gap of r less that of s.
		apart := new(big.Int).Sub(r.gap, s.gap)
		// In units of 10^−64: P · (s − r) − P + Q.
		term := new(big.Int).Mul(s.digits, apart)
		term.Sub(term, new(big.Int).Mul(new(big.Int).Sub(s.digits, r.digits), power(unitPlaces)))
		divergence.Add(divergence, term)
		apart.Abs(apart)
		sum.Add(sum, apart)
		if apart.Cmp(most) > 0 {
			most = apart
		}
	}
	for _, s := range signed.entries {
		r, _ := recomputed.has(s.token)
		add(s, r)
	}
	for _, r := range top.entries {
		if _, known := signed.has(r.token); known {
			continue
		}
		s := edge
		if r.gap.Cmp(edge.gap) > 0 {
			s = r
		}
		add(s, r)
	}
	scale := power(unitPlaces - 12)
	mae := new(big.Int).Quo(sum, new(big.Int).Mul(scale, big.NewInt(size)))
	kl := new(big.Int)
	if divergence.Sign() > 0 {
		kl.Quo(divergence, power(unitPlaces+places-15))
	}
	return measures{told(mae), told(kl), told(most.Quo(most, scale))}
}

// Quantile is the one of rank ⌈k · N ÷ 1000⌉ ([DIST-6]); the numbers are in ascending order.
func Quantile(ascending []int64, permille int64) int64 {
	rank := (permille*int64(len(ascending)) + 999) / 1000
	return ascending[rank-1]
}

// ascending are the values of one measure in order.
func ascending(positions []measures, measure int) []int64 {
	values := make([]int64, len(positions))
	for i, one := range positions {
		values[i] = one[measure]
	}
	slices.Sort(values)
	return values
}
