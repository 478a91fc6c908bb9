package certification

import (
	"slices"

	"lockstep/conformance/go/kind"
	"lockstep/conformance/go/lcj"
	"lockstep/conformance/go/refusal"
	"lockstep/conformance/go/specification"
)

// checkSettings is step 5 ([CERT-19], [CERT-20]).
func checkSettings(predicate *lcj.Object, d *data, positive string) *refusal.Refusal {
	for _, member := range []string{"certifier", "settings"} {
		before := ""
		for i, one := range predicate.Objects(member) {
			if name := one.Text("name"); i > 0 && name <= before {
				return refusal.New(badValue, refusal.Index("/predicate/"+member, i)+"/name")
			}
			before = one.Text("name")
		}
	}
	overridden, turnedOff := []any{}, []any{}
	for _, one := range predicate.Objects("settings") {
		requested, resolved := one.Member("requested"), one.Member("resolved")
		if requested != nil && resolved != nil && requested != resolved {
			overridden = append(overridden, one.Text("name"))
		}
		if slices.Contains(d.features, one.Text("name")) && resolved == "off" && requested != "off" {
			turnedOff = append(turnedOff, one.Text("name"))
		}
	}
	if err := kind.Demand(predicate, "/predicate", "overridden", notDerived, overridden); err != nil {
		return err
	}
	if err := kind.Demand(predicate, "/predicate", "turned_off", notDerived, turnedOff); err != nil {
		return err
	}
	subject := predicate.Object("subject")
	var names []string
	for _, one := range subject.Objects("identity") {
		names = append(names, one.Text("name"))
	}
	if !slices.Equal(names, d.identity) {
		return refusal.New(underived, "/predicate/subject/identity")
	}
	if (subject.Member("positive") == nil) != (positive == "absent") {
		return refusal.New(badValue, "/predicate/subject/positive")
	}
	launch, isThere := subject.Member("launch").(*lcj.Object)
	other, isAsked := subject.Member("positive").(*lcj.Object)
	if isThere && isAsked && launch.Text("command") == other.Text("command") {
		return refusal.New(badValue, "/predicate/subject/positive/command")
	}
	return kind.Demand(predicate, "/predicate", "subject_sha256", badValue, specification.Sha256(lcj.Encode(subject)))
}

// agreement counts the identities that agree with what was recorded, and those that do not.
func agreement(identity []*lcj.Object) (agreeing, differing int64, unread bool) {
	for _, one := range identity {
		recorded, observed := one.Member("recorded"), one.Member("observed")
		unread = unread || observed == nil
		switch {
		case recorded == nil:
		case recorded == observed:
			agreeing++
		default:
			differing++
		}
	}
	return agreeing, differing, unread
}
