package measurement

import (
	"math/big"
	"slices"

	"lockstep/conformance/go/kind"
	"lockstep/conformance/go/lcj"
	"lockstep/conformance/go/refusal"
)

const million = 1_000_000

// checkRoutes is step 6 ([MEAS-10]).
func (d *derivation) checkRoutes() *refusal.Refusal {
	const pointer = "/predicate/routes"
	stated := d.predicate.Objects("routes")
	if err := distinct(stated, pointer, "name"); err != nil {
		return err
	}
	for i, o := range stated {
		at := refusal.Index(pointer, i)
		first, second := d.readings[o.Text("first")], d.readings[o.Text("second")]
		switch {
		case first == nil:
			return refusal.New(badValue, at+"/first")
		case second == nil:
			return refusal.New(badValue, at+"/second")
		case !restsBeyond(first, second) || !restsBeyond(second, first):
			return refusal.New(badValue, at)
		case first.unit.String() != second.unit.String():
			return refusal.New(otherUnit, at)
		case !slices.Equal(first.profiles, second.profiles):
			return refusal.New(otherProfile, at)
		case second.value.Sign() == 0:
			return refusal.New("ZERO_POPULATION", at+"/second")
		}
		apart := new(big.Rat).Sub(first.value, second.value)
		apart.Mul(apart.Abs(apart), integer(million))
		distance := ceiling(apart.Quo(apart, new(big.Rat).Abs(second.value)))
		if err := kind.Demand(o, at, "distance_ppm", notRate, distance.String()); err != nil {
			return err
		}
		if distance.Cmp(big.NewInt(o.Int("envelope_ppm"))) > 0 {
			return refusal.Expecting("TWO_ROUTES_DISAGREE", at, first.value.FloatString(6), second.value.FloatString(6))
		}
	}
	return nil
}

// checkPublished is step 7 ([MEAS-11]).
func (d *derivation) checkPublished() *refusal.Refusal {
	const pointer = "/predicate/published"
	stated := d.predicate.Objects("published")
	if err := distinct(stated, pointer, "name"); err != nil {
		return err
	}
	for i, o := range stated {
		at := refusal.Index(pointer, i)
		if !d.sources[o.Text("source")] {
			return refusal.New(badValue, at+"/source")
		}
		if _, known := d.bases.parse(o.Text("unit")); !known {
			return refusal.New(otherUnit, at+"/unit")
		}
		value, err := readFraction(o.Object("value"), at+"/value")
		if err != nil {
			return err
		}
		resolution, err := readFraction(o.Object("resolution"), at+"/resolution")
		if err != nil {
			return err
		}
		outcome, err := d.judge(o, value, resolution, at)
		if err != nil {
			return err
		}
		if err := kind.Demand(o, at, "outcome", notDerived, outcome); err != nil {
			return err
		}
		if name, told := o.Member("reading").(string); told {
			unrecorded := outcome == "agrees" && d.readings[name].grounds.Sign() == 0
			d.counts["published_unrecorded"] += kind.Bit(unrecorded)
		}
		d.counts["published_agreeing"] += kind.Bit(outcome == "agrees")
		d.counts["published_contradicted"] += kind.Bit(outcome == "contradicted")
		d.counts["published_not_rederivable"] += kind.Bit(outcome == "not_rederivable")
	}
	return nil
}

func (d *derivation) judge(o *lcj.Object, value, resolution *big.Rat, at string) (string, *refusal.Refusal) {
	name, told := o.Member("reading").(string)
	if !told {
		if o.Member("reason") == nil {
			return "", refusal.New(badValue, at+"/reason")
		}
		return "not_rederivable", nil
	}
	if o.Text("rounding") != "envelope" {
		most := new(big.Rat).Abs(value)
		if most.Sign() == 0 {
			most = integer(1)
		}
		if resolution.Sign() <= 0 || resolution.Cmp(most) > 0 {
			return "", refusal.New(badValue, at+"/resolution")
		}
	}
	found := d.readings[name]
	if found == nil || found.given {
		return "", refusal.New(badValue, at+"/reading")
	}
	if found.unit.String() != o.Text("unit") {
		return "", refusal.New(otherUnit, at+"/unit")
	}
	apart := new(big.Rat).Sub(found.value, value)
	size := new(big.Rat).Abs(apart)
	agrees := false
	switch o.Text("rounding") {
	case "nearest":
		agrees = size.Mul(size, integer(2)).Cmp(resolution) <= 0
	case "down":
		agrees = apart.Sign() >= 0 && apart.Cmp(resolution) < 0
	case "envelope":
		most := new(big.Rat).Abs(found.value)
		most.Mul(most, integer(o.Int("envelope_ppm")))
		agrees = size.Mul(size, integer(million)).Cmp(most) <= 0
	}
	if wanted := o.Member("kind"); wanted != nil && wanted != found.kind {
		agrees = false
	}
	if agrees {
		return "agrees", nil
	}
	return "contradicted", nil
}

// checkGates is step 8 ([MEAS-12]).
func (d *derivation) checkGates() *refusal.Refusal {
	const pointer = "/predicate/gates"
	stated := d.predicate.Objects("gates")
	if err := distinct(stated, pointer, "name"); err != nil {
		return err
	}
	for i, o := range stated {
		at, first, second := refusal.Index(pointer, i), o.Text("first"), o.Text("second")
		switch {
		case d.profiles[first] == nil:
			return refusal.New(badValue, at+"/first")
		case d.profiles[second] == nil || first == second:
			return refusal.New(badValue, at+"/second")
		}
		members, verdict := d.gate(first, second)
		if err := kind.DemandAll(o, at, members); err != nil {
			return err
		}
		d.counts["gates_interchangeable"] += kind.Bit(verdict == "interchangeable")
	}
	return nil
}

// gate derives the members of a gate, in order, and its verdict.
func (d *derivation) gate(first, second string) ([]kind.Member, string) {
	counts := map[string]int64{}
	var within, across any
	largest := func(before any, value int64) any {
		if known, ok := before.(int64); ok {
			return max(known, value)
		}
		return value
	}
	names := map[string]string{first: "first", second: "second"}
	for _, r := range d.records {
		value, measured := r.values[distance]
		if r.refused || !measured {
			continue
		}
		one, other := names[r.arm.profile], names[r.against.profile]
		switch {
		case one == "" || other == "":
		case one != other:
			counts["across"]++
			across = largest(across, value)
		case r.arm.launch == r.against.launch:
			counts[one+"_repeats"]++
			within = largest(within, value)
		default:
			counts[one+"_relaunches"]++
			within = largest(within, value)
		}
	}
	members := []kind.Member{
		{Name: "varies", Code: notDerived, Value: d.varies([]string{first, second})},
	}
	verdict := "interchangeable"
	populations := []string{"first_repeats", "first_relaunches", "second_repeats", "second_relaunches", "across"}
	for _, name := range populations {
		members = append(members, kind.Member{Name: name, Code: recount, Value: counts[name]})
		if counts[name] == 0 {
			verdict = "unmeasured"
		}
	}
	if verdict != "unmeasured" && across.(int64) > within.(int64) {
		verdict = "different"
	}
	return append(members, kind.Member{Name: "within_unat", Code: notRate, Value: within},
		kind.Member{Name: "across_unat", Code: notRate, Value: across},
		kind.Member{Name: "verdict", Code: notDerived, Value: verdict}), verdict
}

// checkTables is step 9 ([MEAS-13]).
func (d *derivation) checkTables() *refusal.Refusal {
	const pointer = "/predicate/tables"
	stated := d.predicate.Objects("tables")
	if err := distinct(stated, pointer, "name"); err != nil {
		return err
	}
	for i, o := range stated {
		at, held := refusal.Index(pointer, i), map[string]bool{}
		for k, name := range o.Texts("readings") {
			if d.readings[name] == nil {
				return refusal.New(badValue, refusal.Index(at+"/readings", k))
			}
			held[d.readings[name].kind] = true
		}
		kinds := []any{}
		for _, name := range d.kinds {
			if held[name] {
				kinds = append(kinds, name)
			}
		}
		if err := kind.Demand(o, at, "kinds", otherKind, kinds); err != nil {
			return err
		}
	}
	return nil
}
