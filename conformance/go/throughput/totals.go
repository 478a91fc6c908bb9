package throughput

import (
	"slices"

	"lockstep/conformance/go/kind"
	"lockstep/conformance/go/lcj"
	"lockstep/conformance/go/probe"
	"lockstep/conformance/go/refusal"
	"lockstep/conformance/go/specification"
	"lockstep/conformance/go/statement"
)

// countNames are in the order of the schema's `required`.
var countNames = []string{
	"arms", "blocks", "samples", "samples_refused", "samples_guarded", "requests", "tokens",
	"comparisons", "comparisons_measured", "pairs", "excluded", "criteria", "criteria_killed",
	"criteria_not_separable", "pins_agreeing", "pins_differing", "settings_flagged", "arms_flagged",
}

// checkCriteria is the second half of step 5 ([THR-9]).
func (r *run) checkCriteria(stated []*lcj.Object) *refusal.Refusal {
	for i, o := range stated {
		at := refusal.Index("/predicate/criteria", i)
		place, threshold := o.Int("comparison"), o.Int("threshold_ppm")
		if place >= int64(len(r.compared)) {
			return refusal.New(badValue, at+"/comparison")
		}
		c, outcome := r.compared[place], "not_separable"
		switch {
		case c.low == nil:
		case c.high.against(threshold, million) < 0:
			outcome = "below"
		case c.low.against(threshold, million) > 0:
			outcome = "above"
		}
		killed := outcome == o.Text("kills")
		err := kind.DemandAll(o, at, []kind.Member{
			{Name: "outcome", Code: notDerived, Value: outcome}, {Name: "killed", Code: notDerived, Value: killed},
		})
		if err != nil {
			return err
		}
		r.counts["criteria_killed"] += kind.Bit(killed)
		r.counts["criteria_not_separable"] += kind.Bit(outcome == "not_separable")
	}
	r.counts["criteria"] = int64(len(stated))
	return nil
}

// verdict is [THR-12].
func (r *run) verdict() string {
	if r.counts["pins_differing"] > 0 {
		return "IDENTITY_DIFFERS"
	}
	if r.settings.Altered > 0 {
		return "SETTING_ALTERED"
	}
	for _, verdict := range r.verdicts {
		if slices.ContainsFunc(r.compared, func(c *comparison) bool { return c.verdict == verdict }) {
			return verdict
		}
	}
	return ""
}

// conclude is steps 6 and 7.
func (r *run) conclude(stated *statement.Statement) (*kind.Derived, *refusal.Refusal) {
	r.counts["arms"], r.counts["blocks"] = int64(len(r.arms)), r.blocks
	r.counts["comparisons"] = int64(len(r.compared))
	for _, c := range r.compared {
		r.counts["comparisons_measured"] += kind.Bit(c.verdict == "MEASURED")
	}
	for _, flagged := range r.spreads {
		r.counts["arms_flagged"] += kind.Bit(flagged)
	}
	r.counts["pins_agreeing"], r.counts["pins_differing"] = probe.Pins(r.arms)
	r.counts["settings_flagged"] = r.settings.Flagged
	digest := specification.Sha256(lcj.Encode(stated.Predicate.List("arms")))
	err := kind.DemandAll(stated.Predicate, "/predicate", []kind.Member{
		{Name: "limits", Code: notDerived, Value: r.limits}, {Name: "arms_sha256", Code: badValue, Value: digest},
	})
	if err != nil {
		return nil, err
	}
	if err := kind.CheckCounts(stated.Predicate, countNames, r.counts); err != nil {
		return nil, err
	}
	verdict := r.verdict()
	if err := kind.Demand(stated.Predicate, "/predicate", "verdict", notDerived, verdict); err != nil {
		return nil, err
	}
	if err := stated.CheckSubject("arms", digest); err != nil {
		return nil, err
	}
	return &kind.Derived{Verdict: verdict, Counts: r.counts}, nil
}
