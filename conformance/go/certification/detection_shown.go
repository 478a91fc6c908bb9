package certification

import (
	"slices"

	"lockstep/conformance/go/kind"
	"lockstep/conformance/go/lcj"
	"lockstep/conformance/go/refusal"
)

// answer is one of an observation ([DET-6]).
type answer struct {
	cell, place      int
	lifetime, number int64
	object           *lcj.Object
	output           *output
}

// observation is one of a trial, on its way ([DET-6]).
type observation struct {
	*trial
	sort    string
	at      int
	answers []*answer
	pointer string
}

// checkShown is step 4 for a trial.
func (t *trial) checkShown() *refusal.Refusal {
	if t.shown == nil {
		return nil
	}
	o := &observation{trial: t, sort: t.shown.Text("sort"), pointer: t.pointer + "/shown"}
	if err := o.checkMembers(); err != nil || o.sort == "no_answer" {
		return err
	}
	cell, _ := t.shown.Member("cell").(int64)
	if cell >= int64(len(t.cells)) || t.cells[cell].other() {
		return refusal.New(badValue, o.pointer+"/cell")
	}
	o.at = int(cell)
	if err := o.readAnswers(); err != nil {
		return err
	}
	found, holds, err := o.judge()
	if err != nil {
		return err
	}
	members := append([]kind.Member{
		{Name: "case", Code: notDerived, Value: t.cells[o.at].of.name},
	}, asOutcomes(t.cells[o.at].described())...)
	for i, name := range []string{"scope", "kind", "position", "delta"} {
		members = append(members, kind.Member{Name: name, Code: notDerived, Value: found[i]})
	}
	if err := kind.DemandAll(t.shown, o.pointer, members); err != nil {
		return err
	}
	if !holds {
		return refusal.New(notDerived, o.pointer+"/sort")
	}
	return nil
}

func asOutcomes(members []kind.Member) []kind.Member {
	for i := range members {
		members[i].Code = notDerived
	}
	return members
}

// checkMembers sees that members are there exactly where the sort names them.
func (o *observation) checkMembers() *refusal.Refusal {
	silent := o.sort == "no_answer"
	type wanted struct {
		name  string
		there bool
	}
	members := []wanted{{"cell", !silent}}
	if silent {
		for _, name := range []string{"case", "control", "cache", "filler", "order", "scope", "kind",
			"position", "delta"} {
			members = append(members, wanted{name, false})
		}
	}
	members = append(members, wanted{"failure", o.sort == "failure"}, wanted{"reused", o.sort == "reused"})
	for _, member := range members {
		if (o.shown.Member(member.name) != nil) != member.there {
			return refusal.New(badValue, o.pointer+"/"+member.name)
		}
	}
	bounds := map[string][2]int{"difference": {2, 2}, "rescoring": {2, 2}, "malformed": {1, 2}}[o.sort]
	if n := len(o.shown.List("answers")); n < bounds[0] || n > bounds[1] {
		return refusal.New(badValue, o.pointer+"/answers")
	}
	if (o.shown.Text("told") != "") != silent {
		return refusal.New(badValue, o.pointer+"/told")
	}
	return nil
}

// checkPlace sees that a round and a request are planned.
func (t *trial) checkPlace(cell int, one *lcj.Object, place, pointer string) *refusal.Refusal {
	if cell >= len(t.cells) || t.cells[cell].other() {
		return refusal.New(badValue, pointer+"/cell")
	}
	switch {
	case one.Int("lifetime") >= t.lifetimes:
		return refusal.New(badValue, pointer+"/lifetime")
	case one.Int("number") >= t.cells[cell].perLifetime:
		return refusal.New(badValue, pointer+"/number")
	case one.Int(place) >= int64(t.cells[cell].size(one.Int("number"))):
		return refusal.New(badValue, pointer+"/"+place)
	}
	return nil
}

// readAnswers reads them, and sees that they are of the plan, and of the cell but for a second one.
func (o *observation) readAnswers() *refusal.Refusal {
	for i, one := range o.shown.Objects("answers") {
		pointer := refusal.Index(o.pointer+"/answers", i)
		if err := o.checkPlace(int(one.Int("cell")), one, "place", pointer); err != nil {
			return err
		}
		read, _ := readOutputs([]*lcj.Object{one.Object("output")})
		o.answers = append(o.answers, &answer{
			int(one.Int("cell")), int(one.Int("place")), one.Int("lifetime"), one.Int("number"),
			one.Object("output"), read[0],
		})
	}
	for i, one := range o.answers {
		if one.cell != o.at && !(o.sort == "difference" && i == 1) {
			return refusal.New(badValue, refusal.Index(o.pointer+"/answers", i)+"/cell")
		}
	}
	return nil
}

// judge gives scope, kind, position and delta, and whether the observation holds.
func (o *observation) judge() ([4]any, bool, *refusal.Refusal) {
	none := [4]any{}
	switch o.sort {
	case "difference":
		found, err := o.difference()
		return found, true, err
	case "rescoring":
		found, err := o.rescoring()
		return found, true, err
	case "malformed":
		holds, err := o.malformed()
		return none, holds, err
	case "reused":
		holds, err := o.reused()
		return none, holds, err
	}
	return none, true, o.checkPlace(o.at, o.shown.Object("failure"), "request", o.pointer+"/failure")
}

// difference is [DET-7].
func (o *observation) difference() (found [4]any, err *refusal.Refusal) {
	a, b, second := o.answers[0], o.answers[1], o.pointer+"/answers/1"
	scope := o.scope(a, b)
	switch {
	case a.cell == b.cell && a.lifetime == b.lifetime && a.number == b.number && a.place == b.place:
		return found, refusal.New(badValue, second)
	case scope == "":
		return found, refusal.New(badValue, second+"/cell")
	}
	like := o.cells[a.cell].requests[a.place].signature(a.number)
	if like == "" || like != o.cells[b.cell].requests[b.place].signature(b.number) {
		return found, refusal.New(badValue, second+"/place")
	}
	if lcj.Equal(a.object, b.object) {
		return found, refusal.New(notDerived, o.pointer+"/kind")
	}
	kind := kindOf(a.output, b.output)
	at, apart := position(a.output, b.output, kind), any(nil)
	own, others := a.output.logprobs, b.output.logprobs
	if n, ok := at.(int64); ok && kind == inLogprobs && n < int64(len(own)) && n < int64(len(others)) {
		if own[n] != nil && others[n] != nil {
			apart = delta(own[n], others[n])
		}
	}
	return [4]any{scope, kindNames[kind], at, apart}, nil
}

// scope is empty where the second answer is of no partner.
func (o *observation) scope(a, b *answer) string {
	switch {
	case a.cell == b.cell && a.lifetime == b.lifetime:
		return "repeats"
	case a.cell == b.cell:
		return "lifetimes"
	}
	own, other := o.cells[a.cell], o.cells[b.cell]
	if own.control != "" || own.of != other.of {
		return ""
	}
	if other.control == "sequential" {
		return "alone"
	}
	first := slices.IndexFunc(o.cells, func(c *cell) bool { return c.of == own.of && c.control == "" })
	if b.cell == first {
		return "condition"
	}
	return ""
}

// rescoring is [DET-8].
func (o *observation) rescoring() (found [4]any, err *refusal.Refusal) {
	a, b := o.answers[0], o.answers[1]
	if err := o.checkRescored(a, b); err != nil {
		return found, err
	}
	told, wanted := a.output.promptLogprobs, b.output.logprobs
	if told == nil || wanted == nil {
		return found, refusal.New(badValue, o.pointer+"/answers/0/output")
	}
	last := told[max(0, len(told)-len(wanted)):]
	at, apart := agreeing(last, wanted), any(nil)
	if at == int64(len(wanted)) {
		return found, refusal.New(notDerived, o.pointer+"/kind")
	}
	if at < int64(len(last)) && last[at] != nil && wanted[at] != nil {
		apart = delta(last[at], wanted[at])
	}
	return [4]any{"rescoring", "logprobs", at, apart}, nil
}

// checkRescored sees that the second answer is what the first one's request rescores.
func (o *observation) checkRescored(a, b *answer) *refusal.Refusal {
	pointer := o.pointer + "/answers/1"
	switch {
	case b.lifetime != a.lifetime:
		return refusal.New(badValue, pointer+"/lifetime")
	case b.number != a.number:
		return refusal.New(badValue, pointer+"/number")
	case b.place != o.cells[a.cell].requests[a.place].rescores:
		return refusal.New(badValue, pointer+"/place")
	}
	return nil
}

// malformed is [DET-9].
func (o *observation) malformed() (bool, *refusal.Refusal) {
	a := o.answers[0]
	asked := &o.cells[a.cell].requests[a.place]
	if (asked.rescores >= 0) != (len(o.answers) == 2) {
		return false, refusal.New(badValue, o.pointer+"/answers")
	}
	prompt := int64(len(asked.prompt))
	if asked.rescores >= 0 {
		if err := o.checkRescored(a, o.answers[1]); err != nil {
			return false, err
		}
		prompt = unknown
		if size := o.answers[1].output.size(); size != unknown {
			prompt = int64(len(o.cells[a.cell].requests[asked.rescores].prompt)) + size
		}
	}
	return a.output.malformed(asked.maxNew, asked.topIn(a.number), prompt), nil
}

// reused is [DET-11].
func (o *observation) reused() (bool, *refusal.Refusal) {
	one, c, pointer := o.shown.Object("reused"), o.cells[o.at], o.pointer+"/reused"
	number, cached := one.Int("number"), one.List("cached")
	switch {
	case number < max(1, o.plan.priming) || number >= c.perLifetime:
		return false, refusal.New(badValue, pointer+"/number")
	case one.Int("lifetime") >= o.lifetimes:
		return false, refusal.New(badValue, pointer+"/lifetime")
	case len(cached) != c.size(number):
		return false, refusal.New(badValue, pointer+"/cached")
	}
	some, all, any := false, true, false
	for place, told := range cached {
		tokens, reported := told.(int64)
		asked := &c.requests[place]
		if !reported || asked.role != "probe" || int64(len(asked.prompt)) <= o.plan.blockSize {
			continue
		}
		if c.condition[0] != "off" && asked.wave != 0 {
			continue
		}
		some, all, any = true, all && tokens > 0, any || tokens > 0
	}
	switch c.condition[0] {
	case "off":
		return any, nil
	case "cold":
		return some && all, nil
	}
	return false, nil
}
