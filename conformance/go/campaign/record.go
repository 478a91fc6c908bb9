package campaign

import (
	"slices"
	"strings"

	"lockstep/conformance/go/failure"
	"lockstep/conformance/go/lcj"
	"lockstep/conformance/go/refusal"
	"lockstep/conformance/go/relation"
)

// Outcomes of [FUZZ-7].
const (
	clean   = "clean"
	refused = "refused"
	failed  = "failed"
	notRun  = "not_run"
)

const neverFits = "REQUEST_NEVER_FITS"

// record is a record of the predicate, with its places looked up.
type record struct {
	stated  *lcj.Object
	outcome string
	failure *lcj.Object
	// cells and predicates are places.
	cells, predicates []int64
	grams             []relation.Gram
}

// readRecord is step 4 of one record, but for its seed and its parent.
func (d *derivation) readRecord(stated *lcj.Object, at string) (*record, *refusal.Refusal) {
	r := &record{stated: stated, cells: stated.Ints("cells"), predicates: stated.Ints("predicates")}
	r.failure, _ = stated.Member("failure").(*lcj.Object)
	for _, list := range []struct {
		name string
		size int
	}{
		{"cells", len(d.relation.Cells)}, {"n_grams", len(d.table)}, {"predicates", len(d.data.predicates)},
	} {
		before := int64(-1)
		for i, place := range stated.Ints(list.name) {
			if place <= before || place >= int64(list.size) {
				return nil, refusal.New(badValue, refusal.Index(at+"/"+list.name, i))
			}
			before = place
		}
	}
	for _, place := range stated.Ints("n_grams") {
		r.grams = append(r.grams, d.table[place])
	}
	for _, gram := range r.grams {
		if events := gram.Events(); len(events) == 3 &&
			!(r.shows(relation.Join(events[:2])) && r.shows(relation.Join(events[1:]))) {
			return nil, refusal.New(badValue, at+"/n_grams")
		}
	}
	r.outcome = r.derived()
	if stated.Text("outcome") != r.outcome {
		return nil, refusal.Expecting(outcomeNotDerived, at+"/outcome", r.outcome, stated.Text("outcome"))
	}
	if member := d.misformed(r); member != "" {
		return nil, refusal.New(badValue, at+"/"+member)
	}
	return r, nil
}

func (r *record) shows(gram relation.Gram) bool { return slices.Contains(r.grams, gram) }

// derived is the outcome that failure and reason give ([FUZZ-10]).
func (r *record) derived() string {
	switch reason := r.stated.Text("reason"); {
	case r.failure != nil:
		return failed
	case reason == neverFits:
		return refused
	case reason != "":
		return notRun
	}
	return clean
}

// misformed gives the first member that [FUZZ-10] forbids, or nothing.
func (d *derivation) misformed(r *record) string {
	switch r.outcome {
	case failed:
		return r.misformedFailure()
	case clean:
		return d.misformedClean(r)
	}
	outside := func(place int64) bool { return r.outcome == notRun || !d.data.atCase[place] }
	requests := r.stated.Int("requests")
	return first([]check{
		{"twice", r.stated.Member("twice") == nil},
		{"alone", r.stated.Member("alone") == nil},
		{"trajectory_sha256", r.stated.Member("trajectory_sha256") == nil},
		{"requests", r.outcome == notRun || requests >= 1},
		{"steps", r.stated.Int("steps") == 0},
		{"events", r.stated.Int("events") == 0},
		{"cells", len(r.cells) == 0},
		{"n_grams", len(r.grams) == 0},
		{"predicates", !slices.ContainsFunc(r.predicates, outside)},
	})
}

// check is what a member must meet.
type check struct {
	member string
	met    bool
}

// first gives the first member whose check is not met, or nothing.
func first(checks []check) string {
	for _, one := range checks {
		if !one.met {
			return one.member
		}
	}
	return ""
}

func (r *record) misformedFailure() string {
	kind := r.failure.Text("kind")
	again, alone := kind == "differs_again", kind == "differs_alone"
	var twice any
	switch {
	case alone || strings.HasPrefix(r.failure.Text("where"), "/alone/"):
		twice = true
	case again:
		twice = false
	}
	stated, apart := r.stated.Member("twice"), r.stated.Member("alone")
	if r.stated.Text("reason") != "" {
		return "reason"
	}
	if member := failure.Misstated(r.failure); member != "" {
		return "failure/" + member
	}
	cells, grams := r.enough(1)
	return first([]check{
		{"twice", stated == twice && (stated == false) == again},
		{"alone", apart != true && (apart == false) == alone},
		{"cells", cells},
		{"n_grams", grams},
	})
}

func (d *derivation) misformedClean(r *record) string {
	requests := r.stated.Int("requests")
	cells, grams := r.enough(requests)
	return first([]check{
		{"twice", r.stated.Member("twice") == true},
		{"alone", r.stated.Member("alone") == true},
		{"trajectory_sha256", r.stated.Member("trajectory_sha256") != nil},
		{"requests", requests >= 1},
		{"steps", r.stated.Int("steps") >= 1},
		{"events", r.stated.Int("events") >= 3*requests},
		{"cells", cells},
		{"n_grams", grams},
		{"cells", !slices.ContainsFunc(r.cells, func(place int64) bool { return !r.pairs(d.relation.Cells[place].Event) })},
		{"n_grams", !slices.ContainsFunc(r.grams, func(gram relation.Gram) bool { return !d.walks(r, gram) })},
		{"predicates", !slices.ContainsFunc(r.predicates, func(place int64) bool { return d.data.atCase[place] })},
	})
}

// enough says whether the record has no more cells, and no more pairs and triples, than the events
// of so many requests can show.
func (r *record) enough(requests int64) (cells, grams bool) {
	events := r.stated.Int("events")
	found := map[string]int64{}
	for _, gram := range r.grams {
		found[part(gram)]++
	}
	return int64(len(r.cells)) <= events,
		found["pairs"] <= max(0, events-requests) && found["triples"] <= max(0, events-2*requests)
}

// pairs says whether an event stands in one of the record's pairs.
func (r *record) pairs(event string) bool {
	return slices.ContainsFunc(r.grams, func(gram relation.Gram) bool {
		events := gram.Events()
		return len(events) == 2 && slices.Contains(events, event)
	})
}

// walks says whether an n-gram is the events of a path of cells of the record.
func (d *derivation) walks(r *record, gram relation.Gram) bool {
	states := map[string]bool{}
	for i, event := range gram.Events() {
		next := map[string]bool{}
		for _, place := range r.cells {
			cell := d.relation.Cells[place]
			if cell.Event == event && (i == 0 || states[cell.State]) {
				next[cell.Next] = true
			}
		}
		states = next
	}
	return len(states) > 0
}
