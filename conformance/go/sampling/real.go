package sampling

import (
	"cmp"
	"math/big"
	"strings"
	"unicode/utf8"
)

// real is a number of profile upstream-1.0.0: c · 10^q, or an infinity with the sign of c.
type real struct {
	c        *big.Int
	q        int
	infinite bool
}

// Limits of a number of that profile ([SAMP-41]).
const (
	longestReal  = 64
	mostExponent = 400_000
)

// realOf gives an integer.
func realOf(value int64) real {
	return real{c: big.NewInt(value)}
}

// parseReal reads a number of that profile ([SAMP-41]).
func parseReal(text string) (real, bool) {
	if utf8.RuneCountInString(text) > longestReal {
		return real{}, false
	}
	text = strings.Trim(text, " \t\n\v\f\r")
	for i := range len(text) {
		// Some letters beyond ASCII are those of `infinity` once they are in lower case.
		if text[i] >= utf8.RuneSelf {
			return real{}, false
		}
	}
	text = strings.ToLower(strings.ReplaceAll(text, "_", ""))
	negative := strings.HasPrefix(text, "-")
	if negative || strings.HasPrefix(text, "+") {
		text = text[1:]
	}
	read, ok := real{c: big.NewInt(1), infinite: true}, text == "inf" || text == "infinity"
	if !ok {
		read, ok = parseDigits(text)
	}
	if ok && negative {
		read.c.Neg(read.c)
	}
	return read, ok
}

// parseDigits reads digits, a point and an exponent.
func parseDigits(text string) (real, bool) {
	mantissa, written, marked := strings.Cut(text, "e")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	if !allDigits(whole + fraction) {
		return real{}, false
	}
	exponent := 0
	if marked {
		var ok bool
		if exponent, ok = parseExponent(written); !ok {
			return real{}, false
		}
	}
	c, _ := new(big.Int).SetString(whole+fraction, 10)
	if c.Sign() == 0 {
		return realOf(0), true
	}
	read := real{c: c, q: exponent - len(fraction)}
	leading := read.leading() - 1
	return read, -mostExponent <= leading && leading <= mostExponent
}

// parseExponent reads a sign and digits; what is far beyond the limit is brought to a value that still
// is beyond it for any mantissa.
func parseExponent(text string) (int, bool) {
	digits := strings.TrimPrefix(text, "-")
	if digits == text {
		digits = strings.TrimPrefix(text, "+")
	}
	if !allDigits(digits) {
		return 0, false
	}
	value := 0
	for i := range len(digits) {
		value = min(10*value+int(digits[i]-'0'), 10*mostExponent)
	}
	if text[0] == '-' {
		value = -value
	}
	return value, true
}

// leading gives the power of ten that is just above a finite number other than 0.
func (x real) leading() int {
	return x.q + digits(new(big.Int).Abs(x.c))
}

// signed gives a number of 10 digits its sign.
func signed(rounded Rounded, sign int) real {
	c := rounded.wide()
	if sign < 0 {
		c.Neg(c)
	}
	return real{c: c, q: rounded.q}
}

// over is R(x / y); an error for a y of 0, and for an infinity by an infinity.
func (x real) over(y real) (real, bool) {
	sign := x.c.Sign() * y.c.Sign()
	switch {
	case !y.infinite && y.c.Sign() == 0 || x.infinite && y.infinite:
		return real{}, false
	case y.infinite:
		return realOf(0), true
	case x.infinite:
		return real{c: big.NewInt(int64(sign)), infinite: true}, true
	}
	above, below := new(big.Int).Abs(x.c), new(big.Int).Abs(y.c)
	return signed(roundRatio(above, below, x.q-y.q), sign), true
}

// times is R(x · y); an error for 0 by an infinity.
func (x real) times(y real) (real, bool) {
	sign := x.c.Sign() * y.c.Sign()
	if x.infinite || y.infinite {
		return real{c: big.NewInt(int64(sign)), infinite: true}, sign != 0
	}
	product := new(big.Int).Mul(x.c, y.c)
	return signed(roundRatio(product.Abs(product), big.NewInt(1), x.q+y.q), sign), true
}

// far is a distance of leading digits at which the lesser of two numbers only says on which side of
// the greater one their sum lies: no number has more than 64 digits, and 10 are kept.
const far = 200

// plus is R(x + y); an error for infinities of different signs.
func (x real) plus(y real) (real, bool) {
	switch {
	case x.infinite && y.infinite && x.c.Sign() != y.c.Sign():
		return real{}, false
	case x.infinite || y.c.Sign() == 0 && !y.infinite:
		return x.rounded(), true
	case y.infinite || x.c.Sign() == 0:
		return y.rounded(), true
	}
	if x.leading() < y.leading() {
		x, y = y, x
	}
	if x.leading()-y.leading() > far {
		y = real{c: big.NewInt(int64(y.c.Sign())), q: x.leading() - far}
	}
	a, b, q := align(x.c, x.q, y.c, y.q)
	return real{c: new(big.Int).Add(a, b), q: q}.rounded(), true
}

// rounded is R(x).
func (x real) rounded() real {
	if x.infinite {
		return x
	}
	return signed(roundRatio(new(big.Int).Abs(x.c), big.NewInt(1), x.q), x.c.Sign())
}

// negated gives −x.
func (x real) negated() real {
	return real{c: new(big.Int).Neg(x.c), q: x.q, infinite: x.infinite}
}

// compare compares two numbers.
func (x real) compare(y real) int {
	signs := cmp.Compare(x.c.Sign(), y.c.Sign())
	switch {
	case signs != 0 || x.c.Sign() == 0:
		return signs
	case x.infinite && y.infinite:
		return 0
	case x.infinite:
		return x.c.Sign()
	case y.infinite:
		return -y.c.Sign()
	}
	if order := cmp.Compare(x.leading(), y.leading()); order != 0 {
		return order * x.c.Sign()
	}
	a, b, _ := align(x.c, x.q, y.c, y.q)
	return a.Cmp(b)
}
