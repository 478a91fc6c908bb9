package certification

import (
	"slices"

	"lockstep/conformance/go/kind"
	"lockstep/conformance/go/lcj"
	"lockstep/conformance/go/rate"
	"lockstep/conformance/go/refusal"
)

// judged is what follows from a cell's rounds.
type judged struct {
	*cell
	rounds  []*round
	found   *collected
	shown   witness
	tally   tally
	verdict string
	// rounds that count, or 0.
	roundsScored int64
}

// scoredVerdicts are those of cells that are scored.
var scoredVerdicts = []string{"divergent", "first_run_only", "missing", "clean"}

func (j *judged) scored() bool { return slices.Contains(scoredVerdicts, j.verdict) }

// judgement is what the judging of all cells shares.
type judgement struct {
	plan    *plan
	data    *data
	outputs []*output
	gauge   bool
	rates   *rate.Rates
}

// judge derives a cell's members, and compares them with the stated ones (step 4).
func (t *judgement) judge(j *judged, stated *lcj.Object, partners []partner, pointer string) *refusal.Refusal {
	j.shown = t.plan.observe(j.cell, j.rounds, t.gauge)
	j.tally = j.found.compare(partners, t.outputs, false)
	kinds := j.tally.names()
	j.verdict = t.verdict(j, stated.Text("reason"), partners)
	statistics := any(nil)
	if j.scored() {
		statistics = t.statistics(j)
	}
	return kind.DemandAll(stated, pointer, []kind.Member{
		{Name: "witness", Code: notDerived, Value: j.shown.name},
		{Name: "width", Code: notDerived, Value: j.shown.width},
		{Name: "cache_witness", Code: notDerived, Value: j.shown.cache},
		{Name: "pairs", Code: recount, Value: j.tally.pairs},
		{Name: "pairs_differing", Code: recount, Value: j.tally.differing},
		{Name: "kinds", Code: notDerived, Value: kinds},
		{Name: "first", Code: notDerived, Value: j.found.first(partners, t.outputs)},
		{Name: "verdict", Code: notDerived, Value: j.verdict},
		{Name: "statistics", Code: notRate, Value: statistics},
	})
}

// verdict is [CERT-16].
func (t *judgement) verdict(j *judged, reason string, partners []partner) string {
	failed, formed := map[string]bool{}, 0
	for i, r := range j.rounds {
		for _, failure := range r.failures {
			failed[failure.Text("kind")] = true
		}
		formed += int(kind.Bit(j.shown.batched[i] && r.number >= t.plan.priming))
	}
	switch {
	case reason != "":
		return "not_run"
	case failed["timeout"]:
		return "hang"
	case len(failed) > 0:
		return "error"
	case slices.ContainsFunc(j.rounds, func(r *round) bool { return t.anyMalformed(j.cell, r) }):
		return "malformed"
	case !j.oneByOne() && formed < 2:
		return "not_batched"
	case j.oneByOne() && !j.shown.alone:
		return "not_alone"
	case j.shown.cache == "contradicted":
		return "not_cached"
	case j.tally.differing > 0:
		calm := j.found.compare(partners, t.outputs, true)
		if calm.differing == 0 {
			return "first_run_only"
		}
		return "divergent"
	case slices.ContainsFunc(j.rounds, func(r *round) bool { return t.anyLacks(j.cell, r) }), t.saysNothing(j):
		return "missing"
	}
	return "clean"
}

func (t *judgement) anyMalformed(c *cell, r *round) bool {
	for place, entry := range r.outputs {
		if entry < 0 {
			continue
		}
		asked, prompt := &c.requests[place], int64(unknown)
		if t.plan.form == "tokens" && asked.rescores < 0 {
			prompt = int64(len(asked.prompt))
		} else if t.plan.form == "tokens" && r.outputs[asked.rescores] >= 0 {
			if n := t.outputs[r.outputs[asked.rescores]].size(); n != unknown {
				prompt = int64(len(c.requests[asked.rescores].prompt)) + n
			}
		}
		if t.outputs[entry].malformed(asked.maxNew, asked.topIn(r.number), prompt) {
			return true
		}
	}
	return false
}

func (t *judgement) anyLacks(c *cell, r *round) bool {
	for place, entry := range r.outputs {
		asked := &c.requests[place]
		if entry < 0 || asked.role != "probe" && asked.role != "filler" {
			continue
		}
		if t.outputs[entry].lacks(t.plan.observable, asked.rescores >= 0) {
			return true
		}
	}
	return false
}

// saysNothing says whether every answer of a probe is empty.
func (t *judgement) saysNothing(j *judged) bool {
	answered := false
	for _, r := range j.rounds {
		for place, entry := range r.outputs {
			if entry < 0 || j.requests[place].role != "probe" {
				continue
			}
			if answered = true; !t.outputs[entry].empty() {
				return false
			}
		}
	}
	return answered
}

// statistics is [CERT-18].
func (t *judgement) statistics(j *judged) *lcj.Object {
	type place struct{ lifetime, number int64 }
	scored, lifetimes := map[place]bool{}, map[int64]bool{}
	for i, r := range j.rounds {
		if r.number >= t.plan.priming && (j.oneByOne() || j.shown.batched[i]) {
			scored[place{r.lifetime, r.number}], lifetimes[r.lifetime] = true, true
		}
	}
	differing, lifetimesDiffering := map[place]bool{}, map[int64]bool{}
	for _, group := range j.found.groups {
		ones := slices.DeleteFunc(slices.Clone(group.outputs), func(one seen) bool {
			return !scored[place{one.lifetime, one.number}]
		})
		counts, order := classes(ones)
		if len(order) == 0 {
			continue
		}
		usual := order[0]
		for _, entry := range order {
			if counts[entry] > counts[usual] {
				usual = entry
			}
		}
		for _, one := range ones {
			if one.entry != usual {
				differing[place{one.lifetime, one.number}] = true
				lifetimesDiffering[one.lifetime] = true
			}
		}
	}
	j.roundsScored = int64(len(scored))
	told := lcj.NewObject().Set("rounds", int64(len(scored))).Set("differing", int64(len(differing))).
		Set("lifetimes", int64(len(lifetimes))).Set("lifetimes_differing", int64(len(lifetimesDiffering)))
	t.setRates(told, "", int64(len(differing)), int64(len(scored)))
	t.setRates(told, "lifetime_", int64(len(lifetimesDiffering)), int64(len(lifetimes)))
	return told
}

func (t *judgement) setRates(told *lcj.Object, prefix string, k, n int64) {
	low, high := t.rates.Bounds(k, n)
	missed := any(nil)
	if k == 0 {
		missed = t.rates.Missed(n)
	}
	told.Set(prefix+"low_ppm", low).Set(prefix+"high_ppm", high).Set(prefix+"missed_ppm", missed)
}

// judgeAll is step 4; it gives the cells of the plan, judged.
func (t *judgement) judgeAll(planned []*cell, stated []*lcj.Object, held [][]*round) ([]*judged, *refusal.Refusal) {
	const pointer = "/predicate/cells"
	for i, c := range planned {
		err := t.plan.checkRounds(c, held[i], stated[i].Text("reason"), t.gauge, refusal.Index(pointer, i))
		if err != nil {
			return nil, err
		}
	}
	type key struct{ name, control string }
	first := map[key]*judged{}
	all := make([]*judged, len(planned))
	for i, c := range planned {
		all[i] = &judged{cell: c, rounds: held[i], found: t.plan.collect(i, c, held[i], t.outputs)}
		if _, known := first[key{c.of.name, c.control}]; !known {
			first[key{c.of.name, c.control}] = all[i]
		}
	}
	for i, j := range all {
		var partners []partner
		switch j.control {
		case "":
			partners = append(partners, partner{"alone", first[key{j.of.name, "sequential"}].found})
			if begin := first[key{j.of.name, ""}]; begin != j {
				partners = append(partners, partner{"condition", begin.found})
			}
		case "positive":
			partners = append(partners, partner{"alone", first[key{j.of.name, "positive_sequential"}].found})
		}
		if err := t.judge(j, stated[i], partners, refusal.Index(pointer, i)); err != nil {
			return nil, err
		}
	}
	return all, nil
}
