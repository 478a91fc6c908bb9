package measurement

import (
	"math/big"

	"lockstep/conformance/go/lcj"
	"lockstep/conformance/go/refusal"
)

// readFraction reads an attested `{num, den}`, which must be in lowest terms.
func readFraction(stated *lcj.Object, at string) (*big.Rat, *refusal.Refusal) {
	num, _ := new(big.Int).SetString(stated.Text("num"), 10)
	den, _ := new(big.Int).SetString(stated.Text("den"), 10)
	value := new(big.Rat).SetFrac(num, den)
	if !lcj.Equal(stated, written(value)) {
		return nil, refusal.New(badValue, at)
	}
	return value, nil
}

// written is a fraction as documents have it.
func written(r *big.Rat) *lcj.Object {
	return lcj.NewObject().Set("num", r.Num().String()).Set("den", r.Denom().String())
}

func integer(n int64) *big.Rat {
	return new(big.Rat).SetInt64(n)
}

// ceiling is ⌈r⌉.
func ceiling(r *big.Rat) *big.Int {
	quotient, rest := new(big.Int).DivMod(r.Num(), r.Denom(), new(big.Int))
	if rest.Sign() != 0 {
		quotient.Add(quotient, big.NewInt(1))
	}
	return quotient
}
