package campaign

import (
	"slices"
	"strings"

	"lockstep/conformance/go/lcj"
	"lockstep/conformance/go/relation"
	"lockstep/conformance/go/specification"
)

const dataFile = "fuzz.json"

// probes is the population whose seeds have a target each ([FUZZ-1], [FUZZ-4]).
const probes = "probes"

// declared is what fuzz.json and lifecycle.json declare for campaigns.
type declared struct {
	round       int64
	populations []population
	// predicates are the boundary predicates by place, and atCase says which stand at `case`.
	predicates []string
	atCase     []bool
	floors     *lcj.Object
	events     []string
	// unreachable is the list that a predicate has of them ([FUZZ-9]).
	unreachable []any
	// targets are those of the probes, by seed.
	targets []target
}

// population is one of fuzz.json#/populations ([FUZZ-1]).
type population struct {
	name    string
	targets []string
	// stated are the targets as the file has them.
	stated []any
	// seeds is how many it has at least.
	seeds int
}

// target is a cell by its place, or, where the place is -1, an n-gram ([FUZZ-4]).
type target struct {
	cell int
	gram relation.Gram
}

func readDeclared(spec *specification.Specification, rel *relation.Relation, legal []relation.Gram) (*declared, error) {
	data, err := spec.Object(dataFile)
	if err != nil {
		return nil, err
	}
	lifecycle, err := spec.Object(relation.File)
	if err != nil {
		return nil, err
	}
	d := &declared{round: data.Int("round"), floors: data.Object("floors"), events: lifecycle.Texts("events")}
	for place := range rel.Cells {
		d.targets = append(d.targets, target{cell: place})
	}
	for _, gram := range legal {
		d.targets = append(d.targets, target{-1, gram})
	}
	for _, entry := range data.Objects("populations") {
		one := population{name: entry.Text("name"), targets: entry.Texts("targets"),
			stated: entry.List("targets"), seeds: len(d.targets)}
		if one.name != probes {
			one.seeds = int(entry.Int("seeds"))
		}
		d.populations = append(d.populations, one)
	}
	for _, entry := range data.Objects("predicates") {
		d.predicates = append(d.predicates, entry.Text("name"))
		d.atCase = append(d.atCase, entry.Text("at") == "case")
	}
	for _, pair := range lifecycle.Objects("unreachable") {
		state, event := pair.Text("state"), pair.Text("event")
		d.unreachable = append(d.unreachable, lcj.NewObject().Set("state", state).Set("event", event).
			Set("query", strings.ToLower("lifecycle/unreachable/"+state+"/"+event)))
	}
	return d, nil
}

// areEvents says whether each name is one of an event.
func (d *declared) areEvents(names []string) bool {
	return !slices.ContainsFunc(names, func(name string) bool { return !slices.Contains(d.events, name) })
}

// credits says whether an n-gram that a population shows counts as explored ([FUZZ-2]).
func (p population) credits(gram relation.Gram) bool {
	return !slices.ContainsFunc(gram.Events(), func(event string) bool { return slices.Contains(p.targets, event) })
}
