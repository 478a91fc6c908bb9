package invariance

import (
	"math/big"
	"slices"

	"lockstep/conformance/go/lcj"
	"lockstep/conformance/go/refusal"
	"lockstep/conformance/go/relation"
)

// countNames are in the order of [INV-11].
var countNames = []string{
	"relations", "demanded", "holds", "violated", "vacuous", "not_run", "does_not_apply", "runs",
	"executions", "requests", "positions", "differences", "workloads", "schedules", "controls",
	"controls_shown", "controls_not_comparable", "two_grams", "two_grams_legal", "three_grams",
	"three_grams_legal", "kernels_equal",
}

// outcomeOf is [INV-6] for a demanded combination, by its place.
func (d *derivation) outcomeOf(place int) string {
	seeds := len(d.runs) / len(d.demanded)
	for _, outcome := range []string{notRun, vacuous, violated} {
		for _, run := range d.runs[place*seeds : (place+1)*seeds] {
			if run.outcome == outcome {
				return outcome
			}
		}
	}
	return holds
}

// fold is [INV-8]'s of how many combinations have each outcome.
func (d *derivation) fold(outcomes map[string]int64, whole string) string {
	switch {
	case outcomes[notRun]+outcomes[vacuous]+d.controls["not_shown"] > 0:
		return "UNPROVEN"
	case outcomes[violated] > 0:
		return "VIOLATED"
	}
	return whole
}

// outcomes counts the demanded combinations of a claim, or of all where it is empty, by outcome.
func (d *derivation) outcomes(claim string) (map[string]int64, int64) {
	found, number := map[string]int64{}, int64(0)
	for place, c := range d.demanded {
		if claim == "" || c.relation.claim == claim {
			found[d.outcomeOf(place)]++
			number++
		}
	}
	return found, number
}

// checkClaims is step 6.
func (d *derivation) checkClaims(stated []*lcj.Object) *refusal.Refusal {
	const pointer = "/predicate/claims"
	if len(stated) != len(d.kind.relations.claims) {
		return refusal.New(underived, pointer)
	}
	for i, claim := range stated {
		at, name := refusal.Index(pointer, i), d.kind.relations.claims[i]
		outcomes, demanded := d.outcomes(name)
		verdict := "DOES_NOT_APPLY"
		if demanded > 0 {
			verdict = d.fold(outcomes, "HOLDS")
		}
		switch {
		case claim.Text("name") != name:
			return refusal.New(underived, at+"/name")
		case claim.Int("demanded") != demanded:
			return refusal.New(underived, at+"/demanded")
		case claim.Int("held") != outcomes[holds]:
			return refusal.New(recount, at+"/held")
		case claim.Text("verdict") != verdict:
			return refusal.Expecting(outcomeNotDerived, at+"/verdict", verdict, claim.Text("verdict"))
		}
	}
	return nil
}

// observed are the distinct n-grams of a population's runs; empty means all relations.
func (d *derivation) observed(name string, n int) map[relation.Gram]bool {
	found := map[relation.Gram]bool{}
	for _, run := range d.runs {
		if name != "" && run.relation.name != name {
			continue
		}
		for _, gram := range run.grams {
			if len(gram.Events()) == n {
				found[gram] = true
			}
		}
	}
	return found
}

// checkCoverage is step 7.
func (d *derivation) checkCoverage(stated *lcj.Object) *refusal.Refusal {
	const pointer = "/predicate/coverage/n_grams"
	rows := stated.Objects("n_grams")
	names := []string{}
	for _, one := range d.kind.relations.relations {
		names = append(names, one.name)
	}
	names = append(names, "all")
	if len(rows) != 2*len(names) {
		return refusal.New(underived, pointer)
	}
	for i, row := range rows {
		at, name, n := refusal.Index(pointer, i), names[i/2], 2+i%2
		population := name
		if i/2 == len(names)-1 {
			population = ""
		}
		switch {
		case row.Text("population") != name:
			return refusal.New(underived, at+"/population")
		case row.Int("n") != int64(n):
			return refusal.New(underived, at+"/n")
		case row.Int("legal") != int64(len(d.kind.legal[n])):
			return refusal.New(underived, at+"/legal")
		case row.Int("observed") != int64(len(d.observed(population, n))):
			return refusal.New(recount, at+"/observed")
		}
	}
	unseen := []any{}
	for n := 2; n <= 3; n++ {
		seen := d.observed("", n)
		for _, gram := range d.kind.legal[n] {
			if !seen[gram] {
				unseen = append(unseen, gram.List())
			}
		}
	}
	if !lcj.Equal(stated.List("unseen"), unseen) {
		return refusal.New(recount, "/predicate/coverage/unseen")
	}
	return nil
}

// checkCounts is step 8 but for the verdict; it gives the counts.
func (d *derivation) checkCounts(stated *lcj.Object) (map[string]int64, *refusal.Refusal) {
	found := d.count()
	counts := map[string]int64{}
	for _, name := range countNames {
		value := found[name]
		if value == nil {
			value = new(big.Int)
		}
		if value.Cmp(big.NewInt(stated.Int(name))) != 0 {
			return nil, refusal.Expecting(recount, "/predicate/counts/"+name, value.String(), "another count")
		}
		counts[name] = stated.Int(name)
	}
	return counts, nil
}

// count gives [INV-11]; a count that is absent is 0.
func (d *derivation) count() map[string]*big.Int {
	found := map[string]*big.Int{}
	set := func(name string, n int) { found[name] = big.NewInt(int64(n)) }
	var names []string
	for _, c := range d.demanded {
		names = append(names, c.relation.name)
	}
	set("relations", len(slices.Compact(names)))
	set("demanded", len(d.demanded))
	outcomes, _ := d.outcomes("")
	for name, n := range outcomes {
		found[name] = big.NewInt(n)
	}
	set("does_not_apply", len(d.kind.relations.combinations())-len(d.demanded))
	set("runs", len(d.runs))
	digests := map[string]map[string]bool{"workloads": {}, "schedules": {}}
	kernels := int64(0)
	for _, run := range d.runs {
		for _, name := range []string{"executions", "requests", "positions", "differences"} {
			if found[name] == nil {
				found[name] = new(big.Int)
			}
			found[name].Add(found[name], big.NewInt(run.stated.Int(name)))
		}
		for name, held := range digests {
			for _, digest := range run.stated.Texts(name) {
				held[digest] = true
			}
		}
		if run.relation.name == "KERNEL-EQ" && run.outcome == holds {
			kernels = max(kernels, run.counters["kernels"])
		}
	}
	found["kernels_equal"] = big.NewInt(kernels)
	for name, held := range digests {
		set(name, len(held))
	}
	set("controls", len(d.kind.relations.controls))
	found["controls_shown"] = big.NewInt(d.controls["shown"])
	found["controls_not_comparable"] = big.NewInt(d.controls["not_comparable"])
	set("two_grams", len(d.observed("", 2)))
	set("two_grams_legal", len(d.kind.legal[2]))
	set("three_grams", len(d.observed("", 3)))
	set("three_grams_legal", len(d.kind.legal[3]))
	return found
}
