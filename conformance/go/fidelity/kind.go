// Package fidelity derives certificates of the kind `fidelity` (fidelity.md).
package fidelity

import (
	"lockstep/conformance/go/environment"
	"lockstep/conformance/go/kind"
	"lockstep/conformance/go/lcj"
	"lockstep/conformance/go/model"
	"lockstep/conformance/go/refusal"
	"lockstep/conformance/go/schema"
	"lockstep/conformance/go/specification"
	"lockstep/conformance/go/statement"
)

// PredicateType is the kind's predicate type.
const PredicateType = "urn:lockstep:certificate:fidelity:v1"

// reference is the backend and the dtype of the reference ([FID-9]).
const reference = "float64"

const (
	badValue = "BAD_VALUE"
	recount  = "H10_COUNTS_DO_NOT_RECOMPUTE"
	exceeded = "FIDELITY_BOUND_EXCEEDED"
)

// notCovered is what `not_run` begins with ([FID-9]).
var notCovered = []string{
	"prompts other than those of the corpus, and requests in company",
	"models and backends other than these",
}

// Kind is the kind with its data.
type Kind struct {
	Schema     *schema.Schema
	SpecDigest string

	environments *environment.Data
	corpus       []prompt
	split        int64
	bounds       []*lcj.Object
}

// NewKind reads the kind's data.
func NewKind(spec *specification.Specification) (*Kind, error) {
	k := &Kind{}
	var err error
	if k.Schema, err = spec.Schema("fidelity"); err != nil {
		return nil, err
	}
	data, err := spec.Object("fidelity.json")
	if err != nil {
		return nil, err
	}
	k.corpus, k.split, k.bounds = readCorpus(data), data.Int("split"), data.Objects("bounds")
	if k.environments, err = environment.Read(spec); err != nil {
		return nil, err
	}
	k.SpecDigest, err = spec.Digest("schemas/fidelity.schema.json", "fidelity.json", environment.File)
	return k, err
}

// Derive is the order of derivation of [FID-10].
func (k *Kind) Derive(stated *statement.Statement, _ kind.Evidence, _ bool) (*kind.Derived, *refusal.Refusal) {
	predicate := stated.Predicate
	effective, err := k.checkEnvironments(predicate)
	if err != nil {
		return nil, err
	}
	stored := predicate.Object("model")
	if err := model.Check(stored, effective.Dtype); err != nil {
		return nil, err
	}
	if err := k.checkPrompts(predicate.Objects("prompts"), stored); err != nil {
		return nil, err
	}
	found := k.measure(predicate.Objects("prompts"), effective.Dtype)
	if err := k.checkMeasures(predicate.Objects("measures"), found, effective.Dtype); err != nil {
		return nil, err
	}
	if err := kind.CheckCounts(predicate, countNames, found.counts); err != nil {
		return nil, err
	}
	if err := kind.CheckNotRun(predicate, notCovered); err != nil {
		return nil, err
	}
	if err := k.checkBounds(predicate.Objects("measures")); err != nil {
		return nil, err
	}
	if err := stated.CheckSubject("model", stored.Text("sha256")); err != nil {
		return nil, err
	}
	return &kind.Derived{Verdict: "WITHIN_BOUNDS", Counts: found.counts}, nil
}

// checkEnvironments is step 1.
func (k *Kind) checkEnvironments(predicate *lcj.Object) (environment.Effective, *refusal.Refusal) {
	const here, there = "/predicate/environment", "/predicate/reference"
	effective, err := k.environments.Check(predicate.Object("environment"), here)
	if err != nil {
		return effective, err
	}
	other, err := k.environments.Check(predicate.Object("reference"), there)
	switch {
	case err != nil:
		return effective, err
	case other.Backend != reference || other.Dtype != reference:
		return effective, refusal.New(badValue, there)
	case effective.Backend == reference:
		return effective, refusal.New(badValue, here)
	}
	return effective, nil
}

// checkPrompts is step 3.
func (k *Kind) checkPrompts(prompts []*lcj.Object, model *lcj.Object) *refusal.Refusal {
	const pointer = "/predicate/prompts"
	for i, p := range k.corpus[:min(len(k.corpus), len(prompts))] {
		at, stated := refusal.Index(pointer, i), prompts[i]
		switch {
		case stated.Text("id") != p.id:
			return refusal.New(badValue, at+"/id")
		case stated.Int("tokens") != p.tokens:
			return refusal.New(badValue, at+"/tokens")
		case stated.Text("sha256") != p.digest(model.Int("vocab_size")):
			return refusal.New(badValue, at+"/sha256")
		case stated.Bool("crosses_split") != (p.tokens > k.split):
			return refusal.New(badValue, at+"/crosses_split")
		}
		err := checkRecords(stated.Objects("records"), p.positions, model, at+"/records")
		if err != nil {
			return err
		}
	}
	if len(prompts) != len(k.corpus) {
		return refusal.New(badValue, pointer)
	}
	return nil
}

// checkRecords sees that the records are those of the positions, and consistent ([FID-4]).
func checkRecords(records []*lcj.Object, positions []int64, model *lcj.Object, pointer string) *refusal.Refusal {
	if len(records) != len(positions) {
		return refusal.New(badValue, pointer)
	}
	for i, record := range records {
		if record.Int("position") != positions[i] {
			return refusal.New(badValue, refusal.Index(pointer, i)+"/position")
		}
		for _, name := range []string{"top", "reference_top"} {
			if record.Int(name) >= model.Int("vocab_size") {
				return refusal.New(badValue, refusal.Index(pointer, i)+"/"+name)
			}
		}
		if !consistent(record, model) {
			return refusal.New(badValue, refusal.Index(pointer, i))
		}
	}
	return nil
}

// checkMeasures is step 4.
func (k *Kind) checkMeasures(stated []*lcj.Object, found measures, dtype string) *refusal.Refusal {
	const pointer = "/predicate/measures"
	if len(stated) != len(k.bounds) {
		return refusal.New(badValue, pointer)
	}
	for i, bound := range k.bounds {
		at, name := refusal.Index(pointer, i), bound.Text("name")
		switch {
		case stated[i].Text("name") != name:
			return refusal.New(badValue, at+"/name")
		case stated[i].Text("limit") != bound.Text("limit"):
			return refusal.New(badValue, at+"/limit")
		case stated[i].Int("bound") != bound.Int(dtype):
			return refusal.New(badValue, at+"/bound")
		case !found.values[name].IsInt64() || stated[i].Int("value") != found.values[name].Int64():
			return refusal.Expecting(recount, at+"/value", found.values[name].String(), "another value")
		}
	}
	return nil
}

// checkBounds is step 6.
func (k *Kind) checkBounds(stated []*lcj.Object) *refusal.Refusal {
	for i, measure := range stated {
		value, bound := measure.Int("value"), measure.Int("bound")
		if measure.Text("limit") == "at most" && value > bound || measure.Text("limit") == "at least" && value < bound {
			return refusal.New(exceeded, refusal.Index("/predicate/measures", i)+"/value")
		}
	}
	return nil
}
