package distance

import (
	"lockstep/conformance/go/lcj"
	"lockstep/conformance/go/refusal"
)

// calibration is one on the way to its verdict.
type calibration struct {
	kind       *Kind
	n, accepts int
	texts      []text
	rungs      []rung
	counts     map[string]int64
	verdict    string
}

// text is a text with what was recomputed at its positions.
type text struct {
	recomputed, top []*support
	// used are the tokens that T or a rung has, by position.
	used []map[string]bool
}

// rung is one with its measures.
type rung struct {
	// positions are by text.
	positions  [][]measures
	statistics [][]int64
	identical  int64
}

// readSupports is step 3; it measures too.
func (c *calibration) readSupports(predicate *lcj.Object) *refusal.Refusal {
	r := &reader{predicate.Object("model").Int("vocab_size"), map[string]entry{}}
	for i, stated := range predicate.Objects("texts") {
		t := text{}
		for k, written := range stated.Texts("reference") {
			s := r.read(written)
			if s == nil || len(s.entries) < c.n {
				return refusal.New(badValue, refusal.Index(refusal.Index(atTexts, i)+"/reference", k))
			}
			top := s.top(c.n)
			if !r.massive(s, top.least(), c.kind.massLeast, c.kind.massMost) {
				return refusal.New(badValue, refusal.Index(refusal.Index(atTexts, i)+"/reference", k))
			}
			used := map[string]bool{}
			for token := range top.at {
				used[token] = true
			}
			t.recomputed, t.top, t.used = append(t.recomputed, s), append(t.top, top), append(t.used, used)
			c.counts["reference_tokens"] += int64(len(s.entries))
		}
		c.texts = append(c.texts, t)
		c.counts["positions"] += int64(len(t.recomputed))
	}
	for i, stated := range predicate.Objects("rungs") {
		one := rung{}
		for k, of := range stated.List("supports") {
			var found []measures
			for position, written := range of.([]any) {
				m, ok := c.measured(r, written, &c.texts[k], position)
				if !ok {
					at := refusal.Index(refusal.Index(atRungs, i)+"/supports", k)
					return refusal.New(badValue, refusal.Index(at, position))
				}
				if written == nil {
					one.identical++
				}
				found = append(found, m)
			}
			one.positions = append(one.positions, found)
		}
		c.rungs = append(c.rungs, one)
		c.counts["identical"] += one.identical
	}
	for i, t := range c.texts {
		for k, s := range t.recomputed {
			for _, one := range s.entries {
				if !t.used[k][one.token] {
					return refusal.New(badValue, refusal.Index(refusal.Index(atTexts, i)+"/reference", k))
				}
			}
		}
	}
	return nil
}

// measured reads what a rung signed at a position, and measures it.
func (c *calibration) measured(r *reader, written any, t *text, position int) (measures, bool) {
	if written == nil {
		return measures{}, true
	}
	s := r.read(written.(string))
	if s == nil || len(s.entries) != c.n || !r.massive(s, s.least(), c.kind.massLeast, c.kind.massMost) {
		return measures{}, false
	}
	for _, one := range s.entries {
		if _, known := t.recomputed[position].has(one.token); !known {
			return measures{}, false
		}
		t.used[position][one.token] = true
	}
	if s.equal(t.top[position]) {
		return measures{}, false
	}
	c.counts["signed_tokens"] += int64(len(s.entries))
	return measure(s, t.recomputed[position], t.top[position]), true
}

// checkRungs is step 4.
func (c *calibration) checkRungs(stated []*lcj.Object) *refusal.Refusal {
	for i := range c.rungs {
		one, at := &c.rungs[i], refusal.Index(atRungs, i)
		var whole []measures
		statistics := []any{}
		for _, positions := range one.positions {
			whole = append(whole, positions...)
			of := make([]int64, len(c.kind.gates))
			for g, gate := range c.kind.gates {
				of[g] = Quantile(ascending(positions, gate.measure), gate.permille)
			}
			one.statistics = append(one.statistics, of)
			statistics = append(statistics, lcj.Array(of))
		}
		quantiles := []any{}
		for m := range measuresNumber {
			of, values := []int64{}, ascending(whole, m)
			for _, permille := range c.kind.quantiles {
				of = append(of, Quantile(values, permille))
			}
			quantiles = append(quantiles, lcj.Array(of))
		}
		for _, member := range []struct {
			name  string
			value any
		}{{"identical", one.identical}, {"quantiles", quantiles}, {"statistics", statistics}} {
			if !lcj.Equal(stated[i].Member(member.name), member.value) {
				return refusal.New(recount, at+"/"+member.name)
			}
		}
	}
	return nil
}
