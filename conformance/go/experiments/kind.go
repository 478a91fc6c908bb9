// Package experiments derives certificates of the kind `sampling-experiments` (sampling-experiments.md).
package experiments

import (
	"lockstep/conformance/go/kind"
	"lockstep/conformance/go/lcj"
	"lockstep/conformance/go/refusal"
	"lockstep/conformance/go/schema"
	"lockstep/conformance/go/specification"
	"lockstep/conformance/go/statement"
)

// PredicateType is the kind's predicate type.
const PredicateType = "urn:lockstep:certificate:sampling-experiments:v1"

const (
	badValue   = "BAD_VALUE"
	recount    = "H10_COUNTS_DO_NOT_RECOMPUTE"
	notDerived = "OUTCOME_NOT_DERIVED"
)

const (
	atSeries    = "/predicate/series"
	atDistances = "/predicate/distances"
)

// countNames are in the order of [EXP-13].
var countNames = []string{
	"series", "positions", "differing", "distances", "values", "experiments", "shown", "not_shown",
	"not_run", "replay_positions", "replay_differing",
}

// role is one of an experiment.
type role struct {
	experiment int64
	name       string
}

// measured is a role of an experiment with a measure.
type measured struct {
	role
	measure string
}

// order is one that an experiment needs of its distances.
type order struct {
	left, right measured
	relation    string
}

// question is an experiment.
type question struct {
	number int64
	name   string
}

// Kind is the kind with its data.
type Kind struct {
	Schema     *schema.Schema
	SpecDigest string

	questions []question
	// differs says of each role whether `some` position of it is to differ, or `none`.
	differs                   map[role]bool
	orders                    []order
	sides                     map[measured]bool
	quantiles                 []int64
	confidence                int64
	positionsMost, valuesMost int64
	attemptsMost              int64
	notRun                    []string
}

// NewKind reads the kind's data.
func NewKind(spec *specification.Specification) (*Kind, error) {
	k := &Kind{differs: map[role]bool{}, sides: map[measured]bool{}}
	var err error
	if k.Schema, err = spec.Schema("sampling-experiments"); err != nil {
		return nil, err
	}
	data, err := spec.Object("sampling-experiments.json")
	if err != nil {
		return nil, err
	}
	certification, err := spec.Object("certification.json")
	if err != nil {
		return nil, err
	}
	k.readNeeds(data)
	k.quantiles, k.confidence = data.Ints("quantiles"), certification.Int("confidence_permille")
	k.positionsMost, k.valuesMost = data.Int("positions_most"), data.Int("values_most")
	k.attemptsMost, k.notRun = data.Int("attempts_most"), data.Texts("not_run")
	k.SpecDigest, err = spec.Digest(
		"schemas/sampling-experiments.schema.json", "sampling-experiments.json", "certification.json")
	return k, err
}

// readNeeds reads the experiments, and what each needs.
func (k *Kind) readNeeds(data *lcj.Object) {
	for _, one := range data.Objects("experiments") {
		k.questions = append(k.questions, question{one.Int("experiment"), one.Text("name")})
	}
	for _, one := range data.Objects("roles") {
		k.differs[role{one.Int("experiment"), one.Text("role")}] = one.Text("wanted") == "some"
	}
	for _, one := range data.Objects("orders") {
		side := func(name string) measured {
			of := measured{role{one.Int("experiment"), one.Text(name)}, one.Text("measure")}
			k.sides[of] = true
			return of
		}
		k.orders = append(k.orders, order{side("left"), side("right"), one.Text("is")})
	}
}

// Derive is the order of derivation.
func (k *Kind) Derive(stated *statement.Statement, _ kind.Evidence, _ bool) (*kind.Derived, *refusal.Refusal) {
	predicate := stated.Predicate
	series, distances := predicate.Objects("series"), predicate.Objects("distances")
	if err := k.checkSizes(series, distances); err != nil {
		return nil, err
	}
	o := newObserved(k)
	if err := o.readSeries(series); err != nil {
		return nil, err
	}
	if err := o.readDistances(distances); err != nil {
		return nil, err
	}
	if err := o.checkExperiments(predicate.Objects("experiments")); err != nil {
		return nil, err
	}
	if err := kind.CheckCounts(predicate, countNames, o.counts); err != nil {
		return nil, err
	}
	verdict := o.verdict()
	if err := kind.Demand(predicate, "/predicate", "verdict", notDerived, verdict); err != nil {
		return nil, err
	}
	if err := kind.CheckNotRun(predicate, k.notRun); err != nil {
		return nil, err
	}
	if err := stated.CheckSubject("model", predicate.Object("model").Text("sha256")); err != nil {
		return nil, err
	}
	seen := lcj.NewObject()
	for _, name := range []string{"model", "series", "distances"} {
		seen.Set(name, predicate.Member(name))
	}
	if err := stated.CheckSubject("observations", specification.Sha256(lcj.Encode(seen))); err != nil {
		return nil, err
	}
	return &kind.Derived{Verdict: verdict, Counts: o.counts}, nil
}

// checkSizes is step 1.
func (k *Kind) checkSizes(series, distances []*lcj.Object) *refusal.Refusal {
	positions, values := int64(0), int64(0)
	for _, one := range series {
		positions += one.Int("positions")
	}
	for _, one := range distances {
		values += int64(len(one.List("values")))
	}
	switch {
	case positions > k.positionsMost:
		return refusal.New("LIMIT_SIZE", atSeries)
	case values > k.valuesMost:
		return refusal.New("LIMIT_SIZE", atDistances)
	}
	return nil
}
