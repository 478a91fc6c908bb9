// Package replay derives certificates of the kind `replay` (replay.md), by running the schedule on
// a machine and a ledger of its own (lifecycle.md, engine.md, schedule.md).
package replay

import (
	"lockstep/conformance/go/engine"
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
const PredicateType = "urn:lockstep:certificate:replay:v1"

const (
	badValue  = "BAD_VALUE"
	recount   = "H10_COUNTS_DO_NOT_RECOMPUTE"
	underived = "COVERAGE_DENOMINATOR_NOT_DERIVED"
)

// Bounds of [RPL-8]: (blocks of the pool + requests) × (steps + actions), rows, and the numbers of
// all ledgers.
const (
	readingsLimit = 4_194_304
	rowsLimit     = 1_048_576
	numbersLimit  = 16_777_216
)

// notCovered is what `not_run` begins with ([RPL-6]).
var notCovered = []string{
	"other workloads, schedules, models and backends than these",
	"devices other than the one that the environment names",
}

// Kind is the kind with its data.
type Kind struct {
	Schema     *schema.Schema
	SpecDigest string

	environments *environment.Data
	relation     *relation.Relation
}

// NewKind reads the kind's data.
func NewKind(spec *specification.Specification) (*Kind, error) {
	k := &Kind{}
	var err error
	if k.Schema, err = spec.Schema("replay"); err != nil {
		return nil, err
	}
	if k.environments, err = environment.Read(spec); err != nil {
		return nil, err
	}
	if k.relation, err = relation.Read(spec); err != nil {
		return nil, err
	}
	k.SpecDigest, err = spec.Digest(
		"schemas/replay.schema.json", "replay.json", environment.File, relation.File)
	return k, err
}

// Derive is the order of derivation of [RPL-8], without step 9.
func (k *Kind) Derive(stated *statement.Statement, _ kind.Evidence, _ bool) (*kind.Derived, *refusal.Refusal) {
	predicate := stated.Predicate
	stored := predicate.Object("model")
	if err := CheckModel(k.environments, predicate); err != nil {
		return nil, err
	}
	requests, err := checkRequests(predicate)
	if err != nil {
		return nil, err
	}
	counts, err := k.run(predicate, requests)
	if err != nil {
		return nil, err
	}
	for _, subject := range [][2]string{
		{"model", stored.Text("sha256")},
		{"workload", specification.Sha256(lcj.Encode(predicate.Object("workload")))},
		{"schedule", specification.Sha256(lcj.Encode(predicate.Object("schedule")))},
	} {
		if err := stated.CheckSubject(subject[0], subject[1]); err != nil {
			return nil, err
		}
	}
	// Nothing was executed again here.
	counts["replayed"], counts["not_comparable"] = 0, 0
	return &kind.Derived{Verdict: "DERIVED", Counts: counts}, nil
}

// CheckModel is step 1 of [RPL-8], which other kinds have alike.
func CheckModel(environments *environment.Data, predicate *lcj.Object) *refusal.Refusal {
	effective, err := environments.Check(predicate.Object("environment"), "/predicate/environment")
	if err != nil {
		return err
	}
	stated := predicate.Object("model")
	if err := model.Check(stated, effective.Dtype); err != nil {
		return err
	}
	last := int64(-1)
	for _, token := range stated.Ints("stop_tokens") {
		if token <= last || token >= stated.Int("vocab_size") {
			return refusal.New(badValue, "/predicate/model/stop_tokens")
		}
		last = token
	}
	return nil
}

// checkRequests is steps 2 and 3.
func checkRequests(predicate *lcj.Object) ([]*request, *refusal.Refusal) {
	schedule, stored := predicate.Object("schedule"), predicate.Object("model")
	pool := schedule.Object("pool")
	cost := int64(len(schedule.List("steps")))
	for _, actions := range schedule.List("steps") {
		cost += int64(len(actions.([]any)))
	}
	held := int64(len(predicate.Object("workload").List("requests")))
	if (pool.Int("blocks")+held)*cost > readingsLimit {
		return nil, refusal.New("LIMIT_SIZE", "/predicate/schedule")
	}
	requests, err := checkWorkload(predicate.Object("workload"), stored, "/predicate/workload")
	if err != nil {
		return nil, err
	}
	machine := newMachine(nil, 0, pool.Int("block_size"))
	for _, r := range submissionOrder(requests) {
		if machine.need(r) > pool.Int("blocks") {
			return nil, refusal.New("REQUEST_NEVER_FITS", "/predicate/schedule/pool")
		}
	}
	if err := checkOutputs(predicate.Objects("outputs"), requests, stored.Int("vocab_size")); err != nil {
		return nil, err
	}
	return requests, checkGreedy(requests)
}

// run is steps 4 to 7; it gives the counts.
func (k *Kind) run(predicate *lcj.Object, requests []*request) (map[string]int64, *refusal.Refusal) {
	schedule, trajectory := predicate.Object("schedule"), predicate.Object("trajectory")
	blocks, size := schedule.Object("pool").Int("blocks"), schedule.Object("pool").Int("block_size")
	steps, parts := schedule.List("steps"), trajectory.Objects("steps")
	events, stored := predicate.List("events"), predicate.Object("model")
	silence := engine.Framed("lockstep/logits/1", nil).Hex()
	e := &execution{
		machine: newMachine(k.relation, blocks, size), byID: map[string]*request{},
		ordered: submissionOrder(requests), stopTokens: stored.Ints("stop_tokens"),
		model:  engine.ModelDigest(stored.Text("sha256"), stored.Text("dtype")),
		logits: map[string]string{"": silence}, rows: map[string]string{silence: ""},
		chain: engine.Framed("lockstep/trajectory/1", engine.Numbers(blocks), engine.Numbers(size)),
		tally: newTally(len(requests)),
	}
	for _, r := range requests {
		e.byID[r.id] = r
	}
	switch {
	case trajectory.Text("start") != e.chain.Hex():
		return nil, refusal.New(notDerived, "/predicate/trajectory/start")
	case len(parts) != len(steps):
		return nil, refusal.New(badValue, "/predicate/trajectory/steps")
	case len(events) != len(steps):
		return nil, refusal.New(badValue, "/predicate/events")
	}
	for i := range steps {
		if err := e.runStep(int64(i), steps[i].([]any), events[i].([]any), parts[i]); err != nil {
			return nil, err
		}
	}
	if err := e.checkEnd(requests, predicate.Objects("outputs"), trajectory.Text("sha256")); err != nil {
		return nil, err
	}
	if err := e.tally.checkCoverage(predicate.Object("coverage"), k.relation, requests); err != nil {
		return nil, err
	}
	if err := kind.CheckCounts(predicate, countNames, e.tally.counts); err != nil {
		return nil, err
	}
	return e.tally.counts, kind.CheckNotRun(predicate, notCovered)
}
