package sampling

import (
	"cmp"
	"math/bits"
)

// The functions of this file give what those of exact.go give, in one or two machine words. Nothing
// in them is approximate: where words hold the whole numerator, quotient and rest are those of the
// integers; where they do not, the exact function is called.

// powers are 10^0 to 10^19, all that fit in a word.
var powers = func() (table [smallDigits + 1]uint64) {
	table[0] = 1
	for k := 1; k <= smallDigits; k++ {
		table[k] = 10 * table[k-1]
	}
	return table
}()

// length is how many decimal digits c has; c is above 0.
func length(c uint64) int {
	// 1233 / 4096 is a little above log10(2), and near enough for 64 bits.
	guess := bits.Len64(c) * 1233 >> 12
	if c >= powers[guess] {
		guess++
	}
	return guess
}

// roundWords gives R((hi · 2^64 + lo) / denominator · 10^q), where the quotient is at least 10^9 and
// below 10^11 and hi is below the denominator.
func roundWords(hi, lo, denominator uint64, q int) Rounded {
	c, rest := bits.Div64(hi, lo, denominator)
	// rest < denominator, so that neither side of the comparison wraps.
	half := cmp.Compare(rest, denominator-rest)
	if c >= endCoefficient {
		last := c % 10
		c /= 10
		q++
		half = cmp.Compare(last, 5)
		if half == 0 && rest > 0 {
			half = 1
		}
	}
	return nearest(c, half, q)
}

// divide is R(a / b) for b above 0.
func divide(a, b Magnitude) Rounded {
	switch {
	case a.zero():
		return Rounded{}
	case a.wide != nil || b.wide != nil:
		return exactDivide(a, b)
	}
	shift := precision - length(a.small) + length(b.small)
	denominator := b.small
	hi, lo := uint64(0), a.small
	switch {
	case shift > smallDigits:
		return exactDivide(a, b)
	case shift >= 0:
		hi, lo = bits.Mul64(a.small, powers[shift])
	default:
		// a has 11 to 19 digits here, and b · 10^-shift ten fewer than a.
		denominator *= powers[-shift]
	}
	// The quotient is below 10^11 (roundRatio), so that hi is below the denominator.
	return roundWords(hi, lo, denominator, a.q-b.q-shift)
}

// over is R(a / b) for b above 0.
func (a Rounded) over(b Rounded) Rounded {
	if a.c == 0 {
		return a
	}
	hi, lo := bits.Mul64(a.c, endCoefficient)
	return roundWords(hi, lo, b.c, a.q-b.q-precision)
}

// times is R(a · b).
func (a Rounded) times(b Magnitude) Rounded {
	if a.c == 0 || b.zero() {
		return Rounded{}
	}
	if b.wide != nil {
		return exactMultiply(a, b)
	}
	hi, lo := bits.Mul64(a.c, b.small)
	// The product lies between 10^(8+n) and 10^(10+n), n the digits of b.
	cut := length(b.small) - 1
	return roundProduct(hi, lo, cut, a.q+b.q)
}

// roundProduct gives R((hi · 2^64 + lo) · 10^q) of a product that is at least 10^(9+cut) and below
// 10^(11+cut), for cut below 19.
func roundProduct(hi, lo uint64, cut, q int) Rounded {
	// The quotient by 10^cut is below 10^11, hence hi below 10^cut.
	return roundWords(hi, lo, powers[cut], q+cut)
}

// plus is R(a + b).
func (a Rounded) plus(b Rounded) Rounded {
	if a.c == 0 || b.c != 0 && b.q > a.q {
		a, b = b, a
	}
	if b.c == 0 {
		return a
	}
	gap := a.q - b.q
	switch {
	case gap >= precision+1:
		// b is below a tenth of a unit of a's last digit.
		return a
	case gap == precision:
		// b is below one unit of a's last digit, which is 10^10 of b's.
		return nearest(a.c, cmp.Compare(2*b.c, endCoefficient), a.q)
	}
	// Below 10^10 · 10^9 + 10^10, which a word holds; at least 10^9, and below 10^11 · 10^gap.
	return roundWords(0, a.c*powers[gap]+b.c, powers[gap], a.q)
}

// minus is R(a − b) for a not below b.
func (a Rounded) minus(b Rounded) Rounded {
	if b.c == 0 {
		return a
	}
	gap := a.q - b.q
	switch {
	case gap >= precision+2:
		// b is below a hundredth of a unit of a's last digit: below half a unit even where a is a
		// power of ten and the numbers under it lie ten times as close.
		return a
	case gap >= precision:
		hi, lo := bits.Mul64(a.c, powers[gap])
		lo, borrow := bits.Sub64(lo, b.c, 0)
		// b is below 10^gap, and a is not below 10^(9+gap): the quotient is above 10^10 − 11.
		return roundWords(hi-borrow, lo, powers[gap-1], b.q+gap-1)
	}
	difference := a.c*powers[gap] - b.c
	if difference == 0 {
		return Rounded{}
	}
	return divide(Magnitude{small: difference, q: b.q}, Magnitude{small: 1})
}

// compare compares two rounded numbers.
func (a Rounded) compare(b Rounded) int {
	switch {
	case a.c == 0 || b.c == 0 || a.q == b.q:
		return cmp.Compare(a.c, b.c)
	default:
		return cmp.Compare(a.q, b.q)
	}
}

// against compares a with a number as it is written.
func (a Rounded) against(b Magnitude) int {
	if a.c == 0 || b.wide != nil || b.small == 0 {
		return exactCompare(a, b)
	}
	n := length(b.small)
	if order := cmp.Compare(a.q+precision, b.q+n); order != 0 {
		return order
	}
	// Both are written with 19 digits: leading digits of one place, then a comparison of integers.
	return cmp.Compare(a.c*powers[smallDigits-precision], b.small*powers[smallDigits-n])
}
