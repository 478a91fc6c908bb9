package finding

import (
	"slices"

	"lockstep/conformance/go/lcj"
	"lockstep/conformance/go/refusal"
	"lockstep/conformance/go/replay"
	"lockstep/conformance/go/specification"
)

// countNames are in the order of [FIND-10].
var countNames = []string{
	"free", "held", "removals", "distinct", "illegal", "passes", "fails_otherwise",
	"requests", "prompt_tokens", "new_tokens", "steps", "actions",
}

// fits says whether an outcome is illegal exactly where the rules say so, and its code of the right
// form ([FIND-7], [FIND-10]).
func (d *derivation) fits(stated *lcj.Object, found replay.Rehearsal) bool {
	outcome, code := stated.Text("outcome"), stated.Text("code")
	if found.Code != "" || outcome == "illegal" {
		return outcome == "illegal" && code == found.Code
	}
	if outcome == "fails_otherwise" {
		return slices.Contains(d.kinds, code)
	}
	return code == ""
}

// checkRemovals is step 5.
func (d *derivation) checkRemovals() *refusal.Refusal {
	const pointer = "/predicate/removals"
	stated := d.predicate.Objects("removals")
	places := enumerate(d.stated, d.free)
	if len(stated) != len(places) {
		return refusal.New(notDerived, pointer)
	}
	cases := make([]*lcj.Object, len(places))
	for i, removal := range places {
		cases[i] = removal.from(d.stated)
		digest := specification.Sha256(lcj.Encode(cases[i]))
		if stated[i].Text("dimension") != removal.dimension ||
			!slices.Equal(stated[i].Ints("place"), removal.place) || stated[i].Text("sha256") != digest {
			return refusal.New(notDerived, refusal.Index(pointer, i))
		}
	}
	before := map[string]*lcj.Object{}
	for i, one := range stated {
		if !d.judges(one, cases[i], before) {
			return refusal.New(outcomeDiffers, refusal.Index(pointer, i))
		}
	}
	for i, one := range stated {
		if one.Text("outcome") == "reproduces" {
			return refusal.New(notMinimal, refusal.Index(pointer, i))
		}
	}
	return nil
}

// judges says whether a removal's outcome is what can be derived of it.
func (d *derivation) judges(one, without *lcj.Object, before map[string]*lcj.Object) bool {
	found := d.rehearse(without)
	if !d.fits(one, found) {
		return false
	}
	if d.derived && found.Code == "" && (one.Text("outcome") == "reproduces") != found.Stuck {
		return false
	}
	same, known := before[one.Text("sha256")]
	before[one.Text("sha256")] = one
	return !known || same.Text("outcome") == one.Text("outcome") && same.Text("code") == one.Text("code")
}

// counts are [FIND-10]'s.
func (d *derivation) counts() map[string]int64 {
	counts := map[string]int64{
		"free": int64(len(d.free)), "held": int64(len(d.dimensions) - len(d.free)),
		"illegal": 0, "passes": 0, "fails_otherwise": 0, "requests": 0, "prompt_tokens": 0, "new_tokens": 0,
		"steps": int64(len(d.stated.List("steps"))), "actions": 0,
	}
	digests := map[string]bool{}
	for _, one := range d.predicate.Objects("removals") {
		digests[one.Text("sha256")] = true
		counts[one.Text("outcome")]++
	}
	counts["removals"], counts["distinct"] = int64(len(d.predicate.List("removals"))), int64(len(digests))
	for _, request := range d.stated.Object("workload").Objects("requests") {
		counts["requests"]++
		counts["prompt_tokens"] += int64(len(request.List("prompt")))
		counts["new_tokens"] += request.Int("max_new")
	}
	for _, actions := range d.stated.List("steps") {
		counts["actions"] += int64(len(actions.([]any)))
	}
	return counts
}
