package measurement

import (
	"math/big"
	"slices"
)

// grounds are the values of some quantities in some records, a bit for each ([MEAS-10]).
func (d *derivation) grounds(records []*record, quantities []string) *big.Int {
	rested := new(big.Int)
	for _, r := range records {
		for _, name := range quantities {
			rested.SetBit(rested, r.place*len(d.places)+d.places[name], 1)
		}
	}
	return rested
}

// restsBeyond says whether a reading rests on a value that another does not rest on.
func restsBeyond(one, other *reading) bool {
	return new(big.Int).AndNot(one.grounds, other.grounds).Sign() != 0
}

// whole says whether records, where one of them is of a sample, are all of one arm and entry that have a
// quantity ([MEAS-6]).
func (d *derivation) whole(records []*record, quantity string) bool {
	place := slices.IndexFunc(records, func(r *record) bool { return r.sample != nil })
	if place < 0 {
		return true
	}
	first, due := records[place], 0
	alike := func(r *record) bool {
		return r.sample != nil && r.arm == first.arm && d.probed.Entry(r.sample) == d.probed.Entry(first.sample)
	}
	for _, r := range d.records {
		if _, has := r.values[quantity]; has && !r.refused && alike(r) {
			due++
		}
	}
	return due == len(records) && !slices.ContainsFunc(records, func(r *record) bool { return !alike(r) })
}

// place says whether a reading is outside, by the budgets and steps that it was told ([MEAS-9]).
func (d *derivation) place(made *reading, operation string) {
	if made.told && made.unit.String() == "token/step" {
		made.budgets = append(slices.Clone(made.budgets), made.value)
	}
	for _, budget := range made.budgets {
		made.outside = made.outside || !d.had(budget, made.profiles)
	}
	switch operation {
	case "given", "product", "quotient":
		made.uncounted = made.told && (made.unit["step"] > 0 || made.unit.String() == "1/step")
	case "sum", "difference", "convert":
		// What has an uncounted operand is uncounted.
	default:
		made.uncounted = false
	}
	noneOrOne := made.value.Sign() == 0 || made.value.Cmp(integer(1)) == 0
	if made.uncounted && !(noneOrOne && made.unit.String() == "step") {
		made.outside = true
	}
}

// had says whether a budget is that of an arm of each of some profiles, or without any of an arm at all.
func (d *derivation) had(budget *big.Rat, profiles []string) bool {
	if len(profiles) == 0 {
		return d.anyArm(budget, func(*arm) bool { return true })
	}
	return !slices.ContainsFunc(profiles, func(name string) bool {
		return !d.anyArm(budget, func(one *arm) bool { return one.profile == name })
	})
}

func (d *derivation) anyArm(budget *big.Rat, of func(*arm) bool) bool {
	for _, one := range d.arms {
		if one.budget != nil && of(one) && integer(*one.budget).Cmp(budget) == 0 {
			return true
		}
	}
	return false
}
