package hunt

import (
	"slices"

	"lockstep/conformance/go/lcj"
	"lockstep/conformance/go/refusal"
)

const failedOpen = "H9_GUARD_FAILED_OPEN"

// checkChecks is [HUNT-13].
func (d *derivation) checkChecks() *refusal.Refusal {
	stated := d.predicate.Objects("checks")
	registered := d.kind.data.Objects("checks")
	for i, check := range registered {
		pointer := refusal.Index("/predicate/checks", i)
		name := check.Text("name")
		if i >= len(stated) || stated[i].Text("name") != name {
			return refusal.New(failedOpen, pointer+"/name")
		}
		outcome := stated[i].Text("outcome")
		admitted := outcome == "passed" || outcome == "not_made"
		if check.Text("basis") == "derived" {
			derived := d.outcome(name)
			admitted = outcome == derived && derived != "failed"
		}
		if !admitted {
			return refusal.New(failedOpen, pointer+"/outcome")
		}
	}
	return nil
}

// outcome is the outcome of a derived check.
func (d *derivation) outcome(name string) string {
	passesIf := func(condition bool) string {
		if condition {
			return "passed"
		}
		return "failed"
	}
	switch name {
	case "both_exactness_classes_occur":
		if !d.bothClassesPossible() {
			return "vacuous"
		}
		return passesIf(d.counts["exact_byte"] > 0 && d.counts["exact_token"] > 0)
	case "token_rows_differ_on_padding_only":
		if d.counts["exact_token"] == 0 {
			return "vacuous"
		}
	case "reference_tokens_are_not_degenerate":
		references := d.predicate.Object("transfer").Objects("references")
		if len(references) == 0 {
			return "not_made"
		}
		return passesIf(!slices.ContainsFunc(references, func(entry *lcj.Object) bool {
			tokens := entry.Ints("tokens")
			return !slices.ContainsFunc(tokens, func(token int64) bool { return token != tokens[0] })
		}))
	case "layouts_are_distinct_declarations":
		for i, a := range d.layouts {
			for _, b := range d.layouts[:i] {
				if a.SameDeclaration(b.Layout) {
					return "failed"
				}
			}
		}
	case "lossless_images_are_distinct":
		if d.losslessImageRepeats() {
			return "vacuous"
		}
	case "layouts_carry_pinned_citations":
		for _, found := range d.layouts {
			if !found.HasCommit {
				return "not_made"
			}
		}
	case "lossless_layouts_have_lemmas":
		if !d.losslessHaveLemmas() {
			return "not_made"
		}
	}
	return "passed"
}

// bothClassesPossible says whether a lossless layout has padding, and whether a pair of two
// lossless members of one group exists whose source has none.
func (d *derivation) bothClassesPossible() bool {
	padded, exact := false, false
	for _, group := range d.groups {
		for _, member := range group.lossless {
			padded = padded || member.realised.Padding > 0
			exact = exact || member.realised.Padding == 0 && len(group.lossless) > 1
		}
	}
	return padded && exact
}

func (d *derivation) losslessImageRepeats() bool {
	for _, group := range d.groups {
		seen := map[string]bool{}
		for _, member := range group.lossless {
			if seen[member.image] {
				return true
			}
			seen[member.image] = true
		}
	}
	return false
}

// checkKnownLimits is [HUNT-14].
func (d *derivation) checkKnownLimits() *refusal.Refusal {
	stated := d.predicate.Objects("known_limits")
	for i, name := range d.kind.data.Texts("known_limits") {
		pointer := refusal.Index("/predicate/known_limits", i)
		if i >= len(stated) || stated[i].Text("name") != name {
			return refusal.New(failedOpen, pointer+"/name")
		}
		if !stated[i].Bool("holds") {
			return refusal.New(failedOpen, pointer+"/holds")
		}
	}
	return nil
}

// checkFalsifications is [HUNT-15].
func (d *derivation) checkFalsifications() *refusal.Refusal {
	const pointer = "/predicate/falsifications"
	stated := d.predicate.Objects("falsifications")
	expected := map[string]string{}
	for _, entry := range d.kind.falsifications {
		expected[entry.name] = entry.expected
	}
	seen := map[string]bool{}
	for i, entry := range stated {
		at, name := refusal.Index(pointer, i), entry.Text("name")
		code, registered := expected[name]
		if !registered || seen[name] {
			return refusal.New("FOIL_NOT_DISTINCT", at+"/name")
		}
		seen[name] = true
		if entry.Text("expected") != code {
			return refusal.New("FOIL_NOT_DISTINCT", at+"/expected")
		}
	}
	if len(stated) != len(d.kind.falsifications) {
		return refusal.New("FLOOR_NOT_MET", pointer)
	}
	for i, entry := range stated {
		if entry.Text("name") != d.kind.falsifications[i].name {
			return refusal.New("FLOOR_NOT_MET", pointer)
		}
	}
	for i, entry := range stated {
		if entry.Text("actual") != entry.Text("expected") {
			return refusal.New(failedOpen, refusal.Index(pointer, i)+"/actual")
		}
	}
	return nil
}
