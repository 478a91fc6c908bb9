// Package smt derives certificates of the kind `smt` (smt.md).
package smt

import (
	"lockstep/conformance/go/kind"
	"lockstep/conformance/go/layout"
	"lockstep/conformance/go/lcj"
	"lockstep/conformance/go/lifecycle"
	"lockstep/conformance/go/refusal"
	"lockstep/conformance/go/schema"
	"lockstep/conformance/go/specification"
	"lockstep/conformance/go/statement"
)

// PredicateType is the kind's predicate type.
const PredicateType = "urn:lockstep:certificate:smt:v1"

// scriptLimit is [SMT-12]'s, in bytes.
const scriptLimit = 16 << 20

// Kind is the kind with its data.
type Kind struct {
	Schema     *schema.Schema
	SpecDigest string

	solvers, modes, kinds, reasons []string
	geometries                     []named
	positions                      int64
	lifecycle                      *lifecycle.Lifecycle
}

// NewKind reads the kind's data.
func NewKind(spec *specification.Specification) (*Kind, error) {
	k := &Kind{}
	var err error
	if k.Schema, err = spec.Schema("smt"); err != nil {
		return nil, err
	}
	data, err := spec.Object("smt.json")
	if err != nil {
		return nil, err
	}
	hunt, err := spec.Object("hunt.json")
	if err != nil {
		return nil, err
	}
	k.solvers, k.modes = data.Texts("solvers"), data.Texts("modes")
	k.kinds, k.reasons = data.Texts("kinds"), data.Texts("reasons")
	k.positions = hunt.Object("limits").Int("positions")
	for _, entry := range data.Objects("geometries") {
		entry.Set("dtype", data.Text("dtype"))
		k.geometries = append(k.geometries, named{
			entry.Text("name"), entry.Text("attention"), layout.ReadGeometry(entry, hunt.Object("dtypes")),
		})
	}
	if k.lifecycle, err = lifecycle.Read(spec); err != nil {
		return nil, err
	}
	k.SpecDigest, err = spec.Digest("schemas/smt.schema.json", "smt.json", "hunt.json",
		"lifecycle.json", "lifecycle.smt2.template")
	return k, err
}

// Derive is the order of derivation of smt.md.
func (k *Kind) Derive(stated *statement.Statement, evidence kind.Evidence, _ bool) (*kind.Derived, *refusal.Refusal) {
	d := &derivation{kind: k, predicate: stated.Predicate}
	declared := lcj.NewObject().Set("layouts", stated.Predicate.List("layouts"))
	digest := specification.Sha256(lcj.Encode(declared))
	steps := []func() *refusal.Refusal{
		d.checkLayouts,
		func() *refusal.Refusal { return stated.CheckSubject("layouts", digest) },
		d.checkSolvers, d.plan, d.checkPlan, d.checkCases, d.checkLifecycle, d.checkScripts, d.checkTotals,
		func() *refusal.Refusal { return compareScripts(d.predicate.Objects("scripts"), evidence) },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return &kind.Derived{Verdict: "DERIVED", Counts: d.totals}, nil
}

// compareScripts is the first half of step 7: a file that is not there is not compared.
func compareScripts(scripts []*lcj.Object, evidence kind.Evidence) *refusal.Refusal {
	if evidence == nil {
		return nil
	}
	for i, script := range scripts {
		pointer := refusal.Index("/predicate/scripts", i) + "/sha256"
		data, err := evidence(script.Text("name"), scriptLimit)
		if err != nil && err.Code == "EVIDENCE_MISSING" {
			continue
		}
		if err != nil {
			return refusal.New(err.Code, pointer)
		}
		if specification.Sha256(data) != script.Text("sha256") {
			return refusal.New("EVIDENCE_DIGEST_MISMATCH", pointer)
		}
	}
	return nil
}
