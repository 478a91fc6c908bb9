package replay

import (
	"slices"

	"lockstep/conformance/go/engine"
	"lockstep/conformance/go/lcj"
	"lockstep/conformance/go/refusal"
	"lockstep/conformance/go/relation"
)

// standInEnd is the end of sequence of a rehearsal: above every token of a vocabulary, and below all
// other stand-ins ([SCHED-19]).
const standInEnd = int64(1) << 40

// Rules are those under which a case is judged ([FIND-6]); each member is a weakening that holds.
type Rules struct {
	NeverFittingAccepted, UnreservedAdmission bool
}

// Rehearsal is what the rules say of a case, without a model.
type Rehearsal struct {
	// Code is that by which the case is refused, or empty.
	Code string
	// Stuck says that after the last step, once every request has arrived, one is not finished, and
	// nothing but preempt_rc is enabled.
	Stuck bool
}

// CheckCase is step 2 of [FIND-11] for requests and the members of actions.
func CheckCase(stated, model *lcj.Object, at string) *refusal.Refusal {
	if _, err := checkWorkload(stated.Object("workload"), model, at+"/workload"); err != nil {
		return err
	}
	blocks := stated.Object("pool").Int("blocks")
	for i, actions := range stated.List("steps") {
		for j, element := range actions.([]any) {
			if !readAction(element.(*lcj.Object)).wellFormed(blocks) {
				return refusal.New(badValue, refusal.Index(refusal.Index(at+"/steps", i), j))
			}
		}
	}
	return nil
}

// Rehearse judges a case by the rules ([FIND-6]); model is M of [ENG-8].
func Rehearse(rel *relation.Relation, model engine.Digest, stated *lcj.Object, rules Rules) Rehearsal {
	pool := stated.Object("pool")
	e := &execution{
		machine: newMachine(rel, pool.Int("blocks"), pool.Int("block_size")), byID: map[string]*request{},
		model: model, stopTokens: []int64{standInEnd}, tally: newTally(0), rehearsed: true,
	}
	e.machine.unreserved = rules.UnreservedAdmission
	var requests []*request
	for i, entry := range stated.Object("workload").Objects("requests") {
		requests = append(requests, readRequest(entry, i))
		e.byID[requests[i].id] = requests[i]
	}
	e.ordered = submissionOrder(requests)
	steps := readSteps(stated.List("steps"))
	if code := e.refusedBefore(steps, rules); code != "" {
		return Rehearsal{Code: code}
	}
	e.findEnds(steps)
	for number, actions := range steps {
		e.arrive(int64(number))
		for _, a := range actions {
			if _, err := e.act(a, int64(number), ""); err != nil {
				return Rehearsal{Code: err.Code}
			}
		}
		e.machine.closeStep()
	}
	e.arrive(e.ordered[len(e.ordered)-1].arrival)
	return Rehearsal{Stuck: e.machine.stuck()}
}

func readSteps(stated []any) [][]action {
	steps := make([][]action, len(stated))
	for i, actions := range stated {
		for _, element := range actions.([]any) {
			steps[i] = append(steps[i], readAction(element.(*lcj.Object)))
		}
	}
	return steps
}

// findEnds finds which output of each request comes last before its first finish.
func (e *execution) findEnds(steps [][]action) {
	decodes := map[string]int64{}
	for _, actions := range steps {
		for _, a := range actions {
			if a.event == "decode" {
				decodes[a.request]++
			}
			if r := e.byID[a.request]; a.event == "finish" && r.ends == 0 {
				r.ends = decodes[a.request]
			}
		}
	}
}

// standIn gives the token that a request emits next ([SCHED-19]).
func (e *execution) standIn(r *request) int64 {
	if r.outputs+1 == r.ends {
		return standInEnd
	}
	e.standIns++
	return standInEnd + e.standIns
}

// refusedBefore gives the code by which a case is refused before its first step, or nothing.
func (e *execution) refusedBefore(steps [][]action, rules Rules) string {
	blocks := int64(len(e.machine.blocks))
	for _, actions := range steps {
		for _, a := range actions {
			if slices.ContainsFunc(a.blocks, func(b int64) bool { return b >= blocks }) {
				return badValue
			}
		}
	}
	for _, r := range e.ordered {
		if !rules.NeverFittingAccepted && e.machine.need(r) > blocks {
			return "REQUEST_NEVER_FITS"
		}
	}
	for number, actions := range steps {
		for _, a := range actions {
			if r, known := e.byID[a.request]; !known {
				return "REQUEST_UNKNOWN"
			} else if r.arrival > int64(number) {
				return "NOT_ARRIVED"
			}
		}
	}
	return ""
}

// stuck is [LIFE-19]'s of a machine to which nothing is still to be submitted.
func (m *machine) stuck() bool {
	unfinished := false
	for _, r := range m.requests {
		unfinished = unfinished || r.state != "FINISHED"
		for _, cell := range m.relation.Cells {
			if cell.State == r.state && cell.Event != "preempt_rc" && m.enabled(r, cell.Event) {
				return false
			}
		}
	}
	return unfinished
}

// enabled is [LIFE-22] of an event for which there is a cell.
func (m *machine) enabled(r *request, event string) bool {
	known, free := int64(len(r.known)), int64(len(m.free()))
	switch event {
	case "admit", "resume":
		return m.head(r)
	case "cache_hit":
		cached := slices.ContainsFunc(m.blocks, func(b block) bool { return b.cached })
		return r.active() && r.computed == 0 && cached && m.size < known
	case "chunk":
		return r.active() && r.computed+1 < known &&
			(r.computed < m.size*int64(len(r.table)) || free > 0)
	case "decode":
		return r.active() && r.outputs < r.maxNew && m.owed(r) <= free
	case "evict":
		return r.active() && free < m.owed(r) && len(m.evictable()) > 0
	case "finish":
		return r.state == "DECODING"
	}
	return false
}
