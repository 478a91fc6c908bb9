// Package lifecycle makes the lifecycle's queries and runs the traces of a certificate
// (lifecycle.md, LIFE-5 to LIFE-27).
package lifecycle

import (
	"fmt"
	"strconv"
	"strings"

	"lockstep/conformance/go/lcj"
	"lockstep/conformance/go/specification"
)

// Lifecycle is the data of lifecycle.json and of the template.
type Lifecycle struct {
	data     *lcj.Object
	sections map[string][]string
}

// Query is a query that a certificate must hold.
type Query struct {
	Name, Expected, Text string
}

// Read reads the data.
func Read(spec *specification.Specification) (*Lifecycle, error) {
	data, err := spec.Object("lifecycle.json")
	if err != nil {
		return nil, err
	}
	template, err := spec.Bytes("lifecycle.smt2.template")
	if err != nil {
		return nil, err
	}
	l := &Lifecycle{data, map[string][]string{}}
	name := ""
	for _, line := range strings.Split(string(template), "\n") {
		switch {
		case line == "" || strings.HasPrefix(line, ";;"):
		case strings.HasPrefix(line, "[") && strings.HasSuffix(line, "]"):
			name = line[1 : len(line)-1]
		default:
			l.sections[name] = append(l.sections[name], line)
		}
	}
	return l, nil
}

// text is a text in the making ([LIFE-25], [LIFE-26]).
type text struct {
	lifecycle *Lifecycle
	model     *lcj.Object
	weakening string
	lines     []string
}

func (l *Lifecycle) begin(model, weakening string) *text {
	t := &text{lifecycle: l, model: l.data.Object("models").Object(model), weakening: weakening}
	t.lines = []string{"(set-logic QF_LIA)"}
	t.section("names", -1)
	t.section("requests", -1)
	return t
}

func (t *text) end() string {
	return strings.Join(append(t.lines, "(check-sat)"), "\n") + "\n"
}

// Queries gives all of them in their order.
func (l *Lifecycle) Queries() []Query {
	var found []Query
	for _, entry := range l.data.Objects("inductive") {
		for _, words := range l.each(entry.Member("each")) {
			t := l.begin("inductive", "")
			for _, section := range entry.Texts("sections") {
				name, time, _ := strings.Cut(section, " ")
				at, _ := strconv.Atoi(time)
				t.section(name, at)
			}
			for _, assertion := range entry.Texts("assert") {
				t.lines = append(t.lines, "(assert "+t.loops(words.Replace(assertion))+")")
			}
			name := "lifecycle/" + strings.ToLower(words.Replace(entry.Text("name")))
			found = append(found, Query{name, "unsat", t.end()})
		}
	}
	for _, run := range l.runs() {
		found = append(found, Query{run.name, "sat", l.trace(run)})
	}
	return found
}

// each gives the words that an inductive query stands for once each ([LIFE-25]).
func (l *Lifecycle) each(each any) []*strings.Replacer {
	var found []*strings.Replacer
	switch each {
	case "events":
		for _, event := range l.data.Texts("events") {
			found = append(found, strings.NewReplacer("$event", event))
		}
	case "unreachable":
		for _, pair := range l.data.Objects("unreachable") {
			found = append(found, strings.NewReplacer("$state", pair.Text("state"), "$event", pair.Text("event")))
		}
	default:
		found = append(found, strings.NewReplacer())
	}
	return found
}

// run is a run that a trace query asks for ([LIFE-26]).
type run struct {
	name, goal, weakening string
	// state and event are the cell of a witness.
	state, event string
	steps        int
}

// runs gives them in their order.
func (l *Lifecycle) runs() []run {
	var found []run
	for _, entry := range l.data.Objects("witnesses") {
		state, event := entry.Text("state"), entry.Text("event")
		name := "lifecycle/witness/" + strings.ToLower(state+"/"+event)
		found = append(found, run{name, "witness", "", state, event, int(entry.Int("steps"))})
	}
	for _, entry := range l.data.Objects("weakenings") {
		weakening := entry.Text("name")
		found = append(found, run{
			"lifecycle/foil/" + weakening, entry.Text("breaks"), weakening, "", "", int(entry.Int("steps")),
		})
	}
	return found
}

// trace is the text of a trace query ([LIFE-26]).
func (l *Lifecycle) trace(r run) string {
	t := l.begin("bounded", r.weakening)
	t.section("state", 0)
	t.section("initial", 0)
	t.lines = append(t.lines, "(assert initial_0)")
	for time := 0; time < r.steps; time++ {
		t.section("choice", time)
		t.section("state", time+1)
		t.section("effect", time)
		t.lines = append(t.lines, fmt.Sprintf("(assert step_%d)", time))
	}
	goal := l.data.Object("goals").Object(r.goal)
	at, words := times(r.steps), strings.NewReplacer("$state", r.state, "$event", r.event)
	for _, section := range goal.Texts("sections") {
		name, time, _ := strings.Cut(at.Replace(section), " ")
		number, _ := strconv.Atoi(time)
		t.section(name, number)
	}
	for _, assertion := range goal.Texts("assert") {
		t.lines = append(t.lines, "(assert "+t.loops(at.Replace(words.Replace(assertion)))+")")
	}
	return t.end()
}

func times(time int) *strings.Replacer {
	return strings.NewReplacer("@", strconv.Itoa(time), "^", strconv.Itoa(time+1))
}

// section adds a section's lines at a time, -1 for one that has none ([LIFE-23]).
func (t *text) section(name string, time int) {
	for _, line := range t.lifecycle.sections[name] {
		if time >= 0 {
			line = times(time).Replace(line)
		}
		t.line(line)
	}
}

// line adds what a line stands for ([LIFE-23]).
func (t *text) line(line string) {
	for _, word := range []string{"if ", "unless "} {
		if rest, found := strings.CutPrefix(line, word); found {
			name, kept, _ := strings.Cut(rest, ": ")
			if (name == t.weakening) != (word == "if ") {
				return
			}
			line = kept
			break
		}
	}
	lines := []string{line}
	if rest, found := strings.CutPrefix(line, "for "); found {
		letters, body, _ := strings.Cut(rest, ": ")
		lines = []string{body}
		for _, letter := range strings.Split(letters, " ") {
			var longer []string
			for _, before := range lines {
				for _, value := range t.values(letter) {
					longer = append(longer, value.Replace(before))
				}
			}
			lines = longer
		}
	}
	for _, each := range lines {
		t.lines = append(t.lines, t.loops(each))
	}
}

// loops expands the inline loops of a text, the innermost first, and puts in the bounds.
func (t *text) loops(line string) string {
	for {
		closing := strings.Index(line, "}")
		if closing < 0 {
			break
		}
		// The first closing brace ends the first loop that holds none.
		opening := strings.LastIndex(line[:closing], "{")
		letter, body := line[opening+1:opening+2], line[opening+4:closing]
		var rounds []string
		for _, value := range t.values(letter) {
			rounds = append(rounds, value.Replace(body))
		}
		line = line[:opening] + strings.Join(rounds, " ") + line[closing+1:]
	}
	bound := func(name string) string { return strconv.FormatInt(t.model.Int(name), 10) }
	return strings.NewReplacer("%R", bound("requests"), "%B", bound("blocks"), "%S", bound("block_size")).Replace(line)
}

// values gives what the values of a loop put in ([LIFE-24]).
func (t *text) values(letter string) []*strings.Replacer {
	var found []*strings.Replacer
	data := t.lifecycle.data
	switch letter {
	case "s", "e":
		member := map[string]string{"s": "states", "e": "events"}[letter]
		for i, name := range data.Texts(member) {
			found = append(found, strings.NewReplacer("$"+letter, name, "#"+letter, strconv.Itoa(i)))
		}
	case "k":
		for _, cell := range data.Objects("cells") {
			found = append(found, strings.NewReplacer("$k.state", cell.Text("state"),
				"$k.event", cell.Text("event"), "$k.next", cell.Text("next")))
		}
	default:
		count := t.model.Int("blocks")
		if letter == "r" || letter == "q" {
			count = t.model.Int("requests")
		}
		for i := range count {
			found = append(found, strings.NewReplacer("$"+letter, strconv.FormatInt(i, 10)))
		}
	}
	return found
}
