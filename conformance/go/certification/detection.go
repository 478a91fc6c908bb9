package certification

import (
	"fmt"
	"slices"

	"lockstep/conformance/go/kind"
	"lockstep/conformance/go/lcj"
	"lockstep/conformance/go/refusal"
	"lockstep/conformance/go/schema"
	"lockstep/conformance/go/specification"
	"lockstep/conformance/go/statement"
)

// DetectionType is the predicate type of the kind `detection` (detection.md).
const DetectionType = "urn:lockstep:certificate:detection:v1"

// Detection is that kind with its data.
type Detection struct {
	Schema     *schema.Schema
	SpecDigest string

	servers *Kind
	data    *detectionData
	// digests are those of mutation.json and certification.json, by their members.
	digests map[string]string
}

// NewDetection reads the kind's data. servers is the kind of a trial's certificate.
func NewDetection(spec *specification.Specification, servers *Kind) (*Detection, error) {
	k := &Detection{servers: servers, digests: map[string]string{}}
	var err error
	if k.Schema, err = spec.Schema("detection"); err != nil {
		return nil, err
	}
	for _, name := range []string{"mutation", "certification"} {
		text, err := spec.Bytes(name + ".json")
		if err != nil {
			return nil, err
		}
		k.digests[name+"_sha256"] = specification.Sha256(text)
	}
	if k.data, err = readDetectionData(spec); err != nil {
		return nil, err
	}
	k.SpecDigest, err = spec.Digest(
		"schemas/detection.schema.json", "detection.json", "certification.json", "mutation.json")
	return k, err
}

// trial is one of a certificate, with what is declared of it and its plan.
type trial struct {
	*declared
	stated *lcj.Object
	plan   *plan
	// planObject is the plan as a document.
	planObject *lcj.Object
	cells      []*cell
	// shown and certificate are nil where they are null.
	shown, certificate *lcj.Object
	pointer            string
}

// detection is a derivation on its way.
type detection struct {
	*Detection
	trials []*trial
}

// Derive is the order of derivation of detection.md.
func (k *Detection) Derive(stated *statement.Statement, evidence kind.Evidence, _ bool) (*kind.Derived, *refusal.Refusal) {
	d, predicate := &detection{Detection: k}, stated.Predicate
	for _, name := range []string{"mutation_sha256", "certification_sha256"} {
		if err := kind.Demand(predicate, "/predicate", name, underived, k.digests[name]); err != nil {
			return nil, err
		}
	}
	if err := k.checkDefault(predicate); err != nil {
		return nil, err
	}
	if err := d.readTrials(predicate); err != nil {
		return nil, err
	}
	for _, t := range d.trials {
		if err := t.checkShown(); err != nil {
			return nil, err
		}
	}
	for _, t := range d.trials {
		if err := t.checkCertificate(); err != nil {
			return nil, err
		}
		if err := kind.Demand(t.stated, t.pointer, "outcome", notDerived, d.outcome(t)); err != nil {
			return nil, err
		}
	}
	counts := d.counts()
	verdict := d.verdict(counts)
	err := kind.DemandAll(predicate, "/predicate", []kind.Member{
		{Name: "blind", Code: notDerived, Value: d.names("clean", "clean")},
		{Name: "not_run", Code: notDerived, Value: d.names("", "not_run")},
	})
	if err != nil {
		return nil, err
	}
	if err := kind.CheckCounts(predicate, k.data.countNames(), counts); err != nil {
		return nil, err
	}
	if err := kind.Demand(predicate, "/predicate", "verdict", notDerived, verdict); err != nil {
		return nil, err
	}
	if err := d.checkEvidence(evidence); err != nil {
		return nil, err
	}
	if err := stated.CheckSubject("trials", d.subject()); err != nil {
		return nil, err
	}
	return &kind.Derived{Verdict: verdict, Counts: counts}, nil
}

// checkDefault is step 2 ([DET-4]).
func (k *Detection) checkDefault(predicate *lcj.Object) *refusal.Refusal {
	stated, known := predicate.Object("plan"), k.servers.data
	p := readPlan(stated)
	if err := p.check(known, true); err != nil {
		return err
	}
	cases, caches := []any{}, []any{}
	for _, one := range known.cases {
		if p.offered(one.needs) {
			cases = append(cases, one.name)
		}
	}
	for _, value := range known.values["cache"] {
		if need, has := known.cacheNeeds[value]; !has || p.offered([]string{need}) {
			caches = append(caches, value)
		}
	}
	wanted := lcj.NewObject().Set("form", "tokens").Set("observable", "logprobs").
		Set("cases", cases).Set("cache", caches).Set("lifetimes", int64(1)).
		Set("positive", "absent").Set("positive_cases", []any{})
	for _, name := range []string{"seed", "max_new", "top", "design", "filler", "order", "fixed_width",
		"varying_widths", "repeats", "priming"} {
		wanted.Set(name, k.data.defaults.Member(name))
	}
	for _, name := range k.data.planMembers {
		value, has := wanted.Get(name)
		if !has {
			continue
		}
		if err := kind.Demand(stated, "/predicate/plan", name, underived, value); err != nil {
			return err
		}
	}
	contexts := predicate.Ints("contexts")
	if len(contexts) != len(k.data.servers) {
		return refusal.New(underived, "/predicate/contexts")
	}
	if contexts[0] != p.context {
		return refusal.Expecting(underived, "/predicate/contexts/0", fmt.Sprint(p.context), fmt.Sprint(contexts[0]))
	}
	return nil
}

// offered says whether capabilities are among those of the plan.
func (p *plan) offered(needs []string) bool {
	return !slices.ContainsFunc(needs, func(need string) bool { return !slices.Contains(p.offers, need) })
}

// readTrials is step 3.
func (d *detection) readTrials(predicate *lcj.Object) *refusal.Refusal {
	stated := predicate.Objects("trials")
	if len(stated) != len(d.data.trials) {
		return refusal.New(underived, "/predicate/trials")
	}
	planned := map[string][]*cell{}
	for i := range d.data.trials {
		t := &trial{declared: &d.data.trials[i], stated: stated[i], pointer: refusal.Index("/predicate/trials", i)}
		if err := kind.DemandAll(t.stated, t.pointer, t.members()); err != nil {
			return err
		}
		t.shown, _ = t.stated.Member("shown").(*lcj.Object)
		t.certificate, _ = t.stated.Member("certificate").(*lcj.Object)
		for _, name := range []string{"elapsed_us", "certificate", "shown"} {
			there := t.stated.Member(name) != nil
			if there && !t.runs || !there && t.runs && name == "elapsed_us" {
				return refusal.New(badValue, t.pointer+"/"+name)
			}
		}
		text := t.setPlan(d, predicate)
		if planned[text] == nil {
			planned[text] = t.plan.cells(d.servers.data)
		}
		t.cells = planned[text]
		d.trials = append(d.trials, t)
	}
	return nil
}

// setPlan makes the plan of a trial ([DET-4]), and gives it as a text.
func (t *trial) setPlan(d *detection, predicate *lcj.Object) string {
	object := lcj.NewObject()
	for _, name := range d.data.planMembers {
		object.Set(name, predicate.Object("plan").Member(name))
	}
	object.Set("lifetimes", t.lifetimes).Set("context", predicate.Ints("contexts")[t.serverIndex])
	if t.operator == "" && t.mode == "invariant" {
		object.Set("positive", "mode_off").Set("positive_cases", d.data.defaults.List("positive_cases"))
	}
	t.plan, t.planObject = readPlan(object), object
	return string(lcj.Encode(object))
}

// outcome is [DET-15].
func (d *detection) outcome(t *trial) string {
	switch {
	case !t.runs:
		return "not_run"
	case t.shown != nil && t.expected == "caught" && t.stated.Int("elapsed_us") > d.data.bound:
		return "late"
	case t.shown != nil:
		return "caught"
	case t.certificate.Text("verdict") == "CLEAN":
		return "clean"
	}
	return "quiet"
}

// names are those of the operators of an outcome, expected or, if that is empty, whatever is.
func (d *detection) names(expected, outcome string) []any {
	names := []any{}
	for _, t := range d.trials {
		if t.operator != "" && (expected == "" || t.expected == expected) && d.outcome(t) == outcome {
			names = append(names, t.name)
		}
	}
	return names
}

// subject is the digest of the certificates' digests ([DET-20]).
func (d *detection) subject() string {
	held := lcj.NewObject()
	for _, t := range d.trials {
		digest := any(nil)
		if t.certificate != nil {
			digest = t.certificate.Text("sha256")
		}
		held.Set(t.name, digest)
	}
	return specification.Sha256(lcj.Encode(held))
}
