// Package lean derives certificates of the kind `lean` (lean.md).
package lean

import (
	"slices"
	"strings"

	"lockstep/conformance/go/kind"
	"lockstep/conformance/go/lcj"
	"lockstep/conformance/go/lemmas"
	"lockstep/conformance/go/refusal"
	"lockstep/conformance/go/schema"
	"lockstep/conformance/go/specification"
	"lockstep/conformance/go/statement"
)

// PredicateType is the kind's predicate type.
const PredicateType = "urn:lockstep:certificate:lean:v1"

const axiomRefused = "AXIOM_NOT_ALLOWED"

// Sizes of [LEAN-11] in bytes.
const (
	sourceLimit = 4 << 20
	exportLimit = 256 << 20
)

// observationNames are in the order of [LEAN-8].
var observationNames = []string{"kernel_accepted", "gates_passed", "official_toolchain_agrees"}

// Kind is the kind with its data.
type Kind struct {
	Schema     *schema.Schema
	SpecDigest string

	registry *lemmas.Registry
}

// NewKind reads the kind's data.
func NewKind(spec *specification.Specification, registry *lemmas.Registry) (*Kind, error) {
	made := &Kind{registry: registry}
	var err error
	if made.Schema, err = spec.Schema("lean"); err != nil {
		return nil, err
	}
	made.SpecDigest, err = spec.Digest("schemas/lean.schema.json", "lean.json", "lemmas.json")
	return made, err
}

// Derive is the order of derivation of lean.md.
func (k *Kind) Derive(stated *statement.Statement, evidence kind.Evidence, _ bool) (*kind.Derived, *refusal.Refusal) {
	predicate := stated.Predicate
	if err := k.checkTheorems(predicate); err != nil {
		return nil, err
	}
	if err := k.checkModules(predicate.Objects("modules")); err != nil {
		return nil, err
	}
	verdict, err := fold(predicate.Object("observations"))
	if err != nil {
		return nil, err
	}
	counts, err := k.checkCounts(predicate)
	if err != nil {
		return nil, err
	}
	export, _ := predicate.Member("export").(*lcj.Object)
	if export != nil && !kind.Sidecar(export.Text("path")) {
		return nil, refusal.New("BAD_VALUE", "/predicate/export/path")
	}
	sources := lcj.NewObject()
	for _, module := range predicate.Objects("modules") {
		sources.Set(module.Text("path"), module.Text("sha256"))
	}
	if err := stated.CheckSubject("sources", specification.Sha256(lcj.Encode(sources))); err != nil {
		return nil, err
	}
	if err := checkEvidence(predicate.Objects("modules"), export, evidence); err != nil {
		return nil, err
	}
	return &kind.Derived{Verdict: verdict, Counts: counts}, nil
}

// checkTheorems is steps 1 to 3.
func (k *Kind) checkTheorems(predicate *lcj.Object) *refusal.Refusal {
	if !slices.Equal(predicate.Texts("allowed_axioms"), k.registry.AllowedAxioms) {
		return refusal.New(axiomRefused, "/predicate/allowed_axioms")
	}
	const pointer = "/predicate/theorems"
	names := make([]string, 0, len(k.registry.Lemmas))
	for _, lemma := range k.registry.Lemmas {
		names = append(names, lemma.Name)
	}
	stated := predicate.Objects("theorems")
	if err := checkNames(pointer, stated, names); err != nil {
		return err
	}
	for i, theorem := range stated {
		if err := k.checkTheorem(theorem, k.registry.Lemmas[i], refusal.Index(pointer, i)); err != nil {
			return err
		}
	}
	return nil
}

// checkNames refuses the first entry without the registered name of its place, and a gap at the end.
func checkNames(pointer string, stated []*lcj.Object, registered []string) *refusal.Refusal {
	const missing = "H3_PROOF_MISSING"
	for i, entry := range stated {
		wanted := "no further one"
		if i < len(registered) {
			wanted = registered[i]
		}
		if entry.Text("name") != wanted {
			return refusal.Expecting(missing, refusal.Index(pointer, i)+"/name", wanted, entry.Text("name"))
		}
	}
	if len(stated) < len(registered) {
		return refusal.Expecting(missing, pointer, registered[len(stated)], "no further one")
	}
	return nil
}

// checkTheorem is step 3 for one theorem.
func (k *Kind) checkTheorem(stated *lcj.Object, registered lemmas.Lemma, pointer string) *refusal.Refusal {
	if digest := stated.Text("statement_sha256"); digest != registered.Statement {
		return refusal.Expecting("LEMMA_STATEMENT_MISMATCH", pointer+"/statement_sha256",
			registered.Statement, digest)
	}
	axioms := stated.Texts("axioms")
	for i, axiom := range axioms {
		if !slices.Contains(k.registry.AllowedAxioms, axiom) {
			return refusal.New(axiomRefused, refusal.Index(pointer+"/axioms", i))
		}
	}
	if !slices.Equal(axioms, registered.Axioms) {
		return refusal.New(axiomRefused, pointer+"/axioms")
	}
	return nil
}

// checkModules is step 4.
func (k *Kind) checkModules(modules []*lcj.Object) *refusal.Refusal {
	const pointer = "/predicate/modules"
	if err := checkNames(pointer, modules, k.registry.Modules); err != nil {
		return err
	}
	for i, module := range modules {
		path := strings.ReplaceAll(module.Text("name"), ".", "/") + ".lean"
		if module.Text("path") != path {
			return refusal.Expecting("BAD_VALUE", refusal.Index(pointer, i)+"/path", path, module.Text("path"))
		}
	}
	return nil
}

// fold is step 5, and the verdict of [LEAN-8].
func fold(observations *lcj.Object) (string, *refusal.Refusal) {
	for _, name := range observationNames {
		if observations.Member(name) == false {
			return "", refusal.New("H9_GUARD_FAILED_OPEN", "/predicate/observations/"+name)
		}
	}
	switch {
	case observations.Member("kernel_accepted") == nil, observations.Member("gates_passed") == nil:
		return "UNPROVEN", nil
	case observations.Member("official_toolchain_agrees") == nil:
		return "ACCEPTED", nil
	}
	return "REPRODUCED", nil
}

// checkCounts is step 6.
func (k *Kind) checkCounts(predicate *lcj.Object) (map[string]int64, *refusal.Refusal) {
	theorems := predicate.Objects("theorems")
	counts := map[string]int64{
		"theorems": int64(len(theorems)), "accepted": 0, "axiom_free": 0,
		"row_lemmas": int64(len(k.registry.Rows)), "layout_lemmas": int64(k.registry.LayoutLemmas()),
		"modules": int64(len(predicate.List("modules"))),
	}
	if predicate.Object("observations").Member("kernel_accepted") == true {
		counts["accepted"] = counts["theorems"]
	}
	for _, theorem := range theorems {
		if len(theorem.List("axioms")) == 0 {
			counts["axiom_free"]++
		}
	}
	names := []string{"theorems", "accepted", "axiom_free", "row_lemmas", "layout_lemmas", "modules"}
	if err := kind.CheckCounts(predicate, names, counts); err != nil {
		return nil, err
	}
	return counts, nil
}

// checkEvidence is step 8, but for what an export says: this verifier reads none.
func checkEvidence(modules []*lcj.Object, export *lcj.Object, evidence kind.Evidence) *refusal.Refusal {
	if evidence == nil {
		return nil
	}
	for i, module := range modules {
		if err := compareFile(module, refusal.Index("/predicate/modules", i), sourceLimit, evidence); err != nil {
			return err
		}
	}
	if export == nil {
		return nil
	}
	err := compareFile(export, "/predicate/export", exportLimit, evidence)
	if err != nil && err.Code == "EVIDENCE_MISSING" {
		return nil
	}
	return err
}

// compareFile compares a file with the digest that stands beside its path ([EV-3]).
func compareFile(entry *lcj.Object, pointer string, limit int64, evidence kind.Evidence) *refusal.Refusal {
	data, err := evidence(entry.Text("path"), limit)
	if err != nil {
		return refusal.New(err.Code, pointer+"/path")
	}
	if specification.Sha256(data) != entry.Text("sha256") {
		return refusal.New("EVIDENCE_DIGEST_MISMATCH", pointer+"/sha256")
	}
	return nil
}
