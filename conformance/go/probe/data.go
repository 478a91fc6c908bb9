// Package probe has what the kinds that measure servers have in common (probe.md).
package probe

import (
	"lockstep/conformance/go/lcj"
	"lockstep/conformance/go/specification"
)

// Codes of refusals.
const (
	badValue   = "BAD_VALUE"
	notDerived = "OUTCOME_NOT_DERIVED"
	underived  = "COVERAGE_DENOMINATOR_NOT_DERIVED"
	notRate    = "STATISTICS_DO_NOT_RECOMPUTE"
)

// Data is `probe.json`.
type Data struct {
	Questions               []string
	pins, unshared, flagged []string
	clockStep               int64
	settings                []*lcj.Object
	adapters                map[string]*lcj.Object
	// Probes are the objects of `probes`, by name.
	Probes map[string]*lcj.Object
}

// Read reads the data.
func Read(spec *specification.Specification) (*Data, error) {
	told, err := spec.Object("probe.json")
	if err != nil {
		return nil, err
	}
	d := &Data{
		Questions: told.Texts("questions"), pins: told.Texts("pins"), unshared: told.Texts("unshared"),
		flagged: told.Texts("flagged"), clockStep: told.Int("clock_step_us"),
		settings: told.Objects("settings"), adapters: map[string]*lcj.Object{},
		Probes: map[string]*lcj.Object{},
	}
	for _, one := range told.Objects("adapters") {
		d.adapters[one.Text("name")] = one.Object("metrics")
	}
	for _, one := range told.Objects("probes") {
		d.Probes[one.Text("name")] = one
	}
	return d, nil
}
