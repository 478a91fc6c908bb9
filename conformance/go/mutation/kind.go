// Package mutation derives certificates of the kind `mutation` (mutation.md).
package mutation

import (
	"slices"

	"lockstep/conformance/go/environment"
	"lockstep/conformance/go/kind"
	"lockstep/conformance/go/lcj"
	"lockstep/conformance/go/lemmas"
	"lockstep/conformance/go/model"
	"lockstep/conformance/go/refusal"
	"lockstep/conformance/go/schema"
	"lockstep/conformance/go/specification"
	"lockstep/conformance/go/statement"
)

// PredicateType is the kind's predicate type.
const PredicateType = "urn:lockstep:certificate:mutation:v1"

const (
	dataFile   = "mutation.json"
	lemmasFile = "lemmas.json"
)

const (
	badValue          = "BAD_VALUE"
	recount           = "H10_COUNTS_DO_NOT_RECOMPUTE"
	underived         = "COVERAGE_DENOMINATOR_NOT_DERIVED"
	outcomeNotDerived = "OUTCOME_NOT_DERIVED"
	proofMissing      = "H3_PROOF_MISSING"
)

// Kind is the kind with its data.
type Kind struct {
	Schema     *schema.Schema
	SpecDigest string

	environments *environment.Data
	// sha256 is the digest of mutation.json.
	sha256    string
	blockSize int64
	observers []observer
	operators []operator
}

// observer is one of mutation.json#/observers ([MUT-6], [MUT-7]).
type observer struct {
	name, sort string
	// schedules says that it compares schedules ([MUT-10]).
	schedules bool
}

// stepless is the observer that executes nothing ([MUT-9]).
const stepless = "KERNEL-EQ"

func (o observer) baseline() bool { return o.sort == "baseline" }

// uncounted are the members of its cells that are 0 ([MUT-9]).
func (o observer) uncounted() []string {
	switch {
	case o.baseline():
		return []string{"ran", "live", "steps"}
	case o.name == stepless:
		return []string{"steps"}
	}
	return nil
}

// belies says that a baseline has seen something else than it always sees ([MUT-7]).
func (o observer) belies(seen string) bool {
	return o.name == "ALWAYS-PASS" && seen != "agrees" || o.name == "ALWAYS-FAIL" && seen != "differs"
}

// operator is one of mutation.json#/operators ([MUT-2]).
type operator struct {
	id, edits string
	visible   bool
	// proof says that a proof of equivalence is named, proven that it is a lemma of lemmas.json.
	proof, proven bool
}

// NewKind reads the kind's data.
func NewKind(spec *specification.Specification, registry *lemmas.Registry) (*Kind, error) {
	k := &Kind{}
	var err error
	if k.Schema, err = spec.Schema("mutation"); err != nil {
		return nil, err
	}
	if k.environments, err = environment.Read(spec); err != nil {
		return nil, err
	}
	text, err := spec.Bytes(dataFile)
	if err != nil {
		return nil, err
	}
	data, err := spec.Object(dataFile)
	if err != nil {
		return nil, err
	}
	k.sha256, k.blockSize = specification.Sha256(text), data.Int("block_size")
	for _, entry := range data.Objects("observers") {
		k.observers = append(k.observers, observer{
			entry.Text("name"), entry.Text("sort"), entry.Bool("schedules"),
		})
	}
	for _, entry := range data.Objects("operators") {
		one := operator{id: entry.Text("id"), edits: entry.Text("edits_sha256"),
			visible: entry.Text("black_box") == "visible"}
		if proof, has := entry.Member("proof").(*lcj.Object); has {
			one.proof = true
			one.proven = slices.ContainsFunc(registry.Lemmas, func(l lemmas.Lemma) bool {
				return l.Name == proof.Text("lemma") && l.Statement == proof.Text("statement_sha256")
			})
		}
		k.operators = append(k.operators, one)
	}
	k.SpecDigest, err = spec.Digest(
		"schemas/mutation.schema.json", dataFile, environment.File, lemmasFile)
	return k, err
}

// derivation is one on its way.
type derivation struct {
	*Kind
	// fit are the observers that agree on the control, by name ([MUT-8]).
	fit map[string]bool
	// unproven says that something seen, or not looked at, makes the whole so ([MUT-11]).
	unproven bool
	rows     []row
}

// Derive is the order of derivation of mutation.md.
func (k *Kind) Derive(stated *statement.Statement, _ kind.Evidence, _ bool) (*kind.Derived, *refusal.Refusal) {
	d := &derivation{Kind: k, fit: map[string]bool{}}
	predicate := stated.Predicate
	if _, err := model.CheckStated(predicate, k.environments); err != nil {
		return nil, err
	}
	if digest := predicate.Text("mutation_sha256"); digest != k.sha256 {
		return nil, refusal.Expecting(underived, "/predicate/mutation_sha256", k.sha256, digest)
	}
	if predicate.Int("block_size") != k.blockSize {
		return nil, refusal.New(underived, "/predicate/block_size")
	}
	if err := d.checkControl(predicate.Objects("control")); err != nil {
		return nil, err
	}
	if err := d.checkRows(predicate.Objects("rows")); err != nil {
		return nil, err
	}
	if err := d.checkObservers(predicate.Objects("observers")); err != nil {
		return nil, err
	}
	counts := d.counts()
	if err := kind.CheckCounts(predicate, countNames, counts); err != nil {
		return nil, err
	}
	if verdict := d.verdict(counts); predicate.Text("verdict") != verdict {
		return nil, refusal.Expecting(outcomeNotDerived, "/predicate/verdict", verdict, predicate.Text("verdict"))
	}
	if err := stated.CheckSubject("model", predicate.Object("model").Text("sha256")); err != nil {
		return nil, err
	}
	return &kind.Derived{Verdict: d.verdict(counts), Counts: counts}, nil
}
