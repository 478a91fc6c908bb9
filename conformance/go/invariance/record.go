package invariance

import (
	"math/big"
	"slices"

	"lockstep/conformance/go/lcj"
	"lockstep/conformance/go/refusal"
	"lockstep/conformance/go/relation"
)

const contradict = "COUNTERS_CONTRADICT"

// record is a run's, or a control's ([REL-4]).
type record struct {
	stated   *lcj.Object
	relation *declared
	outcome  string
	counters map[string]int64
	// grams are its n-grams in order, counts how often each was seen.
	grams  []relation.Gram
	counts map[relation.Gram]int64
}

func readRecord(stated *lcj.Object, one *declared) *record {
	r := &record{
		stated: stated, relation: one, outcome: stated.Text("outcome"),
		counters: map[string]int64{}, counts: map[relation.Gram]int64{},
	}
	for _, counter := range stated.Objects("counters") {
		r.counters[counter.Text("name")] = counter.Int("value")
	}
	for _, entry := range stated.Objects("n_grams") {
		gram := relation.Join(entry.Texts("events"))
		r.grams = append(r.grams, gram)
		r.counts[gram] = entry.Int("count")
	}
	return r
}

// check is step 4 for a record; backend is the environment's for a run, and empty for a control.
func (k *Kind) check(r *record, backend, pointer string) *refusal.Refusal {
	if err := checkLists(r.stated, pointer); err != nil {
		return err
	}
	if err := k.checkNames(r, pointer); err != nil {
		return err
	}
	differences := r.stated.Int("differences")
	switch {
	case differences > r.stated.Int("positions"):
		return refusal.New(badValue, pointer+"/differences")
	case (differences == 0) != (r.stated.Member("first_difference") == nil):
		return refusal.New(badValue, pointer+"/first_difference")
	case backend != "" && r.relation.backend != "" && r.relation.backend != backend && r.outcome != notRun:
		return refusal.Expecting(outcomeNotDerived, pointer+"/outcome", notRun, r.outcome)
	case r.outcome == notRun:
		return checkNothing(r, pointer)
	}
	if !r.relation.executes {
		for _, name := range []string{"workloads", "schedules", "executions", "requests", "n_grams"} {
			if !empty(r.stated.Member(name)) {
				return refusal.New(badValue, pointer+"/"+name)
			}
		}
	}
	if derived := r.derive(); r.outcome != derived {
		return refusal.Expecting(outcomeNotDerived, pointer+"/outcome", derived, r.outcome)
	}
	if (r.stated.Text("reason") == "") != (r.outcome != vacuous) {
		return refusal.New(badValue, pointer+"/reason")
	}
	return k.checkCounters(r, pointer)
}

// checkLists is 4.1.
func checkLists(stated *lcj.Object, pointer string) *refusal.Refusal {
	for _, name := range []string{"workloads", "schedules"} {
		digests := stated.Texts(name)
		for i := 1; i < len(digests); i++ {
			if digests[i] <= digests[i-1] {
				return refusal.New(badValue, refusal.Index(pointer+"/"+name, i))
			}
		}
	}
	counters := stated.Objects("counters")
	for i := 1; i < len(counters); i++ {
		if counters[i].Text("name") <= counters[i-1].Text("name") {
			return refusal.New(badValue, refusal.Index(pointer+"/counters", i)+"/name")
		}
	}
	grams := stated.Objects("n_grams")
	for i := 1; i < len(grams); i++ {
		before, here := relation.Join(grams[i-1].Texts("events")), relation.Join(grams[i].Texts("events"))
		if relation.Compare(before, here) >= 0 {
			return refusal.New(badValue, refusal.Index(pointer+"/n_grams", i)+"/events")
		}
	}
	return nil
}

// checkNames is 4.2.
func (k *Kind) checkNames(r *record, pointer string) *refusal.Refusal {
	for i, counter := range r.stated.Objects("counters") {
		if !k.relations.may(r.relation, counter.Text("name")) {
			return refusal.New(badValue, refusal.Index(pointer+"/counters", i)+"/name")
		}
	}
	for i, gram := range r.grams {
		if !slices.Contains(k.legal[len(gram.Events())], gram) {
			return refusal.New(badValue, refusal.Index(pointer+"/n_grams", i)+"/events")
		}
	}
	return nil
}

// checkNothing is 4.5.
func checkNothing(r *record, pointer string) *refusal.Refusal {
	if r.stated.Text("reason") == "" {
		return refusal.New(badValue, pointer+"/reason")
	}
	for _, name := range []string{
		"workloads", "schedules", "executions", "requests", "positions", "differences", "counters", "n_grams",
	} {
		if !empty(r.stated.Member(name)) {
			return refusal.New(badValue, pointer+"/"+name)
		}
	}
	return nil
}

// empty says whether a list is, or a count is 0.
func empty(value any) bool {
	list, isList := value.([]any)
	return isList && len(list) == 0 || value == int64(0)
}

// derive gives the outcome of a record that is not `not_run` ([REL-5]).
func (r *record) derive() string {
	idle := empty(r.stated.Member("positions"))
	if r.relation.executes {
		for _, name := range []string{"executions", "workloads", "schedules"} {
			idle = idle || empty(r.stated.Member(name))
		}
	}
	for _, name := range r.relation.mechanism {
		idle = idle || r.counters[name] == 0
	}
	switch {
	case r.stated.Int("differences") > 0:
		return violated
	case idle:
		return vacuous
	}
	return holds
}

// checkCounters is 4.8.
func (k *Kind) checkCounters(r *record, pointer string) *refusal.Refusal {
	for _, entry := range k.relations.events {
		event, count := entry.Text("event"), r.counters[entry.Text("counter")]
		if event != "finish" && r.sum(2, func(events []string) bool { return events[0] == event }) != count {
			return refusal.New(contradict, pointer+"/counters")
		}
		if event != "admit" && r.sum(2, func(events []string) bool { return events[1] == event }) != count {
			return refusal.New(contradict, pointer+"/counters")
		}
	}
	if !r.triplesAgree() {
		return refusal.New(contradict, pointer+"/n_grams")
	}
	conditions := r.relation.conditions
	if r.relation.executes {
		conditions = slices.Concat(k.relations.conditions, conditions)
	}
	for _, c := range conditions {
		if (c.where == "always" || c.where == r.outcome) && !c.holds(func(name string) *big.Int { return k.value(r, name) }) {
			return refusal.New(contradict, pointer+"/counters")
		}
	}
	return nil
}

// sum adds the counts of the n-grams of some number of events that are as asked.
func (r *record) sum(n int, asked func(events []string) bool) int64 {
	sum := int64(0)
	for _, gram := range r.grams {
		if events := gram.Events(); len(events) == n && asked(events) {
			sum += r.counts[gram]
		}
	}
	return sum
}

// triplesAgree compares triples with pairs ([REL-9]).
func (r *record) triplesAgree() bool {
	for _, gram := range r.grams {
		events, count := gram.Events(), r.counts[gram]
		begins := func(triple []string) bool { return slices.Equal(triple[:2], events) }
		ends := func(triple []string) bool { return slices.Equal(triple[1:], events) }
		if len(events) == 2 && (events[1] != "finish" && r.sum(3, begins) != count ||
			events[0] != "admit" && r.sum(3, ends) != count) {
			return false
		}
	}
	for _, gram := range r.grams {
		events := gram.Events()
		if len(events) == 3 && (r.counts[relation.Join(events[:2])] == 0 || r.counts[relation.Join(events[1:])] == 0) {
			return false
		}
	}
	return true
}

// value gives a term of a condition ([REL-9]).
func (k *Kind) value(r *record, name string) *big.Int {
	switch name {
	case "executions", "requests", "positions":
		return big.NewInt(r.stated.Int(name))
	case "workloads", "schedules":
		return big.NewInt(int64(len(r.stated.List(name))))
	case "published_slots":
		size := big.NewInt(r.stated.Int("block_size"))
		return size.Mul(size, big.NewInt(r.counters["published_blocks"]))
	}
	if listed, is := k.relations.listed[name]; is {
		return big.NewInt(listed)
	}
	return big.NewInt(r.counters[name])
}

// repeats says whether a control repeats its twin ([INV-7]).
func (r *record) repeats(twin *record) bool {
	if twin == nil || r.stated.Int("positions") == 0 {
		return false
	}
	for _, name := range []string{
		"workloads", "schedules", "executions", "requests", "positions", "counters", "n_grams",
	} {
		if !lcj.Equal(r.stated.Member(name), twin.stated.Member(name)) {
			return false
		}
	}
	return true
}
