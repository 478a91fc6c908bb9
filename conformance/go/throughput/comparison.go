package throughput

import (
	"lockstep/conformance/go/kind"
	"lockstep/conformance/go/lcj"
	"lockstep/conformance/go/probe"
	"lockstep/conformance/go/refusal"
)

// comparison is of two arms ([THR-5] to [THR-8]).
type comparison struct {
	a, b *probe.Arm
	// low and high are nil where there is no interval.
	low, high *ratio
	flags     map[string]bool
	verdict   string
}

// checkSpreads is the second half of step 4.
func (r *run) checkSpreads(stated []*lcj.Object) *refusal.Refusal {
	const pointer = "/predicate/spreads"
	if !probe.InOrder(stated, r.arms) {
		return refusal.New(underived, pointer)
	}
	for i, arm := range r.arms {
		smallest, largest, any_ := int64(0), int64(0), false
		for _, block := range r.samples {
			if s := block[arm]; s.Refusal == "" {
				if !any_ || s.Wall < smallest {
					smallest = s.Wall
				}
				largest, any_ = max(largest, s.Wall), true
			}
		}
		r.spreads[arm] = !any_ || 1000*largest > r.spread*smallest
		least, most := any(nil), any(nil)
		if any_ {
			least, most = smallest, largest
		}
		err := kind.DemandAll(stated[i], refusal.Index(pointer, i), []kind.Member{
			{Name: "smallest_us", Code: notRate, Value: least}, {Name: "largest_us", Code: notRate, Value: most},
			{Name: "flagged", Code: notRate, Value: r.spreads[arm]},
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// checkComparisons is the first half of step 5.
func (r *run) checkComparisons(stated []*lcj.Object) *refusal.Refusal {
	const pointer = "/predicate/comparisons"
	made := map[[2]*probe.Arm]bool{}
	for i, o := range stated {
		at := refusal.Index(pointer, i)
		a, b := r.byName[o.Text("a")], r.byName[o.Text("b")]
		switch {
		case a == nil:
			return refusal.New(badValue, at+"/a")
		case b == nil || a == b:
			return refusal.New(badValue, at+"/b")
		case made[[2]*probe.Arm{a, b}]:
			return refusal.New(badValue, at)
		}
		made[[2]*probe.Arm{a, b}] = true
		c, members := r.compare(a, b)
		if err := kind.DemandAll(o, at, members); err != nil {
			return err
		}
		r.compared = append(r.compared, c)
	}
	return nil
}

// compare derives a comparison and its members, in order.
func (r *run) compare(a, b *probe.Arm) (*comparison, []kind.Member) {
	c := &comparison{a: a, b: b}
	var ratios []ratio
	excluded, first := []any{}, int64(0)
	for block, of := range r.samples {
		x, y := of[a], of[b]
		if x.Refusal == "" && y.Refusal == "" {
			ratios = append(ratios, ratio{int64(block), x.Wall, y.Wall})
			first += kind.Bit(x.Place < y.Place)
			continue
		}
		refused := x
		if x.Refusal == "" || y.Refusal != "" && y.Place < x.Place {
			refused = y
		}
		excluded = append(excluded, lcj.NewObject().Set("block", int64(block)).
			Set("arm", refused.Arm.Name).Set("refusal", refused.Refusal))
	}
	n := int64(len(ratios))
	low, median, high, coverage := any(nil), any(nil), any(nil), any(nil)
	if k, covered := interval(n, r.confidence); k > 0 {
		ordered := ranked(ratios)
		c.low, c.high = &ordered[k-1], &ordered[n-k]
		middle := ordered[(n+1)/2-1]
		low, median, high = c.low.document(c.low.down()), middle.document(middle.halfUp()), c.high.document(c.high.up())
		coverage = covered
	}
	unlike := r.settings.Unlike(a, b)
	c.flags = map[string]bool{
		"spread":    r.spreads[a] || r.spreads[b],
		"shared":    !a.Launched || !b.Launched,
		"unguarded": !r.guarded(a) || !r.guarded(b),
		"unlike":    len(unlike) > 0,
		"implausible": c.high != nil && (r.roles[a] == "invariant" && r.roles[b] == "fast" &&
			c.high.x < c.high.y || r.roles[a] == "fast" && r.roles[b] == "invariant" && c.low.x > c.low.y),
		"one_sided": first == 0 || first == n,
	}
	flags := []any{}
	for _, flag := range r.Kind.flags {
		if c.flags[flag] {
			flags = append(flags, flag)
		}
	}
	switch {
	case c.flags["unlike"]:
		c.verdict = "UNLIKE"
	case c.low == nil:
		c.verdict = "UNMEASURED"
	case c.flags["implausible"]:
		c.verdict = "IMPLAUSIBLE"
	default:
		c.verdict = "MEASURED"
	}
	r.counts["pairs"] += n
	r.counts["excluded"] += int64(len(excluded))
	return c, []kind.Member{
		{Name: "pairs", Code: recount, Value: n}, {Name: "a_first", Code: recount, Value: first},
		{Name: "excluded", Code: notDerived, Value: excluded},
		{Name: "low", Code: notRate, Value: low}, {Name: "median", Code: notRate, Value: median},
		{Name: "high", Code: notRate, Value: high}, {Name: "coverage_ppm", Code: notRate, Value: coverage},
		{Name: "unlike", Code: notDerived, Value: unlike}, {Name: "flags", Code: notDerived, Value: flags},
		{Name: "verdict", Code: notDerived, Value: c.verdict},
	}
}

// guarded says whether an arm has a metric for `prompt_tokens`.
func (r *run) guarded(arm *probe.Arm) bool {
	return r.samples[0][arm].Guarded(r.probes, "prompt_tokens")
}
