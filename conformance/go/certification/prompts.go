package certification

import (
	"lockstep/conformance/go/kind"
	"lockstep/conformance/go/lcj"
	"lockstep/conformance/go/refusal"
)

// ownPrompts is what the user's own prompts show ([CERT-24], [CERT-25]).
type ownPrompts struct {
	*judgement
	stated       *lcj.Object
	items, flips int64
	// conditions are cells; rounds are those of each.
	conditions []*cell
	rounds     [][]*round
}

// readPrompts gives nil where there are none.
func readPrompts(stated any) *ownPrompts {
	o, ok := stated.(*lcj.Object)
	if !ok {
		return nil
	}
	own := &ownPrompts{stated: o, items: o.Int("items")}
	for _, one := range o.Objects("conditions") {
		own.rounds = append(own.rounds, readRounds(one.Objects("rounds")))
	}
	return own
}

// evalCells are the conditions under which the user's prompts are sent ([CERT-24]).
func (p *plan) evalCells(d *data, items int) []*cell {
	alone := &cell{of: d.eval, control: "sequential", condition: p.first(), widths: []int64{0}}
	for i := range items {
		wave := "end"
		if i == 0 {
			wave = "start"
		}
		alone.waves = append(alone.waves, wave)
		alone.requests = append(alone.requests, request{role: "probe", wave: i, rescores: -1})
	}
	out := []*cell{alone}
	for _, where := range p.conditions(d, d.eval) {
		whole := p.whole(d, d.eval, "", where)
		prompts := make([]request, items)
		for i := range prompts {
			prompts[i] = request{role: "probe", rescores: -1}
		}
		whole.requests = append(prompts, whole.requests...)
		out = append(out, whole)
	}
	for _, c := range out {
		p.planned(d, c)
		c.items, c.perLifetime = items, p.repeats
	}
	return out
}

// check is step 6.
func (own *ownPrompts) check(t *judgement) *refusal.Refusal {
	const pointer = "/predicate/prompts/conditions"
	own.judgement, own.conditions = t, t.plan.evalCells(t.data, int(own.items))
	for _, c := range own.conditions {
		c.scored = own.stated.Member("scorer") != nil
	}
	stated := own.stated.Objects("conditions")
	if len(stated) != len(own.conditions) {
		return refusal.New(underived, pointer)
	}
	for i, c := range own.conditions {
		if err := kind.DemandAll(stated[i], refusal.Index(pointer, i), c.described()); err != nil {
			return err
		}
	}
	for i, c := range own.conditions {
		err := t.plan.checkRounds(c, own.rounds[i], stated[i].Text("reason"), t.gauge, refusal.Index(pointer, i))
		if err != nil {
			return err
		}
	}
	unknowable, err := own.checkWitnesses(stated, pointer)
	if err != nil {
		return err
	}
	return own.conclude(unknowable)
}

// checkWitnesses sees what the rounds show; it says whether they show too little ([CERT-25]).
func (own *ownPrompts) checkWitnesses(stated []*lcj.Object, pointer string) (bool, *refusal.Refusal) {
	unknowable := false
	for i, c := range own.conditions {
		shown := own.plan.observe(c, own.rounds[i], own.gauge)
		formed, failed := int64(0), false
		for k, r := range own.rounds[i] {
			formed += kind.Bit(shown.batched[k])
			failed = failed || len(r.failures) > 0
		}
		at := refusal.Index(pointer, i)
		err := kind.DemandAll(stated[i], at, []kind.Member{
			{Name: "batched_rounds", Code: recount, Value: formed},
			{Name: "cache_witness", Code: notDerived, Value: shown.cache},
		})
		if err != nil {
			return false, err
		}
		proper := shown.alone
		if !c.oneByOne() {
			proper = formed >= 2
		}
		lacks := stated[i].Text("reason") != "" || own.anyItem(i, func(r *round, item int) bool {
			return own.outputs[r.outputs[item]].lacks(own.plan.observable, false)
		})
		unknowable = unknowable || lacks || failed || shown.cache == "contradicted" || !proper
	}
	return unknowable, nil
}

// anyItem says it of the answers to items in a condition.
func (own *ownPrompts) anyItem(condition int, holds func(*round, int) bool) bool {
	for _, r := range own.rounds[condition] {
		for item := range int(own.items) {
			if r.outputs[item] >= 0 && holds(r, item) {
				return true
			}
		}
	}
	return false
}

// unscored says whether there is a scorer, and an answer without a score.
func (own *ownPrompts) unscored() bool {
	for i, c := range own.conditions {
		if c.scored && own.anyItem(i, func(r *round, item int) bool { return r.score(int64(item)) == nil }) {
			return true
		}
	}
	return false
}

// conclude compares conditions, and derives the verdict ([CERT-25]).
func (own *ownPrompts) conclude(unknowable bool) *refusal.Refusal {
	const pointer = "/predicate/prompts/comparisons"
	stated, at := own.stated.Objects("comparisons"), 0
	moved := false
	if n := len(own.conditions); len(stated) != n*(n+1)/2 {
		return refusal.New(underived, pointer)
	}
	for a := range own.conditions {
		for b := a; b < len(own.conditions); b++ {
			c := own.compare(a, b)
			if err := own.checkComparison(stated[at], c, a, b, refusal.Index(pointer, at)); err != nil {
				return err
			}
			at++
			own.flips += int64(len(c.flips))
			unknowable, moved = unknowable || c.compared < own.items, moved || c.scores > 0
		}
	}
	verdict := "STEADY"
	switch {
	case own.flips > 0:
		verdict = "ENGINE_MOVES"
	case unknowable:
		verdict = "UNKNOWN"
	case moved:
		verdict = "SCORER_MOVES"
	case own.unscored():
		verdict = "UNKNOWN"
	}
	return kind.Demand(own.stated, "/predicate/prompts", "verdict", notDerived, verdict)
}

// flip is an item whose answer flips.
type flip struct {
	item     int64
	position any
}

// comparison is of two conditions.
type comparison struct {
	compared, scoresCompared, scores int64
	flips                            []flip
}

// pairs are the pairs of rounds of two conditions, by the one and then the other.
func (own *ownPrompts) pairs(a, b int) [][2]*round {
	var out [][2]*round
	for i, left := range own.rounds[a] {
		for k, right := range own.rounds[b] {
			if a != b || i < k {
				out = append(out, [2]*round{left, right})
			}
		}
	}
	return out
}

// compare is a comparison of [CERT-24].
func (own *ownPrompts) compare(a, b int) comparison {
	c, pairs := comparison{}, own.pairs(a, b)
	for item := range own.items {
		both, flipped, scored, moved := false, false, false, false
		for _, pair := range pairs {
			left, right := own.answer(pair[0], item), own.answer(pair[1], item)
			if left != nil && right != nil {
				both = true
				if !flipped && left.tokensDiffer(right) {
					flipped = true
					c.flips = append(c.flips, flip{item, tokensAgreeing(left, right)})
				}
			}
			if one, other := pair[0].score(item), pair[1].score(item); one != nil && other != nil {
				scored, moved = true, moved || one != other
			}
		}
		c.compared += kind.Bit(both)
		c.scoresCompared += kind.Bit(scored)
		c.scores += kind.Bit(moved)
	}
	return c
}

// answer is an item's output in a round that says something, or nil.
func (own *ownPrompts) answer(r *round, item int64) *output {
	if r.outputs[item] < 0 {
		return nil
	}
	if o := own.outputs[r.outputs[item]]; o.said() != nil || o.text != nil {
		return o
	}
	return nil
}

// score is what the scorer says of an item in a round, or nil.
func (r *round) score(item int64) any {
	if r.scores == nil {
		return nil
	}
	return r.scores[item]
}

// checkComparison compares a comparison with the stated one.
func (own *ownPrompts) checkComparison(stated *lcj.Object, c comparison, a, b int, pointer string) *refusal.Refusal {
	low, high := own.rates.Bounds(int64(len(c.flips)), c.compared)
	scoresLow, scoresHigh := own.rates.Bounds(c.scores, c.scoresCompared)
	first := []any{}
	for _, one := range c.flips {
		first = append(first, lcj.NewObject().Set("item", one.item).Set("position", one.position))
	}
	return kind.DemandAll(stated, pointer, []kind.Member{
		{Name: "a", Code: notDerived, Value: int64(a)}, {Name: "b", Code: notDerived, Value: int64(b)},
		{Name: "items_compared", Code: recount, Value: c.compared},
		{Name: "answers", Code: recount, Value: int64(len(c.flips))},
		{Name: "low_ppm", Code: notRate, Value: low}, {Name: "high_ppm", Code: notRate, Value: high},
		{Name: "scores_compared", Code: recount, Value: c.scoresCompared},
		{Name: "scores", Code: recount, Value: c.scores},
		{Name: "scores_low_ppm", Code: notRate, Value: scoresLow},
		{Name: "scores_high_ppm", Code: notRate, Value: scoresHigh},
		{Name: "first", Code: notDerived, Value: first},
	})
}
