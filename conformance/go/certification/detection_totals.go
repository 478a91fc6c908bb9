package certification

import (
	"slices"

	"lockstep/conformance/go/envelope"
	"lockstep/conformance/go/kind"
	"lockstep/conformance/go/lcj"
	"lockstep/conformance/go/refusal"
	"lockstep/conformance/go/specification"
	"lockstep/conformance/go/statement"
)

// checkCertificate is [DET-14].
func (t *trial) checkCertificate() *refusal.Refusal {
	sort, pointer := "", t.pointer+"/certificate"
	if t.shown != nil {
		sort = t.shown.Text("sort")
	}
	if (t.certificate != nil) != (t.runs && sort != "no_answer") {
		return refusal.New(badValue, pointer)
	}
	if t.certificate == nil {
		return nil
	}
	verdict, differs := t.certificate.Text("verdict"), sort == "difference" || sort == "rescoring"
	if differs && verdict != "DIVERGENT" || sort == "" && verdict == "DIVERGENT" || sort != "" && verdict == "CLEAN" {
		return refusal.New(notDerived, pointer+"/verdict")
	}
	var wanted []kind.Member
	if sort == "" {
		for _, name := range []string{"failures", "cells_hang", "cells_error", "cells_malformed"} {
			wanted = append(wanted, kind.Member{Name: name, Code: recount, Value: int64(0)})
		}
	}
	if verdict == "CLEAN" {
		size := int64(len(t.cells))
		wanted = append(wanted, kind.Member{Name: "cases_planned", Code: recount, Value: int64(len(t.plan.cases))},
			kind.Member{Name: "cells_planned", Code: recount, Value: size},
			kind.Member{Name: "cells_run", Code: recount, Value: size},
			kind.Member{Name: "lifetimes", Code: recount, Value: t.lifetimes})
	}
	return kind.DemandAll(t.certificate.Object("counts"), pointer+"/counts", wanted)
}

// counts is [DET-18].
func (d *detection) counts() map[string]int64 {
	c := map[string]int64{"trials": int64(len(d.trials))}
	for _, t := range d.trials {
		outcome := d.outcome(t)
		if t.shown != nil {
			c["shown_"+t.shown.Text("sort")]++
		}
		switch {
		case t.operator != "":
			c["operators"]++
			d.countOperator(c, t, outcome)
		case t.expected == "any":
			c["fast_caught"] += kind.Bit(outcome == "caught")
		default:
			c["controls"]++
			c["controls_good"] += kind.Bit(outcome == "clean" || outcome == t.expected)
			c["false_alarms"] += kind.Bit(outcome == "caught")
			if t.certificate == nil {
				continue
			}
			for _, name := range []string{"lifetimes", "rounds", "requests", "pairs"} {
				c["control_"+name] += t.certificate.Object("counts").Int(name)
			}
		}
	}
	return c
}

// countOperator counts the trial of an operator.
func (d *detection) countOperator(c map[string]int64, t *trial, outcome string) {
	if outcome == "not_run" {
		c["other_backend"]++
		return
	}
	if t.expected == "caught" {
		c["visible"]++
		c["caught"] += kind.Bit(outcome == "caught")
		c["late"] += kind.Bit(outcome == "late")
		c["missed"] += kind.Bit(outcome == "clean" || outcome == "quiet")
		if outcome == "caught" {
			c["slowest_us"] = max(c["slowest_us"], t.stated.Int("elapsed_us"))
		}
		return
	}
	c["invisible"]++
	c["clean"] += kind.Bit(outcome == "clean")
	c["contradicted"] += kind.Bit(outcome == "caught")
	c["undecided"] += kind.Bit(outcome == "quiet")
}

// verdict is [DET-17].
func (d *detection) verdict(c map[string]int64) string {
	switch {
	case c["false_alarms"] > 0:
		return "FALSE_ALARM"
	case c["caught"] != c["visible"]:
		return "MISSED"
	case slices.ContainsFunc(d.trials, func(t *trial) bool {
		return t.runs && t.expected == "clean" && d.outcome(t) != "clean"
	}):
		return "INCONCLUSIVE"
	}
	return "DETECTED"
}

// checkEvidence derives the certificates of trials that are at hand ([DET-19]).
func (d *detection) checkEvidence(evidence kind.Evidence) *refusal.Refusal {
	if evidence == nil {
		return nil
	}
	for _, t := range d.trials {
		if t.certificate == nil {
			continue
		}
		pointer := t.pointer + "/certificate"
		data, err := evidence("detection/"+t.name+".cert.json", envelope.DefaultLimits.EnvelopeBytes)
		if err != nil && err.Code == "EVIDENCE_MISSING" {
			continue
		}
		if err != nil {
			return refusal.New(err.Code, pointer+"/sha256")
		}
		if specification.Sha256(data) != t.certificate.Text("sha256") {
			return refusal.New("EVIDENCE_DIGEST_MISMATCH", pointer+"/sha256")
		}
		held, found, err := d.servers.read(data)
		if err != nil {
			return refusal.New(err.Code, pointer)
		}
		if !t.says(held, found) {
			return refusal.New(notDerived, pointer)
		}
	}
	return nil
}

// read derives a certificate of this kind; its signatures are not judged.
func (k *Kind) read(data []byte) (*lcj.Object, *kind.Derived, *refusal.Refusal) {
	signed, err := envelope.Read(data, envelope.DefaultLimits)
	if err != nil {
		return nil, nil, err
	}
	stated, err := statement.Read(signed.Payload, map[string]statement.Kind{
		PredicateType: {Schema: k.Schema, SpecDigest: k.SpecDigest},
	})
	if err == nil {
		err = stated.CheckSubjects(k.SpecDigest, "")
	}
	if err != nil {
		return nil, nil, err
	}
	found, err := k.Derive(stated, nil, false)
	return stated.Predicate, found, err
}

// says whether a certificate is what the trial says of it.
func (t *trial) says(held *lcj.Object, found *kind.Derived) bool {
	launch, launched := held.Object("subject").Member("launch").(*lcj.Object)
	if !launched || launch.Text("command") != t.command || found.Verdict != t.certificate.Text("verdict") {
		return false
	}
	for _, name := range countNames {
		if found.Counts[name] != t.certificate.Object("counts").Int(name) {
			return false
		}
	}
	if !t.planIs(held.Object("plan")) {
		return false
	}
	if t.shown == nil {
		return true
	}
	for _, one := range t.shown.Objects("answers") {
		r := heldRound(held, one.Int("cell"), one)
		if r == nil {
			return false
		}
		entry, answered := r.List("outputs")[one.Int("place")].(int64)
		if !answered || !lcj.Equal(held.Objects("outputs")[entry], one.Object("output")) {
			return false
		}
	}
	return t.saysFailure(held) && t.saysReuse(held)
}

// planIs compares the trial's plan with one that is stated.
func (t *trial) planIs(stated *lcj.Object) bool {
	return lcj.Equal(t.planObject, stated)
}

func (t *trial) saysFailure(held *lcj.Object) bool {
	failure, ok := t.shown.Member("failure").(*lcj.Object)
	if !ok {
		return true
	}
	told := lcj.NewObject()
	for _, name := range []string{"request", "kind", "status", "detail"} {
		told.Set(name, failure.Member(name))
	}
	r := heldRound(held, t.shown.Int("cell"), failure)
	return r != nil && slices.ContainsFunc(r.Objects("failures"), func(one *lcj.Object) bool {
		return lcj.Equal(one, told)
	})
}

func (t *trial) saysReuse(held *lcj.Object) bool {
	reused, ok := t.shown.Member("reused").(*lcj.Object)
	if !ok {
		return true
	}
	r := heldRound(held, t.shown.Int("cell"), reused)
	return r != nil && lcj.Equal(r.Member("cached"), reused.Member("cached"))
}

// heldRound is a round of a certificate, or nil.
func heldRound(held *lcj.Object, cell int64, where *lcj.Object) *lcj.Object {
	rounds := held.Objects("cells")[cell].Objects("rounds")
	at := slices.IndexFunc(rounds, func(r *lcj.Object) bool {
		return r.Int("lifetime") == where.Int("lifetime") && r.Int("number") == where.Int("number")
	})
	if at < 0 {
		return nil
	}
	return rounds[at]
}
