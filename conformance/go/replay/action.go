package replay

import (
	"slices"

	"lockstep/conformance/go/lcj"
	"lockstep/conformance/go/refusal"
)

const notAllowed = "EVENT_NOT_ALLOWED"

// action is an action of a schedule ([SCHED-10]).
type action struct {
	event, request string
	tokens         int64
	blocks         []int64
	// named says that it names blocks.
	named bool
}

// event is an event as it took effect ([RPL-3]).
type event struct {
	request           int64
	event             string
	tokens            int64
	blocks, published []int64
}

func readAction(stated *lcj.Object) action {
	a := action{event: stated.Text("event"), request: stated.Text("request")}
	if tokens, has := stated.Get("tokens"); has {
		a.tokens = tokens.(int64)
	}
	if _, has := stated.Get("blocks"); has {
		a.blocks, a.named = stated.Ints("blocks"), true
	}
	return a
}

// wellFormed is what [SCHED-10] says of an action's members.
func (a action) wellFormed(pool int64) bool {
	if (a.event == "chunk") != (a.tokens > 0) {
		return false
	}
	if a.named && slices.Contains([]string{"admit", "preempt_rc", "resume", "finish"}, a.event) {
		return false
	}
	ascending := slices.Sorted(slices.Values(a.blocks))
	distinct := len(slices.Compact(slices.Clone(ascending))) == len(ascending)
	return distinct && (len(ascending) == 0 || ascending[len(ascending)-1] < pool)
}

// computes says whether an action's event gives rows to the batch.
func computes(name string) bool { return name == "chunk" || name == "decode" }

// act lets an action take effect ([RPL-8], step 4).
func (e *execution) act(a action, step int64, pointer string) (event, *refusal.Refusal) {
	none := event{}
	if !a.wellFormed(int64(len(e.machine.blocks))) {
		return none, refusal.New(badValue, pointer)
	}
	r, known := e.byID[a.request]
	switch {
	case !known:
		return none, refusal.New("REQUEST_UNKNOWN", pointer)
	case r.arrival > step:
		return none, refusal.New("NOT_ARRIVED", pointer)
	case r.busy == step:
		return none, refusal.New("STEP_ORDER", pointer)
	case r.active() && r.ended() && a.event != "finish":
		return none, refusal.New("REQUEST_ENDED", pointer)
	case r.state == "DECODING" && !r.ended() && a.event == "finish":
		return none, refusal.New("REQUEST_NOT_ENDED", pointer)
	}
	granted := []int64(nil)
	if a.event == "cache_hit" {
		granted = e.machine.lookup(r)
		if a.named {
			if len(a.blocks) > len(granted) || !slices.Equal(a.blocks, granted[:len(a.blocks)]) {
				return none, refusal.New("PREFIX_NOT_HELD", pointer)
			}
			granted = a.blocks
		}
	}
	next, has := e.machine.relation.Next(r.state, a.event)
	if !has {
		return none, refusal.New(notAllowed, pointer)
	}
	done := event{request: r.number, event: a.event, tokens: a.tokens}
	var err *refusal.Refusal
	if computes(a.event) {
		err = e.compute(r, a, step, &done, pointer)
	} else if !e.machine.move(r, a, granted, &done) {
		err = refusal.New(notAllowed, pointer)
	}
	if err != nil {
		return none, err
	}
	e.tally.event(r, done)
	r.state = next
	return done, nil
}

// move lets an event other than chunk and decode take effect, if its guard holds.
func (m *machine) move(r *request, a action, granted []int64, done *event) bool {
	switch a.event {
	case "admit", "resume":
		if !m.head(r) {
			return false
		}
		m.queue = m.queue[1:]
	case "cache_hit":
		if !r.active() || r.computed != 0 || len(granted) == 0 {
			return false
		}
		m.grant(r, granted)
		r.computed, done.blocks = int64(len(granted))*m.size, granted
	case "evict":
		candidates := m.evictable()
		if !r.active() || int64(len(m.free())) >= m.owed(r) || len(candidates) == 0 {
			return false
		}
		chosen := candidates[:1]
		if a.named {
			chosen = a.blocks
		}
		if len(chosen) != 1 || !slices.Contains(candidates, chosen[0]) {
			return false
		}
		m.evict(chosen[0])
		done.blocks = slices.Clone(chosen)
	case "preempt_rc":
		if !r.active() || r.computed < 1 || r.outputs >= r.maxNew {
			return false
		}
		m.giveBack(r)
		m.queue = append([]int64{r.number}, m.queue...)
	case "finish":
		m.giveBack(r)
	}
	return true
}

// compute lets a chunk or a decode take effect ([LIFE-12] to [LIFE-15]).
func (e *execution) compute(r *request, a action, step int64, done *event, pointer string) *refusal.Refusal {
	m := e.machine
	known := int64(len(r.known))
	end, count := known, m.owed(r)
	if a.event == "chunk" {
		end = r.computed + a.tokens
		count = max(0, m.blocksOf(end)-int64(len(r.table)))
		if end >= known {
			return refusal.New(notAllowed, pointer)
		}
	}
	taken, fits := m.takes(a.blocks, a.named, count)
	if !fits || !r.active() || r.outputs >= r.maxNew || !m.writable(r, end) {
		return refusal.New(notAllowed, pointer)
	}
	if !e.rehearsed && e.tally.counts["rows"]+end-r.computed > rowsLimit {
		return refusal.New("LIMIT_SIZE", pointer)
	}
	token := int64(-1)
	if a.event == "decode" && e.rehearsed {
		token = e.standIn(r)
	} else if a.event == "decode" {
		if r.outputs >= int64(len(r.emits)) {
			return refusal.New(badValue, refusal.Index("/predicate/outputs", r.place))
		}
		token = r.emits[r.outputs]
	}
	m.hold(r, taken)
	if !e.rehearsed {
		e.batch.add(r, end, token, m.size)
		e.tally.rows(r.computed, end)
	}
	m.write(r, end)
	done.blocks, done.published = taken, m.publish(r)
	r.busy = step
	if a.event == "decode" {
		r.known, r.outputs = append(slices.Clip(r.known), token), r.outputs+1
		r.stopped = !r.ignoresEnds && slices.Contains(e.stopTokens, token)
	}
	return nil
}
