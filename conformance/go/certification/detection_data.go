package certification

import (
	"slices"

	"lockstep/conformance/go/kind"
	"lockstep/conformance/go/lcj"
	"lockstep/conformance/go/specification"
)

// detectionData is `detection.json`, and what other data say of trials.
type detectionData struct {
	bound int64
	sorts []string
	// defaults are those of certification.json.
	defaults    *lcj.Object
	planMembers []string
	servers     []server
	trials      []declared
}

// server is how a trial's server is started.
type server struct {
	name, options string
}

// declared is what is said of a trial before it is run ([DET-1] to [DET-3]).
type declared struct {
	// operator and edits are empty where there is none.
	name, operator, edits, mode, expected, command string

	server      string
	serverIndex int
	lifetimes   int64
	runs        bool
}

func readDetectionData(spec *specification.Specification) (*detectionData, error) {
	told, err := spec.Object("detection.json")
	if err != nil {
		return nil, err
	}
	mutations, err := spec.Object("mutation.json")
	if err != nil {
		return nil, err
	}
	cases, err := spec.Object("certification.json")
	if err != nil {
		return nil, err
	}
	form, err := spec.Object("schemas/detection.schema.json")
	if err != nil {
		return nil, err
	}
	d := &detectionData{
		bound: told.Int("bound_us"), sorts: told.Texts("sorts"), defaults: cases.Object("defaults"),
		planMembers: form.Object("$defs").Object("plan").Texts("required"),
	}
	for _, one := range told.Objects("servers") {
		d.servers = append(d.servers, server{one.Text("name"), one.Text("options")})
	}
	for _, one := range told.Objects("controls") {
		t := declared{
			name: one.Text("name"), mode: one.Text("mode"), server: one.Text("server"),
			lifetimes: one.Int("lifetimes"), expected: one.Text("expected"), runs: true,
		}
		options := ""
		if t.mode == "fast" {
			options = " --mode fast"
		}
		d.add(t, told.Text("command"), options)
	}
	for _, one := range mutations.Objects("operators") {
		d.add(operatorTrial(one, told), told.Text("command"), " --fault "+one.Text("id"))
	}
	return d, nil
}

// operatorTrial is the trial of an operator ([DET-2]).
func operatorTrial(one, told *lcj.Object) declared {
	id, subsystem := one.Text("id"), one.Text("subsystem")
	t := declared{
		name: id, operator: id, edits: one.Text("edits_sha256"), mode: "invariant", server: "roomy",
		lifetimes: 1, expected: "clean", runs: !slices.Contains(told.Texts("other_backend"), subsystem),
	}
	if one.Text("black_box") != "visible" {
		return t
	}
	t.expected = "caught"
	if slices.Contains(told.Texts("crowded_subsystems"), subsystem) {
		t.server = "crowded"
	}
	for _, placed := range told.Objects("placed") {
		if placed.Text("operator") == id {
			t.server = placed.Text("server")
		}
	}
	return t
}

// add completes a trial by its server and its command.
func (d *detectionData) add(t declared, command, options string) {
	t.serverIndex = slices.IndexFunc(d.servers, func(s server) bool { return s.name == t.server })
	t.command = command + d.servers[t.serverIndex].options + options
	d.trials = append(d.trials, t)
}

// members are what a certificate says of a trial that is declared.
func (t *declared) members() []kind.Member {
	operator, edits := any(nil), any(nil)
	if t.operator != "" {
		operator, edits = t.operator, t.edits
	}
	return []kind.Member{
		{Name: "name", Code: underived, Value: t.name}, {Name: "operator", Code: underived, Value: operator},
		{Name: "edits_sha256", Code: underived, Value: edits}, {Name: "mode", Code: underived, Value: t.mode},
		{Name: "server", Code: underived, Value: t.server},
		{Name: "lifetimes", Code: underived, Value: t.lifetimes},
		{Name: "expected", Code: underived, Value: t.expected},
		{Name: "command", Code: underived, Value: t.command},
	}
}

// countNames are those of [DET-18], in their order.
func (d *detectionData) countNames() []string {
	names := []string{
		"trials", "operators", "visible", "caught", "late", "missed", "invisible", "clean",
		"contradicted", "undecided", "other_backend", "controls", "controls_good", "false_alarms",
		"fast_caught",
	}
	for _, sort := range d.sorts {
		names = append(names, "shown_"+sort)
	}
	return append(names, "slowest_us", "control_lifetimes", "control_rounds", "control_requests",
		"control_pairs")
}
