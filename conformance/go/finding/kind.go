// Package finding derives certificates of the kind `finding` (finding.md).
package finding

import (
	"slices"

	"lockstep/conformance/go/engine"
	"lockstep/conformance/go/environment"
	"lockstep/conformance/go/failure"
	"lockstep/conformance/go/kind"
	"lockstep/conformance/go/lcj"
	"lockstep/conformance/go/refusal"
	"lockstep/conformance/go/relation"
	"lockstep/conformance/go/replay"
	"lockstep/conformance/go/schema"
	"lockstep/conformance/go/specification"
	"lockstep/conformance/go/statement"
)

// PredicateType is the kind's predicate type.
const PredicateType = "urn:lockstep:certificate:finding:v1"

const (
	badValue       = "BAD_VALUE"
	notReproduced  = "FINDING_NOT_REPRODUCED"
	notDerived     = "FINDING_REMOVALS_NOT_DERIVED"
	outcomeDiffers = "FINDING_OUTCOME_NOT_DERIVED"
	notMinimal     = "FINDING_NOT_MINIMAL"
)

// costLimit bounds what step 2 of [FIND-11] multiplies.
const costLimit = 33_554_432

// notCovered is what `not_run` begins with ([FIND-10]).
var notCovered = []string{
	"other models and backends than this one",
	"whether the failure has other causes, or shows in cases of other forms",
}

// Kind is the kind with its data.
type Kind struct {
	Schema     *schema.Schema
	SpecDigest string

	environments *environment.Data
	relation     *relation.Relation
	kinds        []string
	dimensions   []string
	// operators are the edits' digests of mutation.json by name.
	operators map[string]string
	// breaking are the weakenings that break no_deadlock ([FIND-6]).
	breaking []string
}

// NewKind reads the kind's data.
func NewKind(spec *specification.Specification) (*Kind, error) {
	k := &Kind{operators: map[string]string{}}
	var err error
	if k.Schema, err = spec.Schema("finding"); err != nil {
		return nil, err
	}
	if k.environments, err = environment.Read(spec); err != nil {
		return nil, err
	}
	if k.relation, err = relation.Read(spec); err != nil {
		return nil, err
	}
	data, err := spec.Object("finding.json")
	if err != nil {
		return nil, err
	}
	k.kinds = data.Texts("kinds")
	for _, one := range data.Objects("dimensions") {
		k.dimensions = append(k.dimensions, one.Text("name"))
	}
	mutations, err := spec.Object("mutation.json")
	if err != nil {
		return nil, err
	}
	for _, one := range mutations.Objects("operators") {
		k.operators[one.Text("id")] = one.Text("edits_sha256")
	}
	lifecycle, err := spec.Object(relation.File)
	if err != nil {
		return nil, err
	}
	for _, one := range lifecycle.Objects("weakenings") {
		if one.Text("breaks") == "no_deadlock" {
			k.breaking = append(k.breaking, one.Text("name"))
		}
	}
	k.SpecDigest, err = spec.Digest(
		"schemas/finding.schema.json", "finding.json", environment.File, relation.File, "mutation.json")
	return k, err
}

// derivation is one on its way.
type derivation struct {
	*Kind
	predicate, stated *lcj.Object
	model             engine.Digest
	// rules are weakened where the mutation is so.
	rules replay.Rules
	// derived says that rules decide whether a case fails: a failure `stuck` under weakened ones.
	derived bool
	free    []string
}

// Derive is the order of derivation of [FIND-11], without step 9.
func (k *Kind) Derive(stated *statement.Statement, _ kind.Evidence, _ bool) (*kind.Derived, *refusal.Refusal) {
	predicate := stated.Predicate
	if err := replay.CheckModel(k.environments, predicate); err != nil {
		return nil, err
	}
	stored := predicate.Object("model")
	d := &derivation{
		Kind: k, predicate: predicate, stated: predicate.Object("case"),
		model: engine.ModelDigest(stored.Text("sha256"), stored.Text("dtype")),
	}
	for _, step := range []func() *refusal.Refusal{
		d.checkCase, d.checkMutation, d.checkFailure, d.checkDimensions, d.checkRemovals, d.checkUnmutated,
		d.checkTrajectory,
	} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	counts := d.counts()
	if err := kind.CheckCounts(predicate, countNames, counts); err != nil {
		return nil, err
	}
	if err := kind.CheckNotRun(predicate, notCovered); err != nil {
		return nil, err
	}
	if err := stated.CheckSubject("model", stored.Text("sha256")); err != nil {
		return nil, err
	}
	if err := stated.CheckSubject("case", predicate.Text("case_sha256")); err != nil {
		return nil, err
	}
	// Nothing was executed again here.
	counts["replayed"], counts["not_comparable"] = 0, 0
	return &kind.Derived{Verdict: "MINIMAL", Counts: counts}, nil
}

// checkCase is step 2.
func (d *derivation) checkCase() *refusal.Refusal {
	const pointer = "/predicate/case"
	size, length := d.stated.Object("pool").Int("blocks"), int64(0)
	for _, request := range d.stated.Object("workload").Objects("requests") {
		size += int64(len(request.List("prompt"))) + request.Int("max_new")
		length++
	}
	for _, actions := range d.stated.List("steps") {
		length += 1 + int64(len(actions.([]any)))
	}
	if size*length > costLimit || size*length*int64(len(d.predicate.List("removals"))+1) > costLimit {
		return refusal.New("LIMIT_SIZE", pointer)
	}
	if err := replay.CheckCase(d.stated, d.predicate.Object("model"), pointer); err != nil {
		return err
	}
	if digest := specification.Sha256(lcj.Encode(d.stated)); d.predicate.Text("case_sha256") != digest {
		return refusal.Expecting(badValue, "/predicate/case_sha256", digest, d.predicate.Text("case_sha256"))
	}
	return nil
}

// checkMutation is the first sentence of step 3.
func (d *derivation) checkMutation() *refusal.Refusal {
	mutation, has := d.predicate.Member("mutation").(*lcj.Object)
	if !has {
		return nil
	}
	name := mutation.Text("name")
	edits, known := d.operators[name]
	if !known {
		return refusal.New(badValue, "/predicate/mutation/name")
	}
	if mutation.Text("sha256") != edits {
		return refusal.Expecting(badValue, "/predicate/mutation/sha256", edits, mutation.Text("sha256"))
	}
	if slices.Contains(d.breaking, name) {
		d.rules = replay.Rules{
			NeverFittingAccepted: name == "never_fitting_accepted",
			UnreservedAdmission:  name == "unreserved_admission",
		}
		d.derived = d.predicate.Object("failure").Text("kind") == "stuck"
	}
	return nil
}

// checkFailure is the rest of step 3.
func (d *derivation) checkFailure() *refusal.Refusal {
	const pointer = "/predicate/failure"
	stated := d.predicate.Object("failure")
	if member := failure.Misstated(stated); member != "" {
		return refusal.New(badValue, pointer+"/"+member)
	}
	code := stated.Text("code")
	if stated.Text("kind") == "refused" && (code == "REQUEST_ENDED" || code == "REQUEST_NOT_ENDED") {
		return refusal.New(badValue, pointer+"/code")
	}
	found := d.rehearse(d.stated)
	switch {
	case found.Code != "":
		return refusal.New(found.Code, "/predicate/case")
	case d.derived && stated.Text("part") != "machine":
		return refusal.New(badValue, pointer+"/part")
	case d.derived && !found.Stuck:
		return refusal.New(notReproduced, pointer)
	}
	return nil
}

func (d *derivation) rehearse(stated *lcj.Object) replay.Rehearsal {
	return replay.Rehearse(d.relation, d.model, stated, d.rules)
}

// checkDimensions is step 4.
func (d *derivation) checkDimensions() *refusal.Refusal {
	const pointer = "/predicate/dimensions"
	stated := d.predicate.Objects("dimensions")
	for i, one := range stated[:min(len(stated), len(d.dimensions))] {
		if one.Text("name") != d.dimensions[i] {
			return refusal.New(badValue, refusal.Index(pointer, i)+"/name")
		}
		if one.Member("held") == nil {
			d.free = append(d.free, d.dimensions[i])
		}
	}
	if len(stated) != len(d.dimensions) || len(d.free) == 0 {
		return refusal.New(badValue, pointer)
	}
	return nil
}

// checkUnmutated is step 6.
func (d *derivation) checkUnmutated() *refusal.Refusal {
	const pointer = "/predicate/unmutated"
	stated, has := d.predicate.Member("unmutated").(*lcj.Object)
	if mutated := d.predicate.Member("mutation") != nil; has != mutated {
		return refusal.New(badValue, pointer)
	}
	if !has {
		return nil
	}
	found := replay.Rehearse(d.relation, d.model, d.stated, replay.Rules{})
	if !d.fits(stated, found) {
		return refusal.New(outcomeDiffers, pointer)
	}
	if d.predicate.Member("closed_by") != nil {
		return refusal.New(badValue, "/predicate/closed_by")
	}
	return nil
}

// checkTrajectory is step 7.
func (d *derivation) checkTrajectory() *refusal.Refusal {
	if len(d.stated.List("steps")) > 0 {
		return nil
	}
	for _, request := range d.stated.Object("workload").Objects("requests") {
		if request.Int("arrival") > 0 {
			return nil
		}
	}
	pool := d.stated.Object("pool")
	start := engine.Framed("lockstep/trajectory/1",
		engine.Numbers(pool.Int("blocks")), engine.Numbers(pool.Int("block_size"))).Hex()
	if stated := d.predicate.Text("trajectory_sha256"); stated != start {
		return refusal.Expecting("TRAJECTORY_NOT_DERIVED", "/predicate/trajectory_sha256", start, stated)
	}
	return nil
}
