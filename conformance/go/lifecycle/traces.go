package lifecycle

import (
	"slices"

	"lockstep/conformance/go/lcj"
	"lockstep/conformance/go/refusal"
)

const notReplayed = "COUNTEREXAMPLE_NOT_REPLAYED"

// CheckTraces runs each trace and sees that it reaches its goal ([LIFE-27]).
func (l *Lifecycle) CheckTraces(stated []*lcj.Object, pointer string) *refusal.Refusal {
	runs := l.runs()
	if len(stated) != len(runs) {
		return refusal.New("BAD_VALUE", pointer)
	}
	for i, trace := range stated {
		at := refusal.Index(pointer, i)
		if name := trace.Text("name"); name != runs[i].name {
			return refusal.Expecting("BAD_VALUE", at+"/name", runs[i].name, name)
		}
		if err := l.checkTrace(runs[i], trace, at); err != nil {
			return err
		}
	}
	return nil
}

func (l *Lifecycle) checkTrace(r run, stated *lcj.Object, pointer string) *refusal.Refusal {
	requests, steps := stated.Objects("requests"), readSteps(stated.Objects("steps"))
	if int64(len(requests)) != l.data.Object("models").Object("bounded").Int("requests") {
		return refusal.New("BAD_VALUE", pointer+"/requests")
	}
	last := 0
	if r.goal == "witness" || r.goal == "only_cells" || r.goal == "exclusive_write" {
		last = 1
	}
	if len(steps) != r.steps+last {
		return refusal.New("BAD_VALUE", pointer+"/steps")
	}
	m := newMachine(l.data, r.weakening)
	for i, request := range requests {
		if !m.submit(request.Int("prompt"), request.Int("max_new")) {
			return refusal.New(notReplayed, refusal.Index(pointer+"/requests", i))
		}
	}
	for i, s := range steps[:r.steps] {
		if !m.take(s) {
			return refusal.New(notReplayed, refusal.Index(pointer+"/steps", i))
		}
	}
	if !m.shows(r, steps[r.steps:]) {
		return refusal.New(notReplayed, pointer)
	}
	return nil
}

func readSteps(stated []*lcj.Object) []step {
	var steps []step
	for _, s := range stated {
		steps = append(steps, step{
			s.Int("request"), s.Int("tokens"), s.Text("event"), s.Ints("blocks"), s.Ints("published"),
		})
	}
	return steps
}

// shows says whether a run has come to its goal, rest being its last step where it has one.
func (m *machine) shows(r run, rest []step) bool {
	switch r.goal {
	case "no_deadlock":
		return m.stuck()
	case "idle_holds_nothing":
		return slices.ContainsFunc(m.requests, func(r *request) bool {
			return !r.active() && (len(r.table) > 0 || r.computed > 0)
		})
	case "references_match_holders":
		return m.miscounts()
	}
	s := rest[0]
	if !m.allows(s) {
		return false
	}
	state := m.requests[s.request].state
	_, has := m.next(state, s.event)
	switch r.goal {
	case "witness":
		return has && state == r.state && s.event == r.event
	case "only_cells":
		return !has
	}
	return has && !m.writesAlone(s)
}

// miscounts says whether references of some block is not the number of its holders ([LIFE-18]).
func (m *machine) miscounts() bool {
	held := make([]int64, len(m.references))
	for _, r := range m.requests {
		for _, b := range r.table {
			held[b]++
		}
	}
	return !slices.Equal(held, m.references)
}

// writesAlone says whether each block that a step writes is its request's alone ([LIFE-14]). What
// the step takes is free; of what is published, the machine sees it before.
func (m *machine) writesAlone(s step) bool {
	r := m.requests[s.request]
	until := r.known()
	switch s.event {
	case "chunk":
		until = r.computed + s.tokens
	case "decode":
	default:
		return true
	}
	first, last := int(r.computed/m.size), int(m.blocksOf(until))
	for i := first; i < min(last, len(r.table)); i++ {
		if b := r.table[i]; m.references[b] != 1 || m.cached[b] {
			return false
		}
	}
	return true
}

// stuck says whether a request is not finished and nothing but preempt_rc is enabled ([LIFE-22]).
func (m *machine) stuck() bool {
	free, evictable := m.unreferenced(false), m.unreferenced(true)
	unfinished := false
	for i, r := range m.requests {
		if slices.Contains(m.data.Texts("terminal"), r.state) {
			continue
		}
		unfinished = true
		if !r.active() {
			if m.admissible(int64(i)) {
				return false
			}
			continue
		}
		room := r.computed < m.size*int64(len(r.table)) || free > 0
		if r.state == "DECODING" ||
			r.outputs < r.maxNew && m.owed(r) <= free ||
			free < m.owed(r) && evictable > 0 ||
			r.computed+1 < r.known() && room ||
			r.computed == 0 && m.size < r.known() && slices.Contains(m.cached, true) {
			return false
		}
	}
	return unfinished
}
