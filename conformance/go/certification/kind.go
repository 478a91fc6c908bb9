// Package certification derives certificates of the kind `certification` (certification.md).
package certification

import (
	"lockstep/conformance/go/kind"
	"lockstep/conformance/go/rate"
	"lockstep/conformance/go/refusal"
	"lockstep/conformance/go/schema"
	"lockstep/conformance/go/specification"
	"lockstep/conformance/go/statement"
)

// PredicateType is the kind's predicate type.
const PredicateType = "urn:lockstep:certificate:certification:v1"

const (
	badValue   = "BAD_VALUE"
	recount    = "H10_COUNTS_DO_NOT_RECOMPUTE"
	notDerived = "OUTCOME_NOT_DERIVED"
	notRate    = "STATISTICS_DO_NOT_RECOMPUTE"
	underived  = "COVERAGE_DENOMINATOR_NOT_DERIVED"
)

// Kind is the kind with its data.
type Kind struct {
	Schema     *schema.Schema
	SpecDigest string

	data *data
}

// NewKind reads the kind's data.
func NewKind(spec *specification.Specification) (*Kind, error) {
	k := &Kind{}
	var err error
	if k.Schema, err = spec.Schema("certification"); err != nil {
		return nil, err
	}
	if k.data, err = readData(spec); err != nil {
		return nil, err
	}
	k.SpecDigest, err = spec.Digest("schemas/certification.schema.json", "certification.json")
	return k, err
}

// Derive is the order of derivation.
func (k *Kind) Derive(stated *statement.Statement, _ kind.Evidence, _ bool) (*kind.Derived, *refusal.Refusal) {
	predicate := stated.Predicate
	p, adapter := readPlan(predicate.Object("plan")), predicate.Object("adapter")
	launched := predicate.Object("subject").Member("launch") != nil
	if err := p.check(k.data, launched); err != nil {
		return nil, err
	}
	if err := k.data.checkAdapter(adapter); err != nil {
		return nil, err
	}
	planned, cells := p.cells(k.data), predicate.Objects("cells")
	if err := checkCells(planned, cells); err != nil {
		return nil, err
	}
	outputs, err := readOutputs(predicate.Objects("outputs"))
	if err != nil {
		return nil, err
	}
	held := make([][]*round, len(cells))
	for i, one := range cells {
		held[i] = readRounds(one.Objects("rounds"))
	}
	own := readPrompts(predicate.Member("prompts"))
	used := held
	if own != nil {
		used = append(append([][]*round{}, held...), own.rounds...)
	}
	if err := checkUse(len(outputs), used...); err != nil {
		return nil, err
	}
	t := &judgement{p, k.data, outputs, adapter.Member("gauge") != nil, rate.New(k.data.confidence)}
	all, err := t.judgeAll(planned, cells, held)
	if err != nil {
		return nil, err
	}
	if err := checkSettings(predicate, k.data, p.positive); err != nil {
		return nil, err
	}
	if own != nil {
		if err := own.check(t); err != nil {
			return nil, err
		}
	}
	r := &run{judgement: t, predicate: predicate, cells: all}
	return r.conclude(stated, own)
}

// conclude is steps 7 and 8.
func (r *run) conclude(stated *statement.Statement, own *ownPrompts) (*kind.Derived, *refusal.Refusal) {
	controls := r.controls()
	err := kind.DemandAll(r.predicate, "/predicate", []kind.Member{
		{Name: "omitted", Code: notDerived, Value: r.omitted()},
		{Name: "conditions", Code: notDerived, Value: r.conditions()},
		{Name: "controls", Code: notDerived, Value: controls},
		{Name: "limits", Code: notDerived, Value: r.limits()},
	})
	if err != nil {
		return nil, err
	}
	counts := r.counts(own)
	if err := kind.CheckCounts(r.predicate, countNames, counts); err != nil {
		return nil, err
	}
	verdict := r.verdict()
	if err := kind.Demand(r.predicate, "/predicate", "verdict", notDerived, verdict); err != nil {
		return nil, err
	}
	if err := stated.CheckSubject("server", r.predicate.Text("subject_sha256")); err != nil {
		return nil, err
	}
	return &kind.Derived{Verdict: verdict, Counts: counts}, nil
}
