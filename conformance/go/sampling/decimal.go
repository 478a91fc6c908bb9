package sampling

import (
	"math/big"
	"strconv"
	"strings"
)

// mostWhole is how many digits before its point an argument of Exp may have.
const mostWhole = 7

// Exp is X(d) of [SAMP-14] for a text `0`, `-0.F`, `-I` or `-I.F` of at most 10 digits: the coefficient
// without trailing zeros, and the exponent.
func Exp(d string) (coefficient string, exponent int, ok bool) {
	text, negative := strings.CutPrefix(d, "-")
	read, ok := readPlain(text)
	if !ok || !read.canonical(mostWhole, longestLogprob) || negative == (text == "0") {
		return "", 0, false
	}
	value := read.magnitude()
	if len(strings.TrimRight(value.coefficient().Text(10), "0")) > precision {
		return "", 0, false
	}
	found := exp(roundRatio(value.coefficient(), big.NewInt(1), value.q))
	coefficient = strconv.FormatUint(found.c, 10)
	shorter := strings.TrimRight(coefficient, "0")
	return shorter, found.q + len(coefficient) - len(shorter), true
}
