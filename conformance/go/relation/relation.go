// Package relation holds the request lifecycle's relation and its n-grams (lifecycle.md, LIFE-1
// to LIFE-3).
package relation

import (
	"slices"
	"strings"

	"lockstep/conformance/go/specification"
)

// File is the data's path in the specification.
const File = "lifecycle.json"

// Cell is a cell of the relation ([LIFE-1]).
type Cell struct {
	State, Event, Next string
}

// Relation is the relation with the digest of its file.
type Relation struct {
	Cells []Cell
	// States are in declared order.
	States []string
	// Initial is the state of a request at first.
	Initial string
	// Stated are the cells as the file has them.
	Stated []any
	Sha256 string
}

// Read reads the data.
func Read(spec *specification.Specification) (*Relation, error) {
	text, err := spec.Bytes(File)
	if err != nil {
		return nil, err
	}
	data, err := spec.Object(File)
	if err != nil {
		return nil, err
	}
	r := &Relation{
		States: data.Texts("states"), Initial: data.Text("initial"),
		Stated: data.List("cells"), Sha256: specification.Sha256(text),
	}
	for _, cell := range data.Objects("cells") {
		r.Cells = append(r.Cells, Cell{cell.Text("state"), cell.Text("event"), cell.Text("next")})
	}
	return r, nil
}

// Next gives the state that follows, and whether the relation has the cell.
func (r *Relation) Next(state, event string) (string, bool) {
	for _, cell := range r.Cells {
		if cell.State == state && cell.Event == event {
			return cell.Next, true
		}
	}
	return "", false
}

// Gram is a sequence of events, joined by spaces: events hold none, and below every character of
// theirs stands the space, so that texts are ordered as lists of events are.
type Gram string

// Join makes one of events.
func Join(events []string) Gram {
	return Gram(strings.Join(events, " "))
}

// Events are those of an n-gram.
func (g Gram) Events() []string {
	return strings.Split(string(g), " ")
}

// Legal gives the legal n-grams in ascending order ([LIFE-3]).
func (r *Relation) Legal(n int) []Gram {
	var found []Gram
	var extend func(events []string, state string)
	extend = func(events []string, state string) {
		if len(events) == n {
			found = append(found, Join(events))
			return
		}
		for _, cell := range r.Cells {
			if len(events) == 0 || cell.State == state {
				extend(append(slices.Clone(events), cell.Event), cell.Next)
			}
		}
	}
	extend(nil, "")
	slices.Sort(found)
	return slices.Compact(found)
}

// Compare orders n-grams by their number of events, then by these.
func Compare(a, b Gram) int {
	if by := strings.Count(string(a), " ") - strings.Count(string(b), " "); by != 0 {
		return by
	}
	return strings.Compare(string(a), string(b))
}

// List gives an n-gram as a document has it.
func (g Gram) List() []any {
	var events []any
	for _, event := range g.Events() {
		events = append(events, event)
	}
	return events
}
