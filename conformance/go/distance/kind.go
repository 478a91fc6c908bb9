// Package distance derives certificates of the kind `distance-calibration` (distance.md).
package distance

import (
	"slices"

	"lockstep/conformance/go/kind"
	"lockstep/conformance/go/lcj"
	"lockstep/conformance/go/refusal"
	"lockstep/conformance/go/schema"
	"lockstep/conformance/go/specification"
	"lockstep/conformance/go/statement"
)

// PredicateType is the kind's predicate type.
const PredicateType = "urn:lockstep:certificate:distance-calibration:v1"

const (
	badValue   = "BAD_VALUE"
	recount    = "H10_COUNTS_DO_NOT_RECOMPUTE"
	notDerived = "OUTCOME_NOT_DERIVED"
)

// countNames are in the order of [DIST-20].
var countNames = []string{
	"texts", "texts_held_out", "positions", "rungs", "accepted", "held", "separated", "overlapping",
	"not_separated", "comparisons", "identical", "held_out_beyond", "signed_tokens",
	"reference_tokens",
}

// gate is a quantile of a measure, and the margin of its threshold.
type gate struct {
	measure          int
	permille, margin int64
}

// Kind is the kind with its data.
type Kind struct {
	Schema     *schema.Schema
	SpecDigest string

	gates                                 []gate
	quantiles                             []int64
	massLeast, massMost                   int64
	positionsLeast, textsLeast, pairsMost int64
	notRun                                []string
}

// NewKind reads the kind's data.
func NewKind(spec *specification.Specification) (*Kind, error) {
	k := &Kind{}
	var err error
	if k.Schema, err = spec.Schema("distance-calibration"); err != nil {
		return nil, err
	}
	data, err := spec.Object("distance-calibration.json")
	if err != nil {
		return nil, err
	}
	names := data.Texts("measures")
	for _, one := range data.Objects("gates") {
		k.gates = append(k.gates, gate{
			slices.Index(names, one.Text("measure")), one.Int("permille"), one.Int("margin_permille"),
		})
	}
	k.quantiles = data.Ints("quantiles")
	k.massLeast, k.massMost = data.Int("mass_least_permille"), data.Int("mass_most_permille")
	k.positionsLeast, k.textsLeast = data.Int("positions_least"), data.Int("texts_least")
	k.pairsMost, k.notRun = data.Int("pairs_most"), data.Texts("not_run")
	k.SpecDigest, err = spec.Digest(
		"schemas/distance-calibration.schema.json", "distance-calibration.json")
	return k, err
}

// Derive is the order of derivation.
func (k *Kind) Derive(stated *statement.Statement, _ kind.Evidence, _ bool) (*kind.Derived, *refusal.Refusal) {
	predicate := stated.Predicate
	if err := checkForm(predicate); err != nil {
		return nil, err
	}
	if err := checkSizes(predicate, k.pairsMost); err != nil {
		return nil, err
	}
	c := &calibration{
		kind: k, n: int(predicate.Int("support_tokens")), accepts: int(predicate.Int("accepts")),
		counts: map[string]int64{},
	}
	for _, name := range countNames {
		c.counts[name] = 0
	}
	if err := c.readSupports(predicate); err != nil {
		return nil, err
	}
	if err := c.checkRungs(predicate.Objects("rungs")); err != nil {
		return nil, err
	}
	if err := c.checkPlacements(predicate.Objects("placements")); err != nil {
		return nil, err
	}
	if err := kind.CheckCounts(predicate, countNames, c.counts); err != nil {
		return nil, err
	}
	if got := predicate.Text("verdict"); got != c.verdict {
		return nil, refusal.Expecting(notDerived, "/predicate/verdict", c.verdict, got)
	}
	if err := kind.CheckNotRun(predicate, k.notRun); err != nil {
		return nil, err
	}
	if err := stated.CheckSubject("model", predicate.Object("model").Text("sha256")); err != nil {
		return nil, err
	}
	if err := stated.CheckSubject("calibration", digest(predicate)); err != nil {
		return nil, err
	}
	return &kind.Derived{Verdict: c.verdict, Counts: c.counts}, nil
}

// digest is the calibration's ([DIST-19]).
func digest(predicate *lcj.Object) string {
	held := lcj.NewObject()
	for _, name := range predicate.Names() {
		if !slices.Contains([]string{"issued_at", "critical", "producer", "not_run"}, name) {
			held.Set(name, predicate.Member(name))
		}
	}
	return specification.Sha256(lcj.Encode(held))
}
