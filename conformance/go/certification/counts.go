package certification

import "lockstep/conformance/go/kind"

// countNames are in the order of the schema's `required`.
var countNames = []string{
	"cases_declared", "cases_planned", "cells_planned", "cells_run", "cells_clean",
	"cells_divergent", "cells_first_run_only", "cells_missing", "cells_not_batched",
	"cells_not_alone", "cells_not_cached", "cells_malformed", "cells_error", "cells_hang",
	"cells_not_run", "cells_gauge", "cells_overlap", "cells_cache_shown", "controls_shown",
	"sequential_shown", "sensitivity_shown", "positive_shown", "lifetimes", "rounds",
	"rounds_scored", "requests", "answers", "positions", "failures", "outputs", "pairs",
	"pairs_differing", "identity_agreeing", "identity_differing", "turned_off", "prompts_items",
	"prompts_flips",
}

// counts is [CERT-26].
func (r *run) counts(prompts *ownPrompts) map[string]int64 {
	c := map[string]int64{}
	for _, name := range countNames {
		c[name] = 0
	}
	c["cases_declared"], c["cases_planned"] = int64(len(r.data.cases)), int64(len(r.plan.cases))
	c["cells_planned"], c["outputs"] = int64(len(r.cells)), int64(len(r.outputs))
	for _, j := range r.cells {
		r.countCell(c, j)
	}
	for name, status := range r.status {
		shown := kind.Bit(status == "shown")
		c["controls_shown"] += shown
		if name != "cache_off" {
			c[name+"_shown"] = shown
		}
	}
	c["identity_agreeing"], c["identity_differing"], _ = agreement(r.predicate.Object("subject").Objects("identity"))
	c["turned_off"] = int64(len(r.predicate.List("turned_off")))
	if prompts != nil {
		c["prompts_items"], c["prompts_flips"] = prompts.items, prompts.flips
	}
	return c
}

// countCell adds a cell to the counts.
func (r *run) countCell(c map[string]int64, j *judged) {
	c["cells_"+j.verdict]++
	c["cells_run"] += kind.Bit(j.verdict != "not_run")
	if j.control == "" && j.scored() {
		c["cells_gauge"] += kind.Bit(j.shown.name == "gauge")
		c["cells_overlap"] += kind.Bit(j.shown.name == "overlap")
		c["cells_cache_shown"] += kind.Bit(j.shown.cache == "shown")
	}
	c["rounds"] += int64(len(j.rounds))
	c["rounds_scored"] += j.roundsScored
	c["pairs"] += j.tally.pairs
	c["pairs_differing"] += j.tally.differing
	for _, one := range j.rounds {
		c["lifetimes"] = max(c["lifetimes"], one.lifetime+1)
		c["requests"] += int64(len(one.outputs))
		c["failures"] += int64(len(one.failures))
		for _, entry := range one.outputs {
			if entry >= 0 {
				c["answers"]++
				c["positions"] += max(0, r.outputs[entry].size())
			}
		}
	}
}
