package sampling

import (
	"math/big"
	"strings"
)

// Magnitude is the absolute value of a number as it is written: c · 10^q, of at most 29 digits.
type Magnitude struct {
	// small is c where it has at most 19 digits, and wide is nil; otherwise wide is c.
	small uint64
	wide  *big.Int
	q     int
}

// smallDigits is how many decimal digits a uint64 always holds.
const smallDigits = 19

// coefficient gives c.
func (m Magnitude) coefficient() *big.Int {
	if m.wide != nil {
		return m.wide
	}
	return new(big.Int).SetUint64(m.small)
}

// zero says whether the number is 0.
func (m Magnitude) zero() bool {
	return m.wide == nil && m.small == 0
}

// plain is a text `I` or `I.F` taken apart.
type plain struct {
	whole, fraction string
	pointed         bool
}

// readPlain takes a text of digits and at most one point apart.
func readPlain(text string) (plain, bool) {
	whole, fraction, pointed := strings.Cut(text, ".")
	if !allDigits(whole) || pointed && !allDigits(fraction) {
		return plain{}, false
	}
	return plain{whole, fraction, pointed}, true
}

func allDigits(text string) bool {
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return false
		}
	}
	return text != ""
}

// canonical says whether a number has no needless zero and no more digits than these.
func (p plain) canonical(whole, fraction int) bool {
	if len(p.whole) > whole || len(p.whole) > 1 && p.whole[0] == '0' {
		return false
	}
	return !p.pointed || len(p.fraction) <= fraction && p.fraction[len(p.fraction)-1] != '0'
}

// magnitude gives the number.
func (p plain) magnitude() Magnitude {
	if len(p.whole)+len(p.fraction) > smallDigits {
		c, _ := new(big.Int).SetString(p.whole+p.fraction, 10)
		return Magnitude{wide: c, q: -len(p.fraction)}
	}
	c := uint64(0)
	for _, part := range [2]string{p.whole, p.fraction} {
		for i := range len(part) {
			c = 10*c + uint64(part[i]-'0')
		}
	}
	return Magnitude{small: c, q: -len(p.fraction)}
}

// longestLogprob is the most characters of a log-probability.
const longestLogprob = 32

// ParseLogprob reads a log-probability and gives its absolute value ([SAMP-7]).
func ParseLogprob(text string) (Magnitude, bool) {
	digits, negative := strings.CutPrefix(text, "-")
	read, ok := readPlain(digits)
	if !ok || len(text) > longestLogprob || !read.canonical(5, 24) {
		return Magnitude{}, false
	}
	zero := read.whole == "0" && !read.pointed
	return read.magnitude(), zero != negative
}

// ValidToken says whether a text is a token of a vocabulary of that size ([SAMP-9]).
func ValidToken(text string, vocabulary int64) bool {
	if len(text) > 10 || !allDigits(text) || len(text) > 1 && text[0] == '0' {
		return false
	}
	value := int64(0)
	for i := range len(text) {
		value = 10*value + int64(text[i]-'0')
	}
	return value < vocabulary
}

// parseParameter reads a parameter of the form `0`, `0.F`, `I` or `I.F` of [SAMP-11].
func parseParameter(text string) (Magnitude, bool) {
	read, ok := readPlain(text)
	if !ok || !read.canonical(3, 16) {
		return Magnitude{}, false
	}
	return read.magnitude(), true
}

// Gap is how far a log-probability is below 0, c · 10^q; false where the text is none ([SAMP-7]).
func Gap(text string) (c *big.Int, q int, ok bool) {
	read, ok := ParseLogprob(text)
	if !ok {
		return nil, 0, false
	}
	return read.coefficient(), read.q, true
}
