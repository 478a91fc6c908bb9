package rate

import "math/big"

const (
	// width is how many bits a number of an enclosure has.
	width = 128
	// negligible is the binary place below the sum, from which what is left of a tail is no longer added up.
	negligible = 100
)

// tail is the chance that at most k of n happen, k below n.
type tail struct {
	k, n int64
	// ways is how many choices of k of n there are.
	ways *big.Int
}

func newTail(k, n int64) *tail {
	return &tail{k, n, new(big.Int).Binomial(n, k)}
}

// enclosed gives the chance at a rate, or a number above it, or below it, as the mode rounds. All that
// is multiplied, divided and added is positive, so that each rounding moves the result that way.
//
// The terms are added up from that of k downwards. Where they fall, each is below the one before, and
// so all that are left are below as many times the next.
func (t *tail) enclosed(rate int64, mode big.RoundingMode) *big.Float {
	number := func() *big.Float { return new(big.Float).SetPrec(width).SetMode(mode) }
	switch rate {
	case 0:
		return number().SetInt64(1)
	case million:
		return number()
	}
	part := func(of int64) *big.Float { return number().Quo(number().SetInt64(of), number().SetInt64(million)) }
	term := number().SetInt(t.ways)
	term.Mul(term, raised(part(rate), t.k)).Mul(term, raised(part(million-rate), t.n-t.k))
	sum := number().Set(term)
	for x := t.k; x > 0; x-- {
		up, down := x*(million-rate), (t.n-x+1)*rate
		term.Mul(term, number().SetInt64(up)).Quo(term, number().SetInt64(down))
		if up < down {
			left := number().Mul(term, number().SetInt64(x))
			if left.MantExp(nil) < sum.MantExp(nil)-negligible {
				if mode == big.ToPositiveInf {
					sum.Add(sum, left)
				}
				break
			}
		}
		sum.Add(sum, term)
	}
	return sum
}

// raised gives a power of a positive number, rounded as the number is.
func raised(base *big.Float, exponent int64) *big.Float {
	result := new(big.Float).SetPrec(width).SetMode(base.Mode()).SetInt64(1)
	for square := base; exponent > 0; exponent >>= 1 {
		if exponent&1 == 1 {
			result.Mul(result, square)
		}
		square.Mul(square, square)
	}
	return result
}

// exact is the chance times the n-th power of a million.
func (t *tail) exact(rate int64) *big.Int {
	sum := new(big.Int)
	for x := int64(0); x <= t.k; x++ {
		term := new(big.Int).Binomial(t.n, x)
		term.Mul(term, power(rate, x))
		sum.Add(sum, term.Mul(term, power(million-rate, t.n-x)))
	}
	return sum
}
