// Package throughput derives certificates of the kind `throughput` (throughput.md).
package throughput

import (
	"fmt"

	"lockstep/conformance/go/kind"
	"lockstep/conformance/go/lcj"
	"lockstep/conformance/go/probe"
	"lockstep/conformance/go/refusal"
	"lockstep/conformance/go/schema"
	"lockstep/conformance/go/specification"
	"lockstep/conformance/go/statement"
)

// PredicateType is the kind's predicate type.
const PredicateType = "urn:lockstep:certificate:throughput:v1"

const (
	badValue   = "BAD_VALUE"
	recount    = "H10_COUNTS_DO_NOT_RECOMPUTE"
	notDerived = "OUTCOME_NOT_DERIVED"
	underived  = "COVERAGE_DENOMINATOR_NOT_DERIVED"
	notRate    = "STATISTICS_DO_NOT_RECOMPUTE"
)

// Kind is the kind with its data.
type Kind struct {
	Schema     *schema.Schema
	SpecDigest string

	probes             *probe.Data
	confidence, spread int64
	flags, verdicts    []string
	limits             []any
}

// NewKind reads the kind's data.
func NewKind(spec *specification.Specification) (*Kind, error) {
	k := &Kind{}
	var err error
	if k.Schema, err = spec.Schema("throughput"); err != nil {
		return nil, err
	}
	data, err := spec.Object("throughput.json")
	if err != nil {
		return nil, err
	}
	k.confidence, k.spread = data.Int("confidence_permille"), data.Int("spread_permille")
	k.flags, k.verdicts, k.limits = data.Texts("flags"), data.Texts("comparison_verdicts"), data.List("limits")
	if k.probes, err = probe.Read(spec); err != nil {
		return nil, err
	}
	k.SpecDigest, err = spec.Digest("schemas/throughput.schema.json", "throughput.json", "probe.json")
	return k, err
}

// run is one on the way to its verdict.
type run struct {
	*Kind
	arms   []*probe.Arm
	roles  map[*probe.Arm]string
	byName map[string]*probe.Arm
	blocks int64
	// samples are by block and arm.
	samples  []map[*probe.Arm]*probe.Sample
	settings *probe.Settings
	spreads  map[*probe.Arm]bool
	compared []*comparison
	counts   map[string]int64
}

// Derive is the order of derivation.
func (k *Kind) Derive(stated *statement.Statement, _ kind.Evidence, _ bool) (*kind.Derived, *refusal.Refusal) {
	predicate := stated.Predicate
	r := &run{
		Kind: k, roles: map[*probe.Arm]string{}, byName: map[string]*probe.Arm{},
		blocks: predicate.Int("blocks"), spreads: map[*probe.Arm]bool{}, counts: map[string]int64{},
	}
	for _, name := range countNames {
		r.counts[name] = 0
	}
	bodies := predicate.Objects("bodies")
	var err *refusal.Refusal
	if r.arms, err = k.probes.ReadArms(predicate.Objects("arms"), "/predicate/arms"); err != nil {
		return nil, err
	}
	for i, arm := range r.arms {
		r.byName[arm.Name], r.roles[arm] = arm, predicate.Objects("arms")[i].Text("role")
	}
	if err := k.probes.CheckBodies(bodies, "/predicate/bodies"); err != nil {
		return nil, err
	}
	reader := k.probes.NewReader(bodies)
	if err := r.readSamples(reader, predicate); err != nil {
		return nil, err
	}
	if r.settings, err = reader.CheckSettings(predicate.Objects("settings"), r.arms, "/predicate/settings"); err != nil {
		return nil, err
	}
	if err := r.checkSpreads(predicate.Objects("spreads")); err != nil {
		return nil, err
	}
	if err := r.checkComparisons(predicate.Objects("comparisons")); err != nil {
		return nil, err
	}
	if err := r.checkCriteria(predicate.Objects("criteria")); err != nil {
		return nil, err
	}
	return r.conclude(stated)
}

// readSamples is step 3.
func (r *run) readSamples(reader *probe.Reader, predicate *lcj.Object) *refusal.Refusal {
	const pointer = "/predicate/samples"
	stated, workload := predicate.Objects("samples"), predicate.Object("workload")
	if int64(len(stated)) != r.blocks*int64(len(r.arms)) {
		return refusal.New(underived, pointer)
	}
	var names []string
	for _, arm := range r.arms {
		names = append(names, arm.Name)
	}
	var wanted []probe.Wanted
	for _, units := range workload.Ints("prompts") {
		wanted = append(wanted, probe.Wanted{PromptTokens: units, MaxNew: workload.Int("max_new")})
	}
	place := 0
	for block := range r.blocks {
		r.samples = append(r.samples, map[*probe.Arm]*probe.Sample{})
		for _, i := range probe.Order(workload.Int("seed"), block, names) {
			arm, o, at := r.arms[i], stated[place], refusal.Index(pointer, place)
			process := any(nil)
			if arm.Launched {
				process = int64(place)
			}
			err := kind.DemandAll(o, at, []kind.Member{
				{Name: "place", Code: underived, Value: int64(place)},
				{Name: "block", Code: underived, Value: block},
				{Name: "arm", Code: underived, Value: arm.Name},
				{Name: "name", Code: underived, Value: fmt.Sprintf("block-%d", block)},
				{Name: "process", Code: badValue, Value: process},
			})
			if err != nil {
				return err
			}
			s, err := reader.Read(o, arm, wanted, at)
			if err != nil {
				return err
			}
			r.samples[block][arm] = s
			r.count(s)
			place++
		}
	}
	return reader.CheckUsed("/predicate/bodies")
}

// count adds a sample to the counts.
func (r *run) count(s *probe.Sample) {
	r.counts["samples"]++
	r.counts["requests"] += int64(len(s.Requests))
	r.counts["samples_refused"] += kind.Bit(s.Refusal != "")
	r.counts["samples_guarded"] += kind.Bit(s.Guarded(r.probes, "prompt_tokens"))
	for _, request := range s.Requests {
		if n, ok := request.Member("generated").(int64); ok {
			r.counts["tokens"] += n
		}
	}
}
