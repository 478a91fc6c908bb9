package measurement

import (
	"testing"

	"lockstep/conformance/go/lcj"
)

func TestAFractionIsCanonicalAndInLowestTerms(t *testing.T) {
	for _, one := range []struct {
		num, den string
		ok       bool
	}{
		{"0", "1", true}, {"-3", "2", true}, {"2", "4", false}, {"0", "2", false}, {"-0", "1", false}, {"+3", "2", false},
		{"03", "2", false}, {"3", "02", false}, {"3", "-2", false},
	} {
		stated := lcj.NewObject().Set("num", one.num).Set("den", one.den)
		if _, err := readFraction(stated, ""); (err == nil) != one.ok {
			t.Errorf("%s/%s: %v", one.num, one.den, err)
		}
	}
}
