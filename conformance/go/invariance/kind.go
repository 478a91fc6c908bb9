// Package invariance derives certificates of the kind `invariance` (invariance.md, relations.md).
package invariance

import (
	"lockstep/conformance/go/environment"
	"lockstep/conformance/go/kind"
	"lockstep/conformance/go/lcj"
	"lockstep/conformance/go/model"
	"lockstep/conformance/go/refusal"
	"lockstep/conformance/go/relation"
	"lockstep/conformance/go/schema"
	"lockstep/conformance/go/specification"
	"lockstep/conformance/go/statement"
)

// PredicateType is the kind's predicate type.
const PredicateType = "urn:lockstep:certificate:invariance:v1"

const (
	badValue          = "BAD_VALUE"
	recount           = "H10_COUNTS_DO_NOT_RECOMPUTE"
	underived         = "COVERAGE_DENOMINATOR_NOT_DERIVED"
	outcomeNotDerived = "OUTCOME_NOT_DERIVED"
)

// Outcomes of [REL-5].
const (
	holds    = "holds"
	violated = "violated"
	vacuous  = "vacuous"
	notRun   = "not_run"
)

// Kind is the kind with its data.
type Kind struct {
	Schema     *schema.Schema
	SpecDigest string

	environments *environment.Data
	lifecycle    *relation.Relation
	relations    *relations
	// legal are the legal n-grams, by n, ascending.
	legal map[int][]relation.Gram
}

// NewKind reads the kind's data.
func NewKind(spec *specification.Specification) (*Kind, error) {
	k := &Kind{}
	var err error
	if k.Schema, err = spec.Schema("invariance"); err != nil {
		return nil, err
	}
	if k.environments, err = environment.Read(spec); err != nil {
		return nil, err
	}
	if k.lifecycle, err = relation.Read(spec); err != nil {
		return nil, err
	}
	k.legal = map[int][]relation.Gram{2: k.lifecycle.Legal(2), 3: k.lifecycle.Legal(3)}
	if k.relations, err = readRelations(spec); err != nil {
		return nil, err
	}
	k.SpecDigest, err = spec.Digest("schemas/invariance.schema.json", "invariance.json",
		environment.File, relation.File, relationsFile)
	return k, err
}

// derivation is one on its way.
type derivation struct {
	kind *Kind
	// resolved are the settings in force, by name.
	resolved map[string]string
	demanded []combination
	runs     []*record
	// controls counts them by `shown`.
	controls map[string]int64
}

// Derive is the order of derivation of invariance.md.
func (k *Kind) Derive(stated *statement.Statement, _ kind.Evidence, _ bool) (*kind.Derived, *refusal.Refusal) {
	d := &derivation{kind: k, controls: map[string]int64{}}
	predicate := stated.Predicate
	for _, step := range []func() *refusal.Refusal{
		func() *refusal.Refusal { return d.checkModel(predicate) },
		func() *refusal.Refusal { return k.checkLifecycle(predicate.Object("lifecycle")) },
		func() *refusal.Refusal { return d.checkPlan(predicate) },
		d.checkRuns,
		func() *refusal.Refusal { return d.checkControls(predicate.Objects("controls")) },
		func() *refusal.Refusal { return d.checkClaims(predicate.Objects("claims")) },
		func() *refusal.Refusal { return d.checkCoverage(predicate.Object("coverage")) },
	} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	counts, err := d.checkCounts(predicate.Object("counts"))
	if err != nil {
		return nil, err
	}
	outcomes, _ := d.outcomes("")
	verdict := d.fold(outcomes, "INVARIANT")
	if predicate.Text("verdict") != verdict {
		return nil, refusal.Expecting(outcomeNotDerived, "/predicate/verdict", verdict, predicate.Text("verdict"))
	}
	if err := stated.CheckSubject("model", predicate.Object("model").Text("sha256")); err != nil {
		return nil, err
	}
	return &kind.Derived{Verdict: verdict, Counts: counts}, nil
}

// checkModel is step 1.
func (d *derivation) checkModel(predicate *lcj.Object) *refusal.Refusal {
	effective, err := model.CheckStated(predicate, d.kind.environments)
	d.resolved = effective.Resolved
	return err
}

// checkLifecycle is step 2.
func (k *Kind) checkLifecycle(stated *lcj.Object) *refusal.Refusal {
	if !lcj.Equal(stated.List("cells"), k.lifecycle.Stated) {
		return refusal.New(underived, "/predicate/lifecycle/cells")
	}
	if stated.Text("sha256") != k.lifecycle.Sha256 {
		return refusal.New(underived, "/predicate/lifecycle/sha256")
	}
	return nil
}

// checkPlan is step 3: which runs there are.
func (d *derivation) checkPlan(predicate *lcj.Object) *refusal.Refusal {
	exempt := []any{}
	for _, c := range d.kind.relations.combinations() {
		if c.relation.applies(d.resolved) {
			d.demanded = append(d.demanded, c)
			continue
		}
		exempt = append(exempt, lcj.NewObject().Set("relation", c.relation.name).
			Set("block_size", c.blockSize).Set("reason", c.relation.exempt.Text("reason")))
	}
	if !lcj.Equal(predicate.List("does_not_apply"), exempt) {
		return refusal.New(underived, "/predicate/does_not_apply")
	}
	const pointer = "/predicate/runs"
	runs, seeds := predicate.Objects("runs"), int(predicate.Int("seeds"))
	if len(runs) != len(d.demanded)*seeds {
		return refusal.New(underived, pointer)
	}
	for i, run := range runs {
		at, c := refusal.Index(pointer, i), d.demanded[i/seeds]
		switch {
		case run.Text("relation") != c.relation.name:
			return refusal.New(underived, at+"/relation")
		case run.Int("block_size") != c.blockSize:
			return refusal.New(underived, at+"/block_size")
		case run.Int("seed") != int64(i%seeds):
			return refusal.New(underived, at+"/seed")
		}
		d.runs = append(d.runs, readRecord(run, c.relation))
	}
	return nil
}

// checkRuns is step 4.
func (d *derivation) checkRuns() *refusal.Refusal {
	for i, run := range d.runs {
		if err := d.kind.check(run, d.resolved["backend"], refusal.Index("/predicate/runs", i)); err != nil {
			return err
		}
	}
	return nil
}
