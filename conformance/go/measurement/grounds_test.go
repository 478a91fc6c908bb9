package measurement

import (
	"math/big"
	"testing"

	"lockstep/conformance/go/lcj"
)

// made is a reading that an operation makes of others; `given` stands where it is told.
type made struct {
	name, operation, unit string
	operands              []string
	given                 *big.Rat
}

func (m made) object() *lcj.Object {
	o := lcj.NewObject().Set("name", m.name).Set("operation", m.operation).Set("unit", m.unit).
		Set("operands", lcj.Array(m.operands)).Set("coefficient", nil).Set("given", nil)
	if m.given != nil {
		o.Set("given", written(m.given))
	}
	return o
}

func told(name, unit string, num, den int64) made {
	return made{name, "given", unit, nil, big.NewRat(num, den)}
}

func of(name, operation, unit string, operands ...string) made {
	return made{name, operation, unit, operands, nil}
}

// What is told of steps is counted by nothing that is made of it.
func TestToldStepsStayUncounted(t *testing.T) {
	computed := of("four", "steps", "step", "tokens", "budget")
	none := of("none", "difference", "step", "one", "one")
	same := of("same", "convert", "step", "one")
	for _, test := range []struct {
		outside bool
		chain   []made
	}{
		{false, []made{told("x", "step", 1, 1)}},
		{false, []made{told("x", "step", 0, 1)}},
		{true, []made{told("x", "step", 33, 1)}},
		{false, []made{none}},
		{false, []made{same}},
		{false, []made{computed}},
		{false, []made{computed, of("x", "sum", "step", "four", "four")}},
		{false, []made{of("x", "sum", "step", "counted", "counted")}},
		{false, []made{of("x", "product", "us", "rate", "one")}},
		{false, []made{computed, of("x", "product", "us", "rate", "four")}},
		{true, []made{of("x", "sum", "step", "one", "one")}},
		{true, []made{same, of("x", "sum", "step", "same", "same")}},
		{true, []made{none, of("x", "difference", "step", "none", "one")}},
		{true, []made{computed, of("x", "sum", "step", "four", "one")}},
		{false, []made{of("x", "product", "step", "counted", "measured")}},
		{false, []made{computed, of("x", "change", "1", "one", "four")}},
		{true, []made{of("x", "sum", "step", "counted", "one")}},
		{true, []made{of("x", "sum", "step", "one", "counted")}},
		{true, []made{of("x", "difference", "step", "counted", "one")}},
		{true, []made{of("x", "product", "step*token", "one", "tokens")}},
		{true, []made{told("x", "step/token", 1, 2048)}},
		{true, []made{told("x", "step/token", 1, 1)}},
		{true, []made{told("x", "1/step", 1, 1)}},
		{false, []made{told("x", "us/step", 33, 1)}},
	} {
		found := readChain(t, test.chain)
		if found.outside != test.outside {
			t.Errorf("%v: outside is %v", test.chain, found.outside)
		}
	}
}

// readChain makes readings in order, beside those that all may be made of, and gives the last.
func readChain(t *testing.T, chain []made) *reading {
	budget := int64(2048)
	known := bases{
		time:  map[string]*big.Rat{"us": integer(1)},
		known: map[string]bool{"us": true, "step": true, "token": true},
	}
	measured := func(value int64, text string) *reading {
		u, _ := known.parse(text)
		return &reading{unit: u, profiles: []string{"one"}, value: integer(value), grounds: new(big.Int)}
	}
	d := &derivation{
		Kind: &Kind{bases: known},
		arms: map[string]*arm{"small": {profile: "one", budget: &budget}},
		readings: map[string]*reading{
			"counted": measured(9, "step"), "rate": measured(7, "us/step"), "measured": measured(2, "1"),
		},
	}
	var last *reading
	all := append([]made{
		told("one", "step", 1, 1), told("tokens", "token", 8192, 1), told("budget", "token/step", 2048, 1),
	}, chain...)
	for _, one := range all {
		found, err := d.operate(one.object(), one.name)
		if err != nil {
			t.Fatalf("%v: %v", one, err)
		}
		d.readings[one.name], last = found, found
	}
	return last
}
