package distance

import (
	"math/big"
	"slices"

	"lockstep/conformance/go/lcj"
	"lockstep/conformance/go/refusal"
)

// placement is where a line is drawn ([DIST-16]).
type placement struct {
	thresholds []int64
	outcomes   []string
	beyond     int64
}

// place draws the line behind the first k rungs.
func (c *calibration) place(k int) placement {
	p := placement{thresholds: make([]int64, len(c.kind.gates))}
	for _, one := range c.rungs[:k] {
		for i, of := range one.statistics {
			if i%2 == 1 {
				continue
			}
			for g, value := range of {
				p.thresholds[g] = max(p.thresholds[g], value)
			}
		}
	}
	for g, largest := range p.thresholds {
		scaled := new(big.Int).Mul(big.NewInt(c.kind.gates[g].margin), big.NewInt(largest))
		scaled.Add(scaled, big.NewInt(999))
		p.thresholds[g] = told(scaled.Quo(scaled, big.NewInt(1000)))
	}
	for i, one := range c.rungs {
		beyond, heldOut := 0, int64(0)
		for t, of := range one.statistics {
			if p.isBeyond(of) {
				beyond++
				heldOut += int64(t % 2)
			}
		}
		outcome := "not_separated"
		switch {
		case i < k && heldOut == 0:
			outcome = "held"
		case i < k:
			outcome = "not_held"
		case beyond == len(c.texts):
			outcome = "separated"
		case beyond > 0:
			outcome = "overlapping"
		}
		if i < k {
			p.beyond += heldOut
		}
		p.outcomes = append(p.outcomes, outcome)
	}
	return p
}

// isBeyond says whether a statistic is above its threshold ([DIST-8]).
func (p *placement) isBeyond(statistics []int64) bool {
	for g, value := range statistics {
		if value > p.thresholds[g] {
			return true
		}
	}
	return false
}

// checkPlacements is step 5; it also sets counts and verdict.
func (c *calibration) checkPlacements(stated []*lcj.Object) *refusal.Refusal {
	const pointer = "/predicate/placements"
	if len(stated) != len(c.rungs)-1 {
		return refusal.New(badValue, pointer)
	}
	for i, one := range stated {
		p, at := c.place(i+1), refusal.Index(pointer, i)
		outcomes := []any{}
		for _, outcome := range p.outcomes {
			outcomes = append(outcomes, outcome)
		}
		switch {
		case one.Int("accepts") != int64(i+1):
			return refusal.New(badValue, at+"/accepts")
		case !lcj.Equal(one.Member("thresholds"), lcj.Array(p.thresholds)):
			return refusal.New(recount, at+"/thresholds")
		case !lcj.Equal(one.Member("outcomes"), outcomes):
			return refusal.New(notDerived, at+"/outcomes")
		case one.Int("held_out_beyond") != p.beyond:
			return refusal.New(recount, at+"/held_out_beyond")
		}
		if i+1 == c.accepts {
			c.conclude(p)
		}
	}
	return nil
}

// conclude sets the counts and the verdict ([DIST-18], [DIST-20]).
func (c *calibration) conclude(p placement) {
	c.counts["texts"], c.counts["texts_held_out"] = int64(len(c.texts)), int64(len(c.texts)/2)
	c.counts["rungs"], c.counts["accepted"] = int64(len(c.rungs)), int64(c.accepts)
	c.counts["comparisons"] = c.counts["positions"] * int64(len(c.rungs))
	c.counts["held_out_beyond"] = p.beyond
	for _, outcome := range p.outcomes {
		if outcome != "not_held" {
			c.counts[outcome]++
		}
	}
	few := slices.ContainsFunc(c.texts, func(t text) bool { return int64(len(t.recomputed)) < c.kind.positionsLeast })
	c.verdict = "overlapping"
	switch {
	case few || int64(len(c.texts)) < c.kind.textsLeast:
		c.verdict = "not_decided"
	case c.counts["held"]+c.counts["separated"] == int64(len(c.rungs)):
		c.verdict = "separated"
	}
}
