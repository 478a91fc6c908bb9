package replay

import (
	"slices"
	"strings"

	"lockstep/conformance/go/engine"
	"lockstep/conformance/go/kind"
	"lockstep/conformance/go/lcj"
	"lockstep/conformance/go/refusal"
)

const (
	notFollowed = "SCHEDULE_NOT_FOLLOWED"
	notDerived  = "TRAJECTORY_NOT_DERIVED"
)

// execution is a run of a schedule with the tokens of a certificate ([RPL-7]).
type execution struct {
	machine *machine
	byID    map[string]*request
	// ordered are the requests in the order of submission, roots the beginnings of their chains.
	ordered    []*request
	model      engine.Digest
	stopTokens []int64
	batch      batch
	chain      engine.Digest
	// logits are the parts of that name of the steps so far, by the digests of their output rows, and
	// rows these digests by the part; both begin with those of a step that emits nothing.
	logits, rows map[string]string
	// numbers is how many the ledgers of the steps so far have.
	numbers int
	tally   *tally
	// rehearsed says that tokens are stand-ins ([SCHED-19]), of which standIns were emitted.
	rehearsed bool
	standIns  int64
}

// batch holds the fields of the open step's rows ([ENG-10], [ENG-16]).
type batch struct {
	emitted, work []byte
	// logits are the digests of its output rows.
	logits []string
}

// add packs the rows from the computed positions up to an end; token is what the last row emits,
// or -1.
func (b *batch) add(r *request, end, token, size int64) {
	for position := r.computed; position < end; position++ {
		slot := r.table[position/size]*size + position%size
		isOutput := token >= 0 && position == end-1
		b.work = append(b.work, engine.Numbers(r.number, position, r.known[position], slot, kind.Bit(isOutput))...)
	}
	if token >= 0 {
		b.emitted = append(b.emitted, engine.Numbers(r.number, end, token)...)
		b.logits = append(b.logits, r.logits[r.outputs])
	}
}

// arrive submits the requests that arrive at the beginning of a step.
func (e *execution) arrive(step int64) {
	for _, r := range e.ordered[len(e.machine.requests):] {
		if r.arrival > step {
			return
		}
		root := engine.Framed("lockstep/prefix-root/1", e.model[:], engine.Numbers(e.machine.size), []byte(r.salt))
		e.machine.submit(r, root)
	}
}

// runStep is steps 4 and 5 for one step.
func (e *execution) runStep(number int64, actions, logged []any, trajectory *lcj.Object) *refusal.Refusal {
	e.arrive(number)
	events := refusal.Index("/predicate/events", int(number))
	for i, element := range actions {
		pointer := refusal.Index(refusal.Index("/predicate/schedule/steps", int(number)), i)
		done, err := e.act(readAction(element.(*lcj.Object)), number, pointer)
		if err != nil {
			return err
		}
		if i >= len(logged) {
			return refusal.New(notFollowed, events)
		}
		if !lcj.Equal(logged[i], done.object()) {
			return refusal.New(notFollowed, refusal.Index(events, i))
		}
	}
	if len(logged) != len(actions) {
		return refusal.New(notFollowed, events)
	}
	e.machine.closeStep()
	return e.checkParts(number, trajectory)
}

// object is an event as a document has it.
func (v event) object() *lcj.Object {
	return lcj.NewObject().Set("request", v.request).Set("event", v.event).Set("tokens", v.tokens).
		Set("blocks", lcj.Array(v.blocks)).Set("published", lcj.Array(v.published))
}

// checkParts is step 5 after a step.
func (e *execution) checkParts(number int64, stated *lcj.Object) *refusal.Refusal {
	pointer := refusal.Index("/predicate/trajectory/steps", int(number)) + "/"
	ledger := e.machine.ledger()
	if e.numbers += len(ledger); e.numbers > numbersLimit {
		return refusal.New("LIMIT_SIZE", pointer+"ledger")
	}
	parts := map[string]engine.Digest{
		"emitted":  engine.Framed("lockstep/emitted/1", e.batch.emitted),
		"work":     engine.Framed("lockstep/rows/1", e.batch.work),
		"ledger":   engine.Framed("lockstep/ledger/1", engine.Numbers(ledger...)),
		"prefixes": engine.Framed("lockstep/prefixes/1", e.machine.prefixes()),
	}
	for _, name := range []string{"emitted", "work", "ledger", "prefixes"} {
		if stated.Text(name) != parts[name].Hex() {
			return refusal.Expecting(notDerived, pointer+name, parts[name].Hex(), stated.Text(name))
		}
	}
	if !e.agree(strings.Join(e.batch.logits, " "), stated.Text("logits")) {
		return refusal.New(notDerived, pointer+"logits")
	}
	parts["logits"] = engine.ReadDigest(stated.Text("logits"))
	fields := [][]byte{e.chain[:], engine.Numbers(number)}
	for _, name := range []string{"emitted", "logits", "work", "ledger", "prefixes"} {
		part := parts[name]
		fields = append(fields, slices.Clone(part[:]))
	}
	e.chain = engine.Framed("lockstep/step/1", fields...)
	if stated.Text("chain") != e.chain.Hex() {
		return refusal.Expecting(notDerived, pointer+"chain", e.chain.Hex(), stated.Text("chain"))
	}
	e.tally.step(len(e.batch.work) > 0)
	e.batch = batch{}
	return nil
}

// agree says whether the part logits of a step is that of an earlier one exactly where the digests
// of their output rows are ([RPL-7]).
func (e *execution) agree(rows, part string) bool {
	before, known := e.logits[rows]
	_, taken := e.rows[part]
	e.logits[rows], e.rows[part] = part, rows
	return known == taken && (!known || before == part)
}

// checkEnd is step 6.
func (e *execution) checkEnd(requests []*request, outputs []*lcj.Object, stated string) *refusal.Refusal {
	for _, r := range requests {
		if r.state != "FINISHED" {
			return refusal.New("SCHEDULE_UNFINISHED", "/predicate/schedule/steps")
		}
	}
	for i, r := range requests {
		reason := "length"
		if r.stopped {
			reason = "eos"
			e.tally.counts["stopped"]++
		}
		if r.outputs != int64(len(r.emits)) || outputs[i].Text("reason") != reason {
			return refusal.New(badValue, refusal.Index("/predicate/outputs", i))
		}
	}
	if stated != e.chain.Hex() {
		return refusal.Expecting(notDerived, "/predicate/trajectory/sha256", e.chain.Hex(), stated)
	}
	return nil
}
