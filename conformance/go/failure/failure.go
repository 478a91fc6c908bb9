// Package failure judges what a failure of a case says of itself (fuzz.md, FUZZ-6).
package failure

import (
	"slices"

	"lockstep/conformance/go/lcj"
)

// parts are those of each kind; what two runs of a case differ in has no list.
var parts = map[string][]string{
	"stuck":         {"machine", "policy"},
	"refused":       {"refusal", "fault"},
	"starved":       {"steps"},
	"illegal":       {"relation"},
	"differs_alone": {"logits", "tokens", "ending"},
}

// Misstated gives the member, part or code, that the failure's kind does not have so, or nothing.
func Misstated(failure *lcj.Object) string {
	kind, code := failure.Text("kind"), failure.Text("code")
	if listed, has := parts[kind]; has && !slices.Contains(listed, failure.Text("part")) {
		return "part"
	}
	silent := slices.Contains([]string{"starved", "illegal", "differs_alone"}, kind)
	if silent && code != "" || kind == "refused" && code == "" {
		return "code"
	}
	return ""
}
