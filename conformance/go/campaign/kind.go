// Package campaign derives certificates of the kind `campaign` (fuzz.md).
package campaign

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
const PredicateType = "urn:lockstep:certificate:campaign:v1"

const (
	badValue          = "BAD_VALUE"
	recount           = "H10_COUNTS_DO_NOT_RECOMPUTE"
	underived         = "COVERAGE_DENOMINATOR_NOT_DERIVED"
	outcomeNotDerived = "OUTCOME_NOT_DERIVED"
)

// Kind is the kind with its data.
type Kind struct {
	Schema     *schema.Schema
	SpecDigest string

	environments *environment.Data
	relation     *relation.Relation
	data         *declared
	// legal are the legal pairs, then the legal triples, each part ascending.
	legal []relation.Gram
}

// NewKind reads the kind's data.
func NewKind(spec *specification.Specification) (*Kind, error) {
	k := &Kind{}
	var err error
	if k.Schema, err = spec.Schema("campaign"); err != nil {
		return nil, err
	}
	if k.environments, err = environment.Read(spec); err != nil {
		return nil, err
	}
	if k.relation, err = relation.Read(spec); err != nil {
		return nil, err
	}
	k.legal = append(k.relation.Legal(2), k.relation.Legal(3)...)
	if k.data, err = readDeclared(spec, k.relation, k.legal); err != nil {
		return nil, err
	}
	k.SpecDigest, err = spec.Digest(
		"schemas/campaign.schema.json", environment.File, dataFile, relation.File)
	return k, err
}

// derivation is one on its way.
type derivation struct {
	*Kind
	table       []relation.Gram
	populations []*shown
	repeats     repeats
}

// Derive is the order of derivation of fuzz.md, without step 8.
func (k *Kind) Derive(stated *statement.Statement, _ kind.Evidence, _ bool) (*kind.Derived, *refusal.Refusal) {
	d := &derivation{Kind: k, repeats: newRepeats()}
	predicate := stated.Predicate
	if _, err := model.CheckStated(predicate, k.environments); err != nil {
		return nil, err
	}
	for _, step := range []func() *refusal.Refusal{
		func() *refusal.Refusal { return k.checkLifecycle(predicate.Object("lifecycle")) },
		func() *refusal.Refusal { return d.checkTable(predicate.List("n_grams")) },
		func() *refusal.Refusal { return d.checkPopulations(predicate.Objects("populations")) },
		func() *refusal.Refusal { return d.checkCoverage(predicate.Object("coverage")) },
	} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	counts := d.counts()
	if err := kind.CheckCounts(predicate, countNames, counts); err != nil {
		return nil, err
	}
	verdict := d.verdict(counts)
	if predicate.Text("verdict") != verdict {
		return nil, refusal.Expecting(outcomeNotDerived, "/predicate/verdict", verdict, predicate.Text("verdict"))
	}
	if err := stated.CheckSubject("model", predicate.Object("model").Text("sha256")); err != nil {
		return nil, err
	}
	// Nothing was executed again here.
	counts["replayed"], counts["not_comparable"] = 0, 0
	return &kind.Derived{Verdict: verdict, Counts: counts}, nil
}

// checkLifecycle is step 2.
func (k *Kind) checkLifecycle(stated *lcj.Object) *refusal.Refusal {
	const pointer = "/predicate/lifecycle/"
	switch {
	case !lcj.Equal(stated.List("cells"), k.relation.Stated):
		return refusal.New(underived, pointer+"cells")
	case stated.Text("sha256") != k.relation.Sha256:
		return refusal.New(underived, pointer+"sha256")
	case !lcj.Equal(stated.List("unreachable"), k.data.unreachable):
		return refusal.New(underived, pointer+"unreachable")
	}
	return nil
}

// checkTable is step 3.
func (d *derivation) checkTable(stated []any) *refusal.Refusal {
	for i, element := range stated {
		var events []string
		for _, event := range element.([]any) {
			events = append(events, event.(string))
		}
		gram := relation.Join(events)
		known := d.data.areEvents(events)
		if !known || i > 0 && relation.Compare(d.table[i-1], gram) >= 0 {
			return refusal.New(badValue, refusal.Index("/predicate/n_grams", i))
		}
		d.table = append(d.table, gram)
	}
	return nil
}
