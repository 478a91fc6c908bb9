package certification

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
)

// number is a decimal: mantissa · 10^exponent.
type number struct {
	mantissa *big.Int
	exponent int
}

// readNumber reads the text of a number; false where it is not finite.
func readNumber(text string) (number, bool) {
	if !finite([]any{text}) {
		return number{}, false
	}
	exponent := 0
	if at := strings.IndexAny(text, "eE"); at >= 0 {
		exponent, _ = strconv.Atoi(text[at+1:])
		text = text[:at]
	}
	whole, fraction, _ := strings.Cut(text, ".")
	mantissa, _ := new(big.Int).SetString(whole+fraction, 10)
	return number{mantissa, exponent - len(fraction)}, true
}

// delta is the absolute difference of two numbers as [CERT-17] writes it; nil where one is not finite.
func delta(a, b any) any {
	left, right := a.(string), b.(string)
	x, ok := readNumber(left)
	y, also := readNumber(right)
	if !ok || !also {
		return nil
	}
	exponent := min(x.exponent, y.exponent)
	for _, one := range []*number{&x, &y} {
		power := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(one.exponent-exponent)), nil)
		one.mantissa = power.Mul(power, one.mantissa)
	}
	apart := new(big.Int).Sub(x.mantissa, y.mantissa)
	if apart.Sign() == 0 {
		return "0"
	}
	return written(apart.Abs(apart).String(), exponent)
}

// written is a number with four digits, rounded half up.
func written(digits string, exponent int) string {
	exponent += len(digits) - 1
	digits += "000"
	first, _ := strconv.Atoi(digits[:4])
	if len(digits) > 4 && digits[4] >= '5' {
		first++
	}
	if first == 10000 {
		first, exponent = 1000, exponent+1
	}
	return fmt.Sprintf("%d.%03de%+03d", first/1000, first%1000, exponent)
}
