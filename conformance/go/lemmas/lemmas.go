// Package lemmas reads the registry of lemmas, lemmas.json ([LEAN-4]).
package lemmas

import (
	"lockstep/conformance/go/lcj"
	"lockstep/conformance/go/specification"
)

// Lemma is a registered theorem.
type Lemma struct {
	Name, Statement string
	Axioms          []string
}

// Registry is the registry of lemmas.
type Registry struct {
	Lemmas        []Lemma
	AllowedAxioms []string
	// Modules are the names of the sources that prove them.
	Modules []string
	// Rows are the names of the lemmas that each row of a hunt rests on.
	Rows []string

	statements map[string]string
	layouts    *lcj.Object
}

// Read reads the registry of a specification.
func Read(spec *specification.Specification) (*Registry, error) {
	data, err := spec.Object("lemmas.json")
	if err != nil {
		return nil, err
	}
	registry := &Registry{
		AllowedAxioms: data.Texts("allowed_axioms"), Modules: data.Texts("modules"), Rows: data.Texts("rows"),
		statements: map[string]string{}, layouts: data.Object("layouts"),
	}
	for _, entry := range data.Objects("lemmas") {
		lemma := Lemma{entry.Text("name"), entry.Text("statement_sha256"), entry.Texts("axioms")}
		registry.Lemmas = append(registry.Lemmas, lemma)
		registry.statements[lemma.Name] = lemma.Statement
	}
	return registry, nil
}

// Statement is the statement digest of a registered lemma.
func (r *Registry) Statement(name string) string {
	digest, known := r.statements[name]
	if !known {
		panic("lemmas.json names a lemma that it does not register: " + name)
	}
	return digest
}

// OfLayout gives the lemmas of a declaration by its digest, none where it is not registered.
func (r *Registry) OfLayout(digest string) []string {
	if r.layouts.Member(digest) == nil {
		return nil
	}
	return r.layouts.Texts(digest)
}

// LayoutLemmas is how many lemmas speak of a declaration; it may have several digests.
func (r *Registry) LayoutLemmas() int {
	distinct := map[string]bool{}
	for _, digest := range r.layouts.Names() {
		for _, name := range r.layouts.Texts(digest) {
			distinct[name] = true
		}
	}
	return len(distinct)
}
