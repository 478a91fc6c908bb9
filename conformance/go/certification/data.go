package certification

import (
	"fmt"

	"lockstep/conformance/go/lcj"
	"lockstep/conformance/go/specification"
)

// data is `certification.json` as far as rules use it.
type data struct {
	confidence, aloneProbes, fillerUnits, seedBase int64

	capabilities, identity, features, words, limits []string
	// axes are the names, in order, values those of each.
	axes   []string
	values map[string][]string
	// cacheNeeds is the capability that a value of the axis `cache` needs.
	cacheNeeds map[string]string
	// seeded are the names of the entries of `sampling` that are seeded.
	seeded map[string]bool
	cases  []*caseOf
	byName map[string]*caseOf
	// eval is what the conditions of the user's prompts are made of.
	eval *caseOf
	// adapters are those that are known, by name.
	adapters map[string]*lcj.Object
}

// caseOf is a case of the data.
type caseOf struct {
	name               string
	width              int64
	needs, axes, waves []string
	groups             []*lcj.Object
}

func readData(spec *specification.Specification) (*data, error) {
	told, err := spec.Object("certification.json")
	if err != nil {
		return nil, err
	}
	d := &data{
		confidence: told.Int("confidence_permille"), aloneProbes: told.Int("alone_probes"),
		fillerUnits: told.Int("filler_units"), seedBase: told.Int("seed_base"),
		capabilities: told.Texts("capabilities"), identity: told.Texts("identity"),
		features: told.Texts("features"), words: told.Texts("words"),
		values: map[string][]string{}, cacheNeeds: map[string]string{},
		seeded: map[string]bool{}, byName: map[string]*caseOf{}, adapters: map[string]*lcj.Object{},
	}
	for _, one := range told.Objects("limits") {
		d.limits = append(d.limits, one.Text("id"))
	}
	for _, one := range told.Objects("axes") {
		d.axes = append(d.axes, one.Text("name"))
		d.values[one.Text("name")] = one.Texts("values")
	}
	for _, one := range told.Objects("cache_needs") {
		d.cacheNeeds[one.Text("value")] = one.Text("capability")
	}
	for _, one := range told.Objects("sampling") {
		d.seeded[one.Text("name")] = one.Bool("seeded")
	}
	for _, one := range told.Objects("adapters") {
		d.adapters[one.Text("name")] = one
	}
	for _, one := range told.Objects("cases") {
		read := readCase(one)
		read.groups = one.Objects("requests")
		d.cases, d.byName[read.name] = append(d.cases, read), read
	}
	d.eval = readCase(told.Object("eval_case"))
	if len(d.axes) != axesNumber {
		return nil, fmt.Errorf("certification.json has %d axes, and a condition %d", len(d.axes), axesNumber)
	}
	return d, nil
}

// readCase reads a case without its requests.
func readCase(o *lcj.Object) *caseOf {
	return &caseOf{
		name: o.Text("name"), width: o.Int("width"), needs: o.Texts("needs"), axes: o.Texts("axes"),
		waves: o.Texts("waves"),
	}
}

// caseNames are the names of all cases, in order.
func (d *data) caseNames() []string {
	var names []string
	for _, one := range d.cases {
		names = append(names, one.name)
	}
	return names
}
