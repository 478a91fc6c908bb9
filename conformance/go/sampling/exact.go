package sampling

import "math/big"

// Bounds of a rounded number's coefficient ([SAMP-13]).
const (
	precision        = 10
	leastCoefficient = 1_000_000_000
	endCoefficient   = 10_000_000_000
)

// Rounded is a number that R gives ([SAMP-13]), or its absolute value: c · 10^q, where c is 0 (and
// then q is 0) or has 10 digits.
type Rounded struct {
	c uint64
	q int
}

// one is 1.
var one = Rounded{leastCoefficient, 1 - precision}

var ten = big.NewInt(10)

// power gives 10^k.
func power(k int) *big.Int {
	return new(big.Int).Exp(ten, big.NewInt(int64(k)), nil)
}

// digits is how many decimal digits a number above 0 has.
func digits(c *big.Int) int {
	return len(c.Text(10))
}

// roundRatio gives R(numerator / denominator · 10^q) of numbers that are at least 0 and above 0.
func roundRatio(numerator, denominator *big.Int, q int) Rounded {
	if numerator.Sign() == 0 {
		return Rounded{}
	}
	// The quotient of an a-digit and a b-digit number lies between 10^(a-b-1) and 10^(a-b+1); shifted
	// by this it lies between 10^9 and 10^11.
	shift := precision - digits(numerator) + digits(denominator)
	for {
		above, below := numerator, denominator
		if shift >= 0 {
			above = new(big.Int).Mul(above, power(shift))
		} else {
			below = new(big.Int).Mul(below, power(-shift))
		}
		quotient, rest := new(big.Int).QuoRem(above, below, new(big.Int))
		c := quotient.Uint64()
		if c >= endCoefficient {
			shift--
			continue
		}
		half := rest.Lsh(rest, 1).Cmp(below)
		return nearest(c, half, q-shift)
	}
}

// nearest rounds c · 10^q plus a rest, of which half says how twice the rest compares with 10^q.
func nearest(c uint64, half, q int) Rounded {
	if half > 0 || half == 0 && c&1 == 1 {
		c++
	}
	if c == endCoefficient {
		return Rounded{leastCoefficient, q + 1}
	}
	return Rounded{c, q}
}

// align gives the coefficients of two numbers over the smaller of their exponents.
func align(a *big.Int, aq int, b *big.Int, bq int) (*big.Int, *big.Int, int) {
	if aq > bq {
		return new(big.Int).Mul(a, power(aq-bq)), b, bq
	}
	return a, new(big.Int).Mul(b, power(bq-aq)), aq
}

// wide gives the coefficient.
func (r Rounded) wide() *big.Int {
	return new(big.Int).SetUint64(r.c)
}

// exactDivide is R(a / b) for b above 0.
func exactDivide(a, b Magnitude) Rounded {
	return roundRatio(a.coefficient(), b.coefficient(), a.q-b.q)
}

// exactMultiply is R(a · b).
func exactMultiply(a Rounded, b Magnitude) Rounded {
	return roundRatio(new(big.Int).Mul(a.wide(), b.coefficient()), big.NewInt(1), a.q+b.q)
}

// exactCompare compares a with b.
func exactCompare(a Rounded, b Magnitude) int {
	x, y, _ := align(a.wide(), a.q, b.coefficient(), b.q)
	return x.Cmp(y)
}
