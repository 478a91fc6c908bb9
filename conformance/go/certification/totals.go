package certification

import (
	"slices"

	"lockstep/conformance/go/kind"
	"lockstep/conformance/go/lcj"
)

// run is a run whose cells are judged.
type run struct {
	*judgement
	predicate *lcj.Object
	cells     []*judged
	// status is that of each control.
	status map[string]string
}

// controlNames are in the order of [CERT-21].
var controlNames = []string{"sequential", "sensitivity", "positive", "cache_off"}

// omitted are the cases that are not in the plan ([CERT-23]).
func (r *run) omitted() []any {
	out := []any{}
	for _, one := range r.data.cases {
		if slices.Contains(r.plan.cases, one.name) {
			continue
		}
		reason := "not_chosen"
		for _, need := range one.needs {
			if !slices.Contains(r.plan.offers, need) {
				reason = "not_offered"
			}
		}
		out = append(out, lcj.NewObject().Set("case", one.name).Set("reason", reason))
	}
	return out
}

// own are the scored cells without a control.
func (r *run) own() []*judged {
	return slices.DeleteFunc(slices.Clone(r.cells), func(j *judged) bool { return j.control != "" || !j.scored() })
}

// conditions are the pairs of cells of one case that differ in one axis ([CERT-23]).
func (r *run) conditions() []any {
	var compared, differing [axesNumber]int64
	cells := r.own()
	for i, a := range cells {
		for _, b := range cells[i+1:] {
			apart, axis := 0, 0
			for k := range a.condition {
				if a.condition[k] != b.condition[k] {
					apart, axis = apart+1, k
				}
			}
			if a.of != b.of || apart != 1 {
				continue
			}
			compared[axis]++
			differing[axis] += kind.Bit(a.found.differs(b.found))
		}
	}
	out := []any{}
	for i, axis := range r.data.axes {
		out = append(out, lcj.NewObject().Set("axis", axis).Set("compared", compared[i]).Set("differing", differing[i]))
	}
	return out
}

// differs says whether an output of the one differs from one of the other of a request alike.
func (f *collected) differs(other *collected) bool {
	for _, group := range f.groups {
		if there, known := other.by[group.signature]; known {
			if _, found := firstAcross(group.outputs, there.outputs); found {
				return true
			}
		}
	}
	return false
}

// among chooses cells.
func (r *run) among(chosen func(*judged) bool) []*judged {
	return slices.DeleteFunc(slices.Clone(r.cells), func(j *judged) bool { return !chosen(j) })
}

// statusOf is that of a control whose cells these are.
func statusOf(cells []*judged, shown bool) string {
	all := !slices.ContainsFunc(cells, func(j *judged) bool { return !j.scored() })
	switch {
	case all && shown:
		return "shown"
	case all:
		return "not_shown"
	}
	return "not_run"
}

// controls sets the status of each control ([CERT-21]), and gives them as a document has them.
func (r *run) controls() []any {
	is := func(verdict string) func(*judged) bool {
		return func(j *judged) bool { return j.verdict == verdict }
	}
	sequential := r.among(func(j *judged) bool { return j.control == "sequential" })
	clean := !slices.ContainsFunc(sequential, func(j *judged) bool { return j.verdict != "clean" })
	r.status = map[string]string{
		"sequential": statusOf(sequential, clean), "sensitivity": r.sensitivity(),
		"positive": "absent", "cache_off": "absent",
	}
	if r.plan.positive != "absent" {
		positive := r.among(func(j *judged) bool { return j.other() })
		r.status["positive"] = statusOf(positive, false)
		if slices.ContainsFunc(positive, is("divergent")) {
			r.status["positive"] = "shown"
		}
	}
	off := r.among(func(j *judged) bool { return j.control == "" && j.condition[0] == "off" })
	if len(off) > 0 {
		r.status["cache_off"] = statusOf(off, true)
	}
	out := []any{}
	for _, name := range controlNames {
		out = append(out, lcj.NewObject().Set("name", name).Set("status", r.status[name]))
	}
	return out
}

// sensitivity is the status of that control.
func (r *run) sensitivity() string {
	altered := r.among(func(j *judged) bool { return j.control == "sensitivity" })[0]
	plain := r.among(func(j *judged) bool { return j.control == "sequential" && j.of == altered.of })[0]
	for _, j := range []*judged{altered, plain} {
		if slices.Contains([]string{"not_run", "hang", "error"}, j.verdict) {
			return "not_run"
		}
	}
	for place := range altered.requests {
		own, others := entriesAt(altered, place), entriesAt(plain, place)
		if len(own) > 0 && len(others) > 0 && disjoint(own, others) {
			return "shown"
		}
	}
	return "not_shown"
}

// entriesAt are the outputs of the request at a place.
func entriesAt(j *judged, place int) map[int64]bool {
	entries := map[int64]bool{}
	for _, one := range j.rounds {
		if one.outputs[place] >= 0 {
			entries[one.outputs[place]] = true
		}
	}
	return entries
}

func disjoint(a, b map[int64]bool) bool {
	for entry := range a {
		if b[entry] {
			return false
		}
	}
	return true
}

// limits is what cannot be believed ([CERT-23]).
func (r *run) limits() []any {
	cells := r.own()
	any_ := func(holds func(*judged) bool) bool { return slices.ContainsFunc(cells, holds) }
	_, differing, unread := agreement(r.predicate.Object("subject").Objects("identity"))
	holds := map[string]bool{
		"black_box":          true,
		"positive_absent":    r.status["positive"] == "absent",
		"positive_not_shown": r.status["positive"] == "not_shown" || r.status["positive"] == "not_run",
		"cache_off_absent":   r.status["cache_off"] == "absent",
		"overlap_only":       any_(func(j *judged) bool { return j.shown.name == "overlap" }),
		"cache_not_reported": any_(func(j *judged) bool {
			return j.shown.cache == "not_reported" && slices.ContainsFunc(j.requests, func(one request) bool {
				return one.role == "probe" && int64(len(one.prompt)) > r.plan.blockSize
			})
		}),
		"weak_observable":    r.plan.observable != "logprobs" || r.constant(),
		"text_prompts":       r.plan.form == "text",
		"lengths_differ":     r.plan.form == "tokens" && slices.ContainsFunc(r.cells, lengthsDiffer),
		"one_lifetime":       r.plan.lifetimes == 1,
		"not_launched":       r.predicate.Object("subject").Member("launch") == nil,
		"identity_not_read":  unread || differing > 0,
		"adapter_unverified": !r.predicate.Object("adapter").Bool("verified"),
		"cases_omitted":      len(r.plan.cases) < len(r.data.cases),
	}
	out := []any{}
	for _, id := range r.data.limits {
		if holds[id] {
			out = append(out, id)
		}
	}
	return out
}

// constant says whether all log-probabilities are one text, or there is none.
func (r *run) constant() bool {
	texts := map[any]bool{}
	for _, one := range r.outputs {
		for _, number := range one.logprobs {
			texts[number] = true
		}
	}
	delete(texts, nil)
	return len(texts) < 2
}

// lengthsDiffer says whether the server counts another length of a prompt than the plan.
func lengthsDiffer(j *judged) bool {
	for _, one := range j.rounds {
		for place, told := range one.promptTokens {
			asked := &j.requests[place]
			if told >= 0 && asked.rescores < 0 && told != int64(len(asked.prompt)) {
				return true
			}
		}
	}
	return false
}

// verdict is [CERT-22].
func (r *run) verdict() string {
	clean := true
	for _, j := range r.cells {
		if j.other() {
			continue
		}
		if j.tally.differing > 0 {
			return "DIVERGENT"
		}
		clean = clean && j.verdict == "clean"
	}
	_, differing, _ := agreement(r.predicate.Object("subject").Objects("identity"))
	if clean && r.status["sequential"] == "shown" && r.status["sensitivity"] == "shown" && differing == 0 {
		return "CLEAN"
	}
	return "INCONCLUSIVE"
}
