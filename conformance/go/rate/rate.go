// Package rate bounds rates by Clopper and Pearson ([CERT-18]).
package rate

import "math/big"

// million is what rates are parts of.
const million = 1_000_000

// Rates bounds rates at a confidence, in parts per million.
type Rates struct {
	confidence int64
	known      map[[2]int64][2]int64
	missedBy   map[int64]int64
}

// New gives the bounds at a confidence in thousandths, below 1000.
func New(confidence int64) *Rates {
	return &Rates{confidence, map[[2]int64][2]int64{}, map[int64]int64{}}
}

// Bounds are the least and the largest rate for k of n.
func (r *Rates) Bounds(k, n int64) (low, high int64) {
	if found, known := r.known[[2]int64{k, n}]; known {
		return found[0], found[1]
	}
	low, high = 0, million
	if k > 0 {
		// k or more at a rate are n − k or fewer at the rate of the others. Their chance grows with the rate.
		others := newTail(n-k, n)
		low = last(func(q int64) bool { return r.rare(others, million-q) })
	}
	if k < n {
		fewer := newTail(k, n)
		high = 1 + last(func(q int64) bool { return !r.rare(fewer, q) })
	}
	r.known[[2]int64{k, n}] = [2]int64{low, high}
	return low, high
}

// Missed is the largest rate that n rounds without a difference leave open, rounded up.
func (r *Rates) Missed(n int64) int64 {
	if found, known := r.missedBy[n]; known {
		return found
	}
	right := power(million, n)
	right.Mul(right, big.NewInt(1000-r.confidence))
	found := 1 + last(func(q int64) bool {
		left := power(million-q, n)
		return left.Mul(left, big.NewInt(1000)).Cmp(right) > 0
	})
	r.missedBy[n] = found
	return found
}

// rare says whether a tail has at most half of what the confidence leaves. What an enclosure of the
// chance does not decide is decided by integers: a chance can be that half exactly.
func (r *Rates) rare(t *tail, rate int64) bool {
	half := new(big.Float).SetInt64(1000 - r.confidence)
	twice := func(mode big.RoundingMode) *big.Float {
		chance := t.enclosed(rate, mode)
		return chance.Mul(chance, big.NewFloat(2000))
	}
	switch {
	case twice(big.ToPositiveInf).Cmp(half) <= 0:
		return true
	case twice(big.ToNegativeInf).Cmp(half) > 0:
		return false
	}
	left, right := t.exact(rate), power(million, t.n)
	left.Mul(left, big.NewInt(2000))
	return left.Cmp(right.Mul(right, big.NewInt(1000-r.confidence))) <= 0
}

// last is the largest rate that holds, where all below one hold and none above; -1 where none does.
func last(holds func(int64) bool) int64 {
	low, high := int64(-1), int64(million+1)
	for high-low > 1 {
		if middle := (low + high) / 2; holds(middle) {
			low = middle
		} else {
			high = middle
		}
	}
	return low
}

func power(base, exponent int64) *big.Int {
	return new(big.Int).Exp(big.NewInt(base), big.NewInt(exponent), nil)
}
