package measurement

import (
	"math/big"
	"slices"
	"strings"

	"lockstep/conformance/go/lcj"
	"lockstep/conformance/go/probe"
	"lockstep/conformance/go/refusal"
)

// reading is one of the three kinds ([MEAS-6]).
type reading struct {
	kind string
	unit unit
	// profiles ascend.
	profiles []string
	value    *big.Rat
	// given, told and outside are as [MEAS-9] has them; budgets are those that it carries.
	given, told, outside bool
	budgets              []*big.Rat
	// grounds are the values that it rests on ([MEAS-10]), a bit for each.
	grounds *big.Int
}

// checkReading is what is asked of every reading, once it is made.
func (d *derivation) checkReading(made *reading, o *lcj.Object, at string) *refusal.Refusal {
	name := o.Text("name")
	if d.readings[name] != nil {
		return refusal.New(badValue, at+"/name")
	}
	err := probe.DemandAll(o, at, []probe.Derived{{Name: "unit", Code: otherUnit, Value: made.unit.String()}})
	if err != nil {
		return err
	}
	if ending := made.unit.ending(); !strings.HasSuffix(name, ending) {
		return refusal.Expecting(otherUnit, at+"/name", "a name that ends with "+ending, name)
	}
	if d.bases.misread(name, made.unit) {
		return refusal.New(otherUnit, at+"/name")
	}
	err = probe.DemandAll(o, at, []probe.Derived{
		{Name: "profiles", Code: notDerived, Value: lcj.Array(made.profiles)},
	})
	if err != nil {
		return err
	}
	made.kind = o.Text("kind")
	d.readings[name] = made
	return probe.DemandAll(o, at, []probe.Derived{
		{Name: "value", Code: notRate, Value: written(made.value)},
	})
}

// checkDirect is step 4.
func (d *derivation) checkDirect() *refusal.Refusal {
	for i, o := range d.predicate.Objects("direct") {
		at, name := refusal.Index("/predicate/direct", i), o.Text("quantity")
		var values []int64
		var records []*record
		used, profiles := map[string]bool{}, []string{}
		for k, id := range o.Texts("records") {
			r, place := d.byID[id], refusal.Index(at+"/records", k)
			if r == nil || used[id] {
				return refusal.New(badValue, place)
			}
			used[id] = true
			if r.refused {
				return refusal.New("RECORD_REFUSED", place)
			}
			value, has := r.values[name]
			if !has {
				return refusal.New("MISSING_READING", place)
			}
			values, profiles = append(values, value), union(profiles, []string{r.arm.profile})
			records = append(records, r)
		}
		if len(profiles) > 1 {
			return refusal.New(otherProfile, at+"/records")
		}
		if !d.whole(records, name) {
			return refusal.New(underived, at+"/records")
		}
		if o.Text("statistic") == "only" && len(values) > 1 {
			return refusal.New(badValue, at+"/statistic")
		}
		made := &reading{
			unit: d.quantities[name].unit, profiles: profiles, value: statistic(o.Text("statistic"), values),
			grounds: d.grounds(records, []string{name}),
		}
		if err := d.checkReading(made, o, at); err != nil {
			return err
		}
	}
	return nil
}

// statistic is one of `statistics`, of at least one value.
func statistic(name string, values []int64) *big.Rat {
	slices.Sort(values)
	n := len(values)
	sum := new(big.Rat)
	for _, value := range values {
		sum.Add(sum, integer(value))
	}
	switch name {
	case "greatest":
		return integer(values[n-1])
	case "sum":
		return sum
	case "mean":
		return sum.Quo(sum, integer(int64(n)))
	case "median":
		middle := new(big.Rat).Add(integer(values[(n-1)/2]), integer(values[n/2]))
		return middle.Quo(middle, integer(2))
	}
	return integer(values[0])
}

// union joins two ascending lists.
func union(a, b []string) []string {
	joined := append(slices.Clone(a), b...)
	slices.Sort(joined)
	return slices.Compact(joined)
}

// varies lists the members in which profiles differ ([MEAS-7]).
func (d *derivation) varies(profiles []string) []any {
	found := []any{}
	for _, member := range d.members {
		if len(profiles) < 2 {
			break
		}
		first := d.profiles[profiles[0]].Member(member)
		differs := slices.ContainsFunc(profiles, func(name string) bool {
			value := d.profiles[name].Member(member)
			return value == nil || value != first
		})
		if differs {
			found = append(found, member)
		}
	}
	return found
}

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
			err = probe.DemandAll(o, at, []probe.Derived{
				{Name: "varies", Code: notDerived, Value: d.varies(made.profiles)},
			})
			if err != nil {
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
	first, last := of[0], of[len(of)-1]
	made.unit, made.value = first.unit, new(big.Rat)
	unlike := refusal.New(otherUnit, at+"/operands")
	alike := !slices.ContainsFunc(of, func(one *reading) bool { return one.unit.String() != first.unit.String() })
	operation := o.Text("operation")
	switch operation {
	case "sum", "difference", "change":
		if !alike {
			return unlike
		}
	case "product":
		made.unit = first.unit.times(last.unit, 1)
	case "quotient":
		made.unit = first.unit.times(last.unit, -1)
	case "steps":
		if first.unit.String() != "token" || last.unit.String() != "token/step" {
			return unlike
		}
		made.unit = unit{"step": 1}
	case "convert":
		told, known := d.bases.parse(o.Text("unit"))
		factor, scales := d.bases.factor(first.unit, told)
		if !known || !scales {
			return refusal.New(otherUnit, at+"/unit")
		}
		made.unit = told
		made.value.Mul(first.value, factor)
	}
	divisor := map[string]*reading{"quotient": last, "steps": last, "change": first}[operation]
	if divisor != nil && divisor.value.Sign() == 0 {
		return refusal.New("ZERO_POPULATION", at+"/operands")
	}
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
		made.unit = unit{}
		made.value.Sub(last.value, first.value)
		made.value.Quo(made.value, first.value)
	}
	return nil
}
