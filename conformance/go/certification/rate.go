package certification

import "math/big"

// million is what rates are parts of.
const million = 1_000_000

// rates bounds rates at a confidence, in parts per million ([CERT-18]).
type rates struct {
	confidence int64
	known      map[[2]int64][2]int64
	missedBy   map[int64]int64
}

func newRates(confidence int64) *rates {
	return &rates{confidence, map[[2]int64][2]int64{}, map[int64]int64{}}
}

func power(base, exponent int64) *big.Int {
	return new(big.Int).Exp(big.NewInt(base), big.NewInt(exponent), nil)
}

// between is the chance of from to upto of n at a rate, times the n-th power of a million.
func between(from, upto, n, rate int64) *big.Int {
	sum := new(big.Int)
	for x := from; x <= upto; x++ {
		term := new(big.Int).Binomial(n, x)
		term.Mul(term, power(rate, x))
		sum.Add(sum, term.Mul(term, power(million-rate, n-x)))
	}
	return sum
}

// rare says whether a chance is at most half of what the confidence leaves.
func (r *rates) rare(chance *big.Int, n int64) bool {
	left := new(big.Int).Mul(chance, big.NewInt(2000))
	right := power(million, n)
	return left.Cmp(right.Mul(right, big.NewInt(1000-r.confidence))) <= 0
}

// bounds are the least and the largest rate for k of n by Clopper and Pearson.
func (r *rates) bounds(k, n int64) (int64, int64) {
	if found, known := r.known[[2]int64{k, n}]; known {
		return found[0], found[1]
	}
	low, high := int64(0), int64(million)
	if k > 0 {
		// A chance of k or more grows with the rate.
		low = last(func(q int64) bool { return r.rare(between(k, n, n, q), n) })
	}
	if k < n {
		high = 1 + last(func(q int64) bool { return !r.rare(between(0, k, n, q), n) })
	}
	r.known[[2]int64{k, n}] = [2]int64{low, high}
	return low, high
}

// missed is the largest rate that n rounds without a difference leave open, rounded up.
func (r *rates) missed(n int64) int64 {
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
