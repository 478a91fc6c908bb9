package measurement

import (
	"math/big"
	"slices"
	"strings"

	"lockstep/conformance/go/kind"
	"lockstep/conformance/go/lcj"
	"lockstep/conformance/go/refusal"
)

// reading is one of the three kinds ([MEAS-6]).
type reading struct {
	kind string
	unit unit
	// profiles ascend.
	profiles []string
	value    *big.Rat
	// given, told, uncounted and outside are as [MEAS-9] has them; budgets are those that it carries.
	given, told, uncounted, outside bool
	budgets                         []*big.Rat
	// grounds are the values that it rests on ([MEAS-10]), a bit for each.
	grounds *big.Int
}

// checkReading is what is asked of every reading, once it is made.
func (d *derivation) checkReading(made *reading, o *lcj.Object, at string) *refusal.Refusal {
	name := o.Text("name")
	if d.readings[name] != nil {
		return refusal.New(badValue, at+"/name")
	}
	if err := kind.Demand(o, at, "unit", otherUnit, made.unit.String()); err != nil {
		return err
	}
	if ending := made.unit.ending(); !strings.HasSuffix(name, ending) {
		return refusal.Expecting(otherUnit, at+"/name", "a name that ends with "+ending, name)
	}
	if d.bases.misread(name, made.unit) {
		return refusal.New(otherUnit, at+"/name")
	}
	if err := kind.Demand(o, at, "profiles", notDerived, lcj.Array(made.profiles)); err != nil {
		return err
	}
	made.kind = o.Text("kind")
	d.readings[name] = made
	return kind.Demand(o, at, "value", notRate, written(made.value))
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
