package certification

import (
	"slices"

	"lockstep/conformance/go/kind"
	"lockstep/conformance/go/lcj"
)

// seen is one output of a cell.
type seen struct {
	cell             int
	lifetime, number int64
	place            int
	entry            int64
	settled          bool
}

// alike are the outputs of requests that are alike, in the order of lifetimes, rounds and places.
type alike struct {
	signature string
	outputs   []seen
}

// gap is a request that rescores, with what it rescores.
type gap struct {
	at      seen
	differs bool
	// position and delta are those of [CERT-17].
	position int64
	delta    any
}

// collected is what a cell's rounds hold for comparisons.
type collected struct {
	groups []*alike
	by     map[string]*alike
	gaps   []gap
}

// settledRounds says of each round whether it is settled ([CERT-15]).
func (p *plan) settledRounds(rounds []*round) []bool {
	later := map[int64]int{}
	for _, r := range rounds {
		later[r.lifetime] += int(kind.Bit(!p.isFirst(r)))
	}
	few := false
	for _, count := range later {
		few = few || count < 2
	}
	settled := make([]bool, len(rounds))
	for i, r := range rounds {
		settled[i] = few || !p.isFirst(r)
	}
	return settled
}

// collect orders the outputs of a cell.
func (p *plan) collect(index int, c *cell, rounds []*round, outputs []*output) *collected {
	found := &collected{by: map[string]*alike{}}
	settled := p.settledRounds(rounds)
	for i, r := range rounds {
		for place, entry := range r.outputs {
			if entry < 0 {
				continue
			}
			asked := &c.requests[place]
			one := seen{index, r.lifetime, r.number, place, entry, settled[i]}
			if asked.rescores >= 0 && r.outputs[asked.rescores] >= 0 {
				found.addGap(one, outputs[entry], outputs[r.outputs[asked.rescores]])
			}
			signature := asked.signature(r.number)
			if signature == "" {
				continue
			}
			group, known := found.by[signature]
			if !known {
				group = &alike{signature: signature}
				found.groups, found.by[signature] = append(found.groups, group), group
			}
			group.outputs = append(group.outputs, one)
		}
	}
	return found
}

// addGap compares a request that rescores with what it rescores, where both report.
func (f *collected) addGap(one seen, again, before *output) {
	if again.promptLogprobs == nil || before.logprobs == nil {
		return
	}
	last := again.promptLogprobs[max(0, len(again.promptLogprobs)-len(before.logprobs)):]
	g := gap{at: one, differs: !lcj.Equal(last, before.logprobs), position: agreeing(last, before.logprobs)}
	if at := int(g.position); at < len(last) && at < len(before.logprobs) && last[at] != nil && before.logprobs[at] != nil {
		g.delta = delta(last[at], before.logprobs[at])
	}
	f.gaps = append(f.gaps, g)
}

// partner is a cell that another is compared with.
type partner struct {
	scope string
	with  *collected
}

// settled are the settled outputs of a signature.
func (f *collected) settled(signature string) []seen {
	group, known := f.by[signature]
	if !known {
		return nil
	}
	return only(group.outputs)
}

func only(outputs []seen) []seen {
	return slices.DeleteFunc(slices.Clone(outputs), func(one seen) bool { return !one.settled })
}

// tally counts pairs and kinds.
type tally struct {
	pairs, differing int64
	kinds            [kindsNumber]bool
}

// within counts the pairs of outputs that are compared with each other.
func (t *tally) within(ones []seen, outputs []*output) {
	counts, order := classes(ones)
	n := int64(len(ones))
	t.pairs += n * (n - 1) / 2
	t.differing += n * (n - 1) / 2
	for i, entry := range order {
		t.differing -= counts[entry] * (counts[entry] - 1) / 2
		for _, other := range order[:i] {
			t.kinds[kindOf(outputs[other], outputs[entry])] = true
		}
	}
}

// across counts the pairs of outputs of the one and of the other.
func (t *tally) across(ones, others []seen, outputs []*output) {
	counts, order := classes(ones)
	there, theirs := classes(others)
	t.pairs += int64(len(ones)) * int64(len(others))
	for _, entry := range order {
		for _, other := range theirs {
			if entry != other {
				t.differing += counts[entry] * there[other]
				t.kinds[kindOf(outputs[entry], outputs[other])] = true
			}
		}
	}
}

// classes counts how often each entry occurs, and gives them in the order of the first.
func classes(ones []seen) (map[int64]int64, []int64) {
	counts := map[int64]int64{}
	var order []int64
	for _, one := range ones {
		if counts[one.entry] == 0 {
			order = append(order, one.entry)
		}
		counts[one.entry]++
	}
	return counts, order
}

// compare is [CERT-14] over a cell; onlySettled leaves out the first rounds of the cell.
func (f *collected) compare(partners []partner, outputs []*output, onlySettled bool) tally {
	t := tally{}
	for _, group := range f.groups {
		ones := group.outputs
		if onlySettled {
			ones = only(ones)
		}
		t.within(ones, outputs)
		for _, p := range partners {
			t.across(ones, p.with.settled(group.signature), outputs)
		}
	}
	for _, g := range f.gaps {
		if onlySettled && !g.at.settled {
			continue
		}
		t.pairs++
		t.differing += kind.Bit(g.differs)
		t.kinds[inLogprobs] = t.kinds[inLogprobs] || g.differs
	}
	return t
}

// names are those of the kinds that occur.
func (t *tally) names() []any {
	names := []any{}
	for kind, occurs := range t.kinds {
		if occurs {
			names = append(names, kindNames[kind])
		}
	}
	return names
}
