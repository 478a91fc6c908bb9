// Package measurement derives certificates of the kind `measurement` (measurement.md).
package measurement

import (
	"slices"

	"lockstep/conformance/go/kind"
	"lockstep/conformance/go/lcj"
	"lockstep/conformance/go/probe"
	"lockstep/conformance/go/refusal"
	"lockstep/conformance/go/schema"
	"lockstep/conformance/go/specification"
	"lockstep/conformance/go/statement"
)

// PredicateType is the kind's predicate type.
const PredicateType = "urn:lockstep:certificate:measurement:v1"

const (
	badValue     = "BAD_VALUE"
	recount      = "H10_COUNTS_DO_NOT_RECOMPUTE"
	notDerived   = "OUTCOME_NOT_DERIVED"
	underived    = "COVERAGE_DENOMINATOR_NOT_DERIVED"
	notRate      = "STATISTICS_DO_NOT_RECOMPUTE"
	otherUnit    = "UNIT_MISMATCH"
	otherProfile = "PROFILE_MISMATCH"
	otherKind    = "READING_KIND"
)

// Kind is the kind with its data.
type Kind struct {
	Schema     *schema.Schema
	SpecDigest string

	probes     *probe.Data
	words      int
	bases      bases
	quantities map[string]quantity
	// places are those of quantities in the data.
	places    map[string]int
	members   []string
	allowance int64
	laws      map[string]*law
	kinds     []string
	across    []string
	notRun    []string
	answered  map[question]bool
}

// quantity has its unit, and the question that a metric must answer, or nil.
type quantity struct {
	unit     unit
	question any
}

// NewKind reads the kind's data.
func NewKind(spec *specification.Specification) (*Kind, error) {
	k := &Kind{quantities: map[string]quantity{}, places: map[string]int{}, laws: map[string]*law{}}
	var err error
	if k.Schema, err = spec.Schema("measurement"); err != nil {
		return nil, err
	}
	data, err := spec.Object("measurement.json")
	if err != nil {
		return nil, err
	}
	k.bases = readBases(data.Object("units"))
	for i, one := range data.Objects("quantities") {
		k.places[one.Text("name")] = i
		measured, _ := k.bases.parse(one.Text("unit"))
		k.quantities[one.Text("name")] = quantity{measured, one.Member("question")}
	}
	for _, one := range data.Objects("laws") {
		k.laws[one.Text("name")] = readLaw(one)
	}
	k.members, k.kinds, k.across = data.Texts("profile"), data.Texts("kinds"), data.Texts("across")
	k.allowance, k.notRun = data.Object("attribution").Int("allowance_permille"), data.Texts("not_run")
	if k.answered, err = readPairings(spec); err != nil {
		return nil, err
	}
	if k.probes, err = probe.Read(spec); err != nil {
		return nil, err
	}
	servers, err := spec.Object("certification.json")
	if err != nil {
		return nil, err
	}
	k.words = len(servers.List("words"))
	k.SpecDigest, err = spec.Digest("schemas/measurement.schema.json", "measurement.json",
		"certification.json", "metrics.toml", "probe.json")
	return k, err
}

// derivation is one on the way to its verdict. Its methods are the steps of [MEAS-15]; each gives the
// first offence in it, or nil.
type derivation struct {
	*Kind
	predicate *lcj.Object
	// probed is nil where nothing was measured for this claim.
	probed   *probe.Run
	servers  map[string]*probe.Arm
	samples  map[string]*probe.Sample
	sources  map[string]bool
	profiles map[string]*lcj.Object
	arms     map[string]*arm
	// records are in order.
	records  []*record
	byID     map[string]*record
	fits     map[string]*fit
	readings map[string]*reading
	counts   map[string]int64
}

// arm is one way in which a server ran.
type arm struct {
	id, engine, profile string
	launch              int64
	// budget is nil where it is not known.
	budget *int64
}

// Derive is the order of derivation.
func (k *Kind) Derive(stated *statement.Statement, _ kind.Evidence, _ bool) (*kind.Derived, *refusal.Refusal) {
	d := &derivation{
		Kind: k, predicate: stated.Predicate, samples: map[string]*probe.Sample{},
		servers: map[string]*probe.Arm{},
		sources: map[string]bool{}, profiles: map[string]*lcj.Object{}, arms: map[string]*arm{},
		byID: map[string]*record{}, fits: map[string]*fit{}, readings: map[string]*reading{},
		counts: map[string]int64{},
	}
	steps := []func() *refusal.Refusal{
		d.checkProbes, d.checkNames, d.checkArms, d.checkRecords, d.checkFits, d.checkDirect,
		d.checkOperations, d.checkRoutes, d.checkPublished, d.checkGates, d.checkTables,
		d.checkCounts,
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return nil, err
		}
	}
	verdict := d.verdict()
	if err := kind.Demand(stated.Predicate, "/predicate", "verdict", notDerived, verdict); err != nil {
		return nil, err
	}
	if err := kind.CheckNotRun(stated.Predicate, k.notRun); err != nil {
		return nil, err
	}
	held := lcj.NewObject().Set("records", stated.Predicate.List("records"))
	if err := stated.CheckSubject("records", specification.Sha256(lcj.Encode(held))); err != nil {
		return nil, err
	}
	return &kind.Derived{Verdict: verdict, Counts: d.counts}, nil
}

// checkProbes is step 0.
func (d *derivation) checkProbes() *refusal.Refusal {
	run, there := d.predicate.Member("probes").(*lcj.Object)
	if !there {
		return nil
	}
	var err *refusal.Refusal
	if d.probed, err = d.Kind.probes.ReadRun(run, d.words, "/predicate/probes"); err != nil {
		return err
	}
	for _, server := range d.probed.Arms {
		d.servers[server.Name] = server
	}
	for _, s := range d.probed.Samples {
		d.samples[s.Name] = s
	}
	return nil
}

// checkNames is the first half of step 1.
func (d *derivation) checkNames() *refusal.Refusal {
	for _, list := range []string{"sources", "profiles", "arms", "records"} {
		if err := distinct(d.predicate.Objects(list), "/predicate/"+list, "id"); err != nil {
			return err
		}
	}
	for _, one := range d.predicate.Objects("sources") {
		d.sources[one.Text("id")] = true
	}
	known := map[string]bool{}
	for i, one := range d.predicate.Objects("profiles") {
		d.profiles[one.Text("id")] = one
		told := []any{}
		for _, member := range d.members {
			told = append(told, one.Member(member))
		}
		written := string(lcj.Encode(told))
		if known[written] {
			return refusal.New(badValue, refusal.Index("/predicate/profiles", i))
		}
		known[written] = true
	}
	return nil
}

// distinct sees that the names of a list are told apart ([MEAS-1]).
func distinct(list []*lcj.Object, pointer, member string) *refusal.Refusal {
	names := map[string]bool{}
	for i, one := range list {
		if names[one.Text(member)] {
			return refusal.New(badValue, refusal.Index(pointer, i)+"/"+member)
		}
		names[one.Text(member)] = true
	}
	return nil
}

// checkArms is the second half of step 1 ([MEAS-3]).
func (d *derivation) checkArms() *refusal.Refusal {
	for i, o := range d.predicate.Objects("arms") {
		at := refusal.Index("/predicate/arms", i)
		found := &arm{
			o.Text("id"), o.Text("engine"), o.Text("profile"), o.Int("launch"),
			lcj.Optional[int64](o, "budget_tokens"),
		}
		d.arms[found.id] = found
		if d.profiles[found.profile] == nil {
			return refusal.New(badValue, at+"/profile")
		}
		if server := d.servers[found.id]; server != nil {
			if err := d.checkServer(server, o, at); err != nil {
				return err
			}
		}
		settings := o.Objects("settings")
		if err := distinct(settings, at+"/settings", "name"); err != nil {
			return err
		}
		for k, setting := range settings {
			cause := causeOf(setting)
			err := kind.DemandAll(setting, refusal.Index(at+"/settings", k), []kind.Member{
				{Name: "cause", Code: notDerived, Value: cause},
				{Name: "chosen", Code: notDerived, Value: cause == "requested"},
			})
			if err != nil {
				return err
			}
			d.counts["settings"]++
			d.counts["settings_unchosen"] += kind.Bit(cause != "requested")
		}
	}
	return nil
}

// checkServer sees that an arm is what probes found of the server of its name.
func (d *derivation) checkServer(server *probe.Arm, o *lcj.Object, at string) *refusal.Refusal {
	err := kind.DemandAll(o, at, []kind.Member{
		{Name: "engine", Code: badValue, Value: server.Adapter},
		{Name: "budget_tokens", Code: notRate, Value: d.probed.Budget(server)},
	})
	if err != nil {
		return err
	}
	settings := o.Objects("settings")
	alike := func(told, found *lcj.Object) bool { return told.Text("name") == found.Text("name") }
	if !slices.EqualFunc(settings, server.Resolved, alike) {
		return refusal.New(underived, at+"/settings")
	}
	for k, found := range server.Resolved {
		err := kind.DemandAll(settings[k], refusal.Index(at+"/settings", k), []kind.Member{
			{Name: "requested", Code: badValue, Value: found.Member("requested")},
			{Name: "effective", Code: badValue, Value: found.Member("resolved")},
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func causeOf(setting *lcj.Object) string {
	switch requested := setting.Member("requested"); {
	case requested != nil && requested == setting.Member("effective"):
		return "requested"
	case requested != nil:
		return "altered"
	case setting.Member("failure") != nil:
		return "absorbed_failure"
	}
	return "resolved_default"
}
