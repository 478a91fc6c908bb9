package measurement

import (
	"math/big"
	"slices"

	"lockstep/conformance/go/kind"
	"lockstep/conformance/go/lcj"
	"lockstep/conformance/go/refusal"
)

// checkOperations is step 5.
func (d *derivation) checkOperations() *refusal.Refusal {
	for _, section := range []string{"derived", "predicted"} {
		for i, o := range d.predicate.Objects(section) {
			at := refusal.Index("/predicate/"+section, i)
			made, err := d.operate(o, at)
			if err != nil {
				return err
			}
			if (made.outside && !made.given) != (section == "predicted") {
				return refusal.New(otherKind, at)
			}
			if err := kind.Demand(o, at, "varies", notDerived, d.varies(made.profiles)); err != nil {
				return err
			}
			if err := d.checkReading(made, o, at); err != nil {
				return err
			}
		}
	}
	return nil
}

// operands are the numbers of these that an operation takes, least and most.
var operands = map[string][2]int{
	"given": {0, 0}, "coefficient": {1, 1}, "sum": {2, 16}, "difference": {2, 2}, "product": {2, 2},
	"quotient": {2, 2}, "steps": {2, 2}, "change": {2, 2}, "convert": {1, 1},
}

// operate makes the reading of an operation ([MEAS-9]).
func (d *derivation) operate(o *lcj.Object, at string) (*reading, *refusal.Refusal) {
	operation, names := o.Text("operation"), o.Texts("operands")
	if number := operands[operation]; len(names) < number[0] || len(names) > number[1] {
		return nil, refusal.New(badValue, at+"/operands")
	}
	for _, member := range []string{"given", "coefficient"} {
		if (o.Member(member) != nil) != (operation == member) {
			return nil, refusal.New(badValue, at+"/"+member)
		}
	}
	switch operation {
	case "given":
		return d.given(o, at)
	case "coefficient":
		return d.coefficient(o, at)
	}
	made := &reading{profiles: []string{}, grounds: new(big.Int)}
	var of []*reading
	for i, name := range names {
		one := d.readings[name]
		if one == nil {
			return nil, refusal.New(badValue, refusal.Index(at+"/operands", i))
		}
		of = append(of, one)
		made.profiles = union(made.profiles, one.profiles)
		made.told, made.outside = made.told || one.told, made.outside || one.outside
		made.uncounted = made.uncounted || one.uncounted
		if len(one.profiles) == 0 {
			made.budgets = append(made.budgets, one.budgets...)
		}
		made.grounds.Or(made.grounds, one.grounds)
	}
	if len(made.profiles) > 1 && !slices.Contains(d.across, operation) {
		return nil, refusal.New(otherProfile, at+"/operands")
	}
	if err := d.compute(made, of, o, at); err != nil {
		return nil, err
	}
	d.place(made, operation)
	return made, nil
}

func (d *derivation) given(o *lcj.Object, at string) (*reading, *refusal.Refusal) {
	told, known := d.bases.parse(o.Text("unit"))
	if !known {
		return nil, refusal.New(otherUnit, at+"/unit")
	}
	value, err := readFraction(o.Object("given"), at+"/given")
	if err != nil {
		return nil, err
	}
	made := &reading{unit: told, profiles: []string{}, value: value, given: true, told: true, grounds: new(big.Int)}
	d.place(made, "given")
	return made, nil
}

func (d *derivation) coefficient(o *lcj.Object, at string) (*reading, *refusal.Refusal) {
	found := d.fits[o.Texts("operands")[0]]
	if found == nil {
		return nil, refusal.New(badValue, refusal.Index(at+"/operands", 0))
	}
	place := slices.Index(found.law.coefficients, o.Text("coefficient"))
	if place < 0 {
		return nil, refusal.New(badValue, at+"/coefficient")
	}
	measured, _ := d.bases.parse(found.law.ofCoefficients[place])
	value := found.coefficients[o.Text("coefficient")]
	return &reading{unit: measured, profiles: []string{found.profile}, value: value, grounds: found.grounds}, nil
}

// compute gives a reading the unit and the value of an operation over readings.
func (d *derivation) compute(made *reading, of []*reading, o *lcj.Object, at string) *refusal.Refusal {
	operation := o.Text("operation")
	var err *refusal.Refusal
	if made.unit, err = d.unitOf(operation, of, o, at); err != nil {
		return err
	}
	first, last := of[0], of[len(of)-1]
	divisor := map[string]*reading{"quotient": last, "steps": last, "change": first}[operation]
	if divisor != nil && divisor.value.Sign() == 0 {
		return refusal.New("ZERO_POPULATION", at+"/operands")
	}
	made.value = new(big.Rat)
	switch operation {
	case "sum":
		for _, one := range of {
			made.value.Add(made.value, one.value)
		}
	case "difference":
		made.value.Sub(first.value, last.value)
	case "product":
		made.value.Mul(first.value, last.value)
	case "quotient":
		made.value.Quo(first.value, last.value)
	case "steps":
		made.value.SetInt(ceiling(new(big.Rat).Quo(first.value, last.value)))
	case "change":
		made.value.Sub(last.value, first.value)
		made.value.Quo(made.value, first.value)
	case "convert":
		factor, _ := d.bases.factor(first.unit, made.unit)
		made.value.Mul(first.value, factor)
	}
	return nil
}

// unitOf is that of an operation over readings.
func (d *derivation) unitOf(operation string, of []*reading, o *lcj.Object, at string) (unit, *refusal.Refusal) {
	first, last := of[0].unit, of[len(of)-1].unit
	alike := !slices.ContainsFunc(of, func(one *reading) bool { return one.unit.String() != first.String() })
	switch operation {
	case "product":
		return first.times(last, 1), nil
	case "quotient":
		return first.times(last, -1), nil
	case "steps":
		if first.String() == "token" && last.String() == "token/step" {
			return unit{"step": 1}, nil
		}
	case "convert":
		if told, known := d.bases.parse(o.Text("unit")); known {
			if _, scales := d.bases.factor(first, told); scales {
				return told, nil
			}
		}
		return nil, refusal.New(otherUnit, at+"/unit")
	case "change":
		if alike {
			return unit{}, nil
		}
	default:
		if alike {
			return first, nil
		}
	}
	return nil, refusal.New(otherUnit, at+"/operands")
}
