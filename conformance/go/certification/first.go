package certification

import (
	"slices"

	"lockstep/conformance/go/lcj"
)

// pair is two outputs that differ.
type pair struct{ a, b seen }

// where is a round as a document has it.
func (s seen) where() *lcj.Object {
	return lcj.NewObject().Set("cell", int64(s.cell)).Set("lifetime", s.lifetime).Set("number", s.number)
}

// least is the least place of the outputs.
func (g *alike) least() int {
	return slices.MinFunc(g.outputs, func(a, b seen) int { return a.place - b.place }).place
}

// first is the first difference of a cell ([CERT-17]), or nil.
func (f *collected) first(partners []partner, outputs []*output) any {
	groups := slices.Clone(f.groups)
	// Groups are in the order in which they were sent first.
	slices.SortStableFunc(groups, func(a, b *alike) int { return a.least() - b.least() })
	scopes := []struct {
		name string
		find func(*alike) (pair, bool)
	}{
		{"repeats", func(g *alike) (pair, bool) { return firstPair(g.outputs, true) }},
		{"lifetimes", func(g *alike) (pair, bool) { return firstPair(g.outputs, false) }},
	}
	for _, p := range partners {
		scopes = append(scopes, struct {
			name string
			find func(*alike) (pair, bool)
		}{p.scope, func(g *alike) (pair, bool) { return firstAcross(g.outputs, p.with.settled(g.signature)) }})
	}
	for _, scope := range scopes {
		for _, group := range groups {
			if found, ok := scope.find(group); ok {
				return described(scope.name, group.least(), found, outputs)
			}
		}
	}
	for _, g := range f.gaps {
		if g.differs {
			return lcj.NewObject().Set("scope", "rescoring").Set("kind", "logprobs").
				Set("request", int64(g.at.place)).Set("a", g.at.where()).Set("b", g.at.where()).
				Set("position", g.position).Set("delta", g.delta)
		}
	}
	return nil
}

// firstPair is the first pair within a cell that differs, of one lifetime or of two.
func firstPair(ones []seen, oneLifetime bool) (pair, bool) {
	for i, a := range ones {
		for _, b := range ones[i+1:] {
			if a.entry != b.entry && (a.lifetime == b.lifetime) == oneLifetime {
				return pair{a, b}, true
			}
		}
	}
	return pair{}, false
}

// firstAcross is the first pair of a cell and its partner that differs.
func firstAcross(ones, others []seen) (pair, bool) {
	for _, a := range ones {
		for _, b := range others {
			if a.entry != b.entry {
				return pair{a, b}, true
			}
		}
	}
	return pair{}, false
}

// described is a first difference as a document has it.
func described(scope string, place int, found pair, outputs []*output) *lcj.Object {
	a, b := outputs[found.a.entry], outputs[found.b.entry]
	kind := kindOf(a, b)
	at, apart := position(a, b, kind), any(nil)
	if n, ok := at.(int64); ok && kind == inLogprobs && n < int64(len(a.logprobs)) && n < int64(len(b.logprobs)) {
		if a.logprobs[n] != nil && b.logprobs[n] != nil {
			apart = delta(a.logprobs[n], b.logprobs[n])
		}
	}
	return lcj.NewObject().Set("scope", scope).Set("kind", kindNames[kind]).Set("request", int64(place)).
		Set("a", found.a.where()).Set("b", found.b.where()).Set("position", at).Set("delta", apart)
}
