// Package withdrawal derives certificates of the kind `withdrawal`, and applies those that were verified
// to other certificates (withdrawal.md).
package withdrawal

import (
	"regexp"

	"lockstep/conformance/go/kind"
	"lockstep/conformance/go/lcj"
	"lockstep/conformance/go/refusal"
	"lockstep/conformance/go/schema"
	"lockstep/conformance/go/specification"
	"lockstep/conformance/go/statement"
)

// PredicateType is the kind's predicate type.
const PredicateType = "urn:lockstep:certificate:withdrawal:v1"

const badValue = "BAD_VALUE"

// pointerForm is an RFC 6901 pointer to a statement or below its predicate ([WDR-1]).
var pointerForm = regexp.MustCompile(`\A(/predicate(/([^~/]|~[01])*)*)?\z`)

// Kind is the kind with its data.
type Kind struct {
	Schema     *schema.Schema
	SpecDigest string

	notRun []string
}

// NewKind reads the kind's data.
func NewKind(spec *specification.Specification) (*Kind, error) {
	k := &Kind{}
	var err error
	if k.Schema, err = spec.Schema("withdrawal"); err != nil {
		return nil, err
	}
	data, err := spec.Object("withdrawal.json")
	if err != nil {
		return nil, err
	}
	k.notRun = data.Texts("not_run")
	k.SpecDigest, err = spec.Digest("schemas/withdrawal.schema.json", "withdrawal.json")
	return k, err
}

// Derive is the order of derivation of [WDR-2].
func (k *Kind) Derive(stated *statement.Statement, _ kind.Evidence, _ bool) (*kind.Derived, *refusal.Refusal) {
	predicate := stated.Predicate
	counts := map[string]int64{"claims": 0, "replaced": 0}
	withdrawn, before := predicate.Object("certificate").Text("payload_sha256"), ""
	for i, claim := range predicate.Objects("claims") {
		at, pointer := refusal.Index("/predicate/claims", i), claim.Text("pointer")
		if !pointerForm.MatchString(pointer) || i > 0 && !lcj.Less(before, pointer) {
			return nil, refusal.New(badValue, at+"/pointer")
		}
		before = pointer
		counts["claims"]++
		replacement, ok := claim.Member("replacement").(*lcj.Object)
		if !ok {
			continue
		}
		counts["replaced"]++
		sha256, there := replacement.Member("payload_sha256"), replacement.Member("pointer")
		if (sha256 == nil) != (there == nil) {
			return nil, refusal.New(badValue, at+"/replacement/pointer")
		}
		if sha256 == withdrawn && there == pointer {
			return nil, refusal.New(badValue, at+"/replacement")
		}
	}
	if err := kind.CheckCounts(predicate, []string{"claims", "replaced"}, counts); err != nil {
		return nil, err
	}
	if err := kind.CheckNotRun(predicate, k.notRun); err != nil {
		return nil, err
	}
	if err := stated.CheckSubject("certificate", withdrawn); err != nil {
		return nil, err
	}
	return &kind.Derived{Verdict: "WITHDRAWN", Counts: counts}, nil
}
