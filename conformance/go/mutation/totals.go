package mutation

import (
	"slices"

	"lockstep/conformance/go/lcj"
	"lockstep/conformance/go/refusal"
)

// countNames are in the order of [MUT-13].
var countNames = []string{
	"operators", "killed", "survived", "equivalent", "not_exercised", "unproven",
	"cells", "cells_killed", "cells_survived", "cells_not_exercised", "cells_not_run", "cells_unfit",
	"visible", "visible_killed", "invisible", "invisible_killed", "contradicted", "relations_killed",
	"steps_median", "score_permille", "observers", "fit",
}

// checkObservers is step 4.
func (d *derivation) checkObservers(stated []*lcj.Object) *refusal.Refusal {
	const pointer = "/predicate/observers"
	if len(stated) != len(d.observers) {
		return refusal.New(underived, pointer)
	}
	for i, entry := range stated {
		at := refusal.Index(pointer, i)
		killed, alone := d.killedBy(i)
		switch {
		case entry.Text("name") != d.observers[i].name:
			return refusal.New(underived, at+"/name")
		case entry.Int("killed") != killed:
			return refusal.New(recount, at+"/killed")
		case entry.Int("alone") != alone:
			return refusal.New(recount, at+"/alone")
		}
	}
	return nil
}

// killedBy counts the operators that an observer killed, and that it alone killed.
func (d *derivation) killedBy(place int) (killed, alone int64) {
	for _, r := range d.rows {
		if slices.Contains(r.killers, place) {
			killed++
			if len(r.killers) == 1 {
				alone++
			}
		}
	}
	return killed, alone
}

// counts are [MUT-13]'s.
func (d *derivation) counts() map[string]int64 {
	counts := map[string]int64{}
	for _, name := range countNames {
		counts[name] = 0
	}
	var steps []int64
	for _, r := range d.rows {
		counts["operators"]++
		counts[r.verdict]++
		for _, outcome := range r.outcomes {
			counts["cells"]++
			counts["cells_"+outcome]++
		}
		declared := "invisible"
		if r.operator.visible {
			declared = "visible"
		}
		counts[declared]++
		if r.contradicted {
			counts["contradicted"]++
		}
		if r.verdict == "killed" {
			counts[declared+"_killed"]++
		}
		if len(r.steps) > 0 {
			steps = append(steps, slices.Min(r.steps))
		}
		if slices.ContainsFunc(r.killers, func(place int) bool { return d.observers[place].sort == "relation" }) {
			counts["relations_killed"]++
		}
	}
	slices.Sort(steps)
	if len(steps) > 0 {
		counts["steps_median"] = steps[(len(steps)-1)/2]
	}
	if able := counts["operators"] - counts["equivalent"]; able > 0 {
		counts["score_permille"] = 1000 * counts["killed"] / able
	}
	for _, one := range d.observers {
		if !one.baseline() {
			counts["observers"]++
			if d.fit[one.name] {
				counts["fit"]++
			}
		}
	}
	return counts
}

// verdict is [MUT-11]'s.
func (d *derivation) verdict(counts map[string]int64) string {
	switch {
	case d.unproven || counts["unproven"]+counts["not_exercised"]+counts["contradicted"] > 0:
		return "UNPROVEN"
	case counts["survived"] > 0:
		return "SURVIVORS"
	}
	return "EXPLAINED"
}
