package smt

import (
	"strconv"
	"strings"

	"lockstep/conformance/go/layout"
	"lockstep/conformance/go/lcj"
	"lockstep/conformance/go/refusal"
	"lockstep/conformance/go/specification"
)

const (
	notDerived  = "QUERY_NOT_DERIVED"
	notAnswered = "QUERY_NOT_ANSWERED"
	notCovered  = "COVERAGE_DENOMINATOR_NOT_DERIVED"
)

// derivation is the state of a derivation. Its methods are the steps of smt.md's order of
// derivation; each gives the first offence in it, or nil.
type derivation struct {
	kind      *Kind
	predicate *lcj.Object
	layouts   []layout.Layout
	cases     []oneCase
	// absent are the combinations without a case, each with its reason.
	absent [][4]string
	// scripts are names and texts, in their order.
	scripts [][2]string
	totals  map[string]int64
}

// checkLayouts is the first part of step 1.
func (d *derivation) checkLayouts() *refusal.Refusal {
	seen := map[string]bool{}
	for i, entry := range d.predicate.Objects("layouts") {
		pointer := refusal.Index("/predicate/layouts", i)
		declared := layout.ReadDeclaration(entry)
		if seen[declared.Name] {
			return refusal.New("BAD_VALUE", pointer+"/name")
		}
		seen[declared.Name] = true
		if err := declared.CheckDeclaration(d.kind.geometries[0].Geometry, pointer); err != nil {
			return err
		}
		d.layouts = append(d.layouts, declared)
	}
	return nil
}

// checkSolvers is the last part of step 1.
func (d *derivation) checkSolvers() *refusal.Refusal {
	for i, solver := range d.predicate.Objects("solvers") {
		if name := solver.Text("name"); name != d.kind.solvers[i] {
			at := refusal.Index("/predicate/solvers", i) + "/name"
			return refusal.Expecting("BAD_VALUE", at, d.kind.solvers[i], name)
		}
	}
	return nil
}

// plan is step 2, and makes what step 3 demands.
func (d *derivation) plan() *refusal.Refusal {
	for i, declared := range d.layouts {
		for _, geometry := range d.kind.geometries {
			if declared.Realisable(geometry.Geometry) &&
				declared.Realise(geometry.Geometry).Positions > d.kind.positions {
				return refusal.New("BAD_VALUE", refusal.Index("/predicate/layouts", i))
			}
			for _, mode := range d.kind.modes {
				c := combination{declared, geometry, mode}
				if reason := c.reason(); reason != "" {
					d.absent = append(d.absent, [4]string{declared.Name, geometry.name, mode, reason})
				} else {
					d.cases = append(d.cases, c.cases()...)
				}
			}
		}
	}
	return nil
}

// checkPlan is step 3.
func (d *derivation) checkPlan() *refusal.Refusal {
	var wanted [][]string
	for _, c := range d.cases {
		wanted = append(wanted, c.path())
	}
	fields := []string{"layout", "tensor", "geometry", "mode"}
	if err := compare(d.predicate.Objects("cases"), wanted, fields, "/predicate/cases", notDerived); err != nil {
		return err
	}
	wanted = nil
	for _, listed := range d.absent {
		wanted = append(wanted, listed[:])
	}
	fields = []string{"layout", "geometry", "mode", "reason"}
	return compare(d.predicate.Objects("not_applicable"), wanted, fields, "/predicate/not_applicable", notCovered)
}

// compare compares fields of the entries of a list in order, then their number.
func compare(stated []*lcj.Object, wanted [][]string, fields []string, pointer, code string) *refusal.Refusal {
	for i, entry := range stated[:min(len(stated), len(wanted))] {
		for j, field := range fields {
			if entry.Text(field) != wanted[i][j] {
				at := refusal.Index(pointer, i) + "/" + field
				return refusal.Expecting(code, at, wanted[i][j], entry.Text(field))
			}
		}
	}
	if len(stated) != len(wanted) {
		return refusal.Expecting(code, pointer, strconv.Itoa(len(wanted)), strconv.Itoa(len(stated)))
	}
	return nil
}

// checkCases is step 4.
func (d *derivation) checkCases() *refusal.Refusal {
	for i, stated := range d.predicate.Objects("cases") {
		pointer := refusal.Index("/predicate/cases", i)
		for _, member := range []string{"queries", "guards"} {
			entries := stated.Objects(member)
			if len(entries) != len(d.kind.kinds) {
				return refusal.New(notDerived, pointer+"/"+member)
			}
			for j, entry := range entries {
				at := refusal.Index(pointer+"/"+member, j)
				if err := d.checkQuery(d.cases[i], d.kind.kinds[j], entry, at, member == "guards"); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// checkQuery is step 4 for one query or guard.
func (d *derivation) checkQuery(c oneCase, kind string, stated *lcj.Object, pointer string, guard bool) *refusal.Refusal {
	if stated.Text("kind") != kind {
		return refusal.Expecting(notDerived, pointer+"/kind", kind, stated.Text("kind"))
	}
	expected := "unsat"
	var wrong *planted
	if guard {
		plant := c.plant(kind)
		wrong, expected = &plant, "sat"
		if stated.Text("axis") != wrong.axis {
			return refusal.Expecting(notDerived, pointer+"/axis", wrong.axis, stated.Text("axis"))
		}
		if stated.Int("stride") != wrong.stride {
			return refusal.New(notDerived, pointer+"/stride")
		}
	}
	text := c.text(kind, wrong)
	if err := checkAnswered(stated, text, expected, pointer); err != nil {
		return err
	}
	if guard {
		if !c.breaks(kind, *wrong, stated.Object("counterexample")) {
			return refusal.New("COUNTEREXAMPLE_NOT_REPLAYED", pointer+"/counterexample")
		}
		return nil
	}
	d.script("smt/layouts/"+c.layout.Name+".smt2", c.name()+"/"+kind, text)
	return nil
}

// checkAnswered compares digest, expected answer and answers.
func checkAnswered(stated *lcj.Object, text, expected, pointer string) *refusal.Refusal {
	if digest := specification.Sha256([]byte(text)); stated.Text("sha256") != digest {
		return refusal.Expecting(notDerived, pointer+"/sha256", digest, stated.Text("sha256"))
	}
	if stated.Text("expected") != expected {
		return refusal.Expecting(notDerived, pointer+"/expected", expected, stated.Text("expected"))
	}
	answers := stated.Object("answers")
	for _, solver := range answers.Sorted() {
		if answers.Text(solver) != expected {
			at := pointer + "/answers/" + solver
			return refusal.Expecting(notAnswered, at, expected, answers.Text(solver))
		}
	}
	return nil
}

// script adds a query to a script ([SMT-12]).
func (d *derivation) script(name, query, text string) {
	text = "; " + query + "\n" + text
	if last := len(d.scripts) - 1; last >= 0 && d.scripts[last][0] == name {
		d.scripts[last][1] += "(reset)\n" + text
		return
	}
	d.scripts = append(d.scripts, [2]string{name, text})
}

// checkLifecycle is step 5.
func (d *derivation) checkLifecycle() *refusal.Refusal {
	stated, asked := d.predicate.Member("lifecycle").(*lcj.Object)
	if !asked {
		return nil
	}
	const pointer = "/predicate/lifecycle/queries"
	wanted, entries := d.kind.lifecycle.Queries(), stated.Objects("queries")
	for i, entry := range entries[:min(len(entries), len(wanted))] {
		at := refusal.Index(pointer, i)
		if entry.Text("name") != wanted[i].Name {
			return refusal.Expecting(notDerived, at+"/name", wanted[i].Name, entry.Text("name"))
		}
		if err := checkAnswered(entry, wanted[i].Text, wanted[i].Expected, at); err != nil {
			return err
		}
		if wanted[i].Expected == "unsat" {
			d.script("smt/lifecycle.smt2", wanted[i].Name, wanted[i].Text)
		}
	}
	if len(entries) != len(wanted) {
		return refusal.New(notDerived, pointer)
	}
	return d.kind.lifecycle.CheckTraces(stated.Objects("traces"), "/predicate/lifecycle/traces")
}

// checkScripts is the first half of step 6.
func (d *derivation) checkScripts() *refusal.Refusal {
	var wanted [][]string
	for _, script := range d.scripts {
		wanted = append(wanted, []string{script[0], specification.Sha256([]byte(script[1]))})
	}
	return compare(d.predicate.Objects("scripts"), wanted, []string{"name", "sha256"}, "/predicate/scripts", notDerived)
}

// checkTotals is the second half of step 6.
func (d *derivation) checkTotals() *refusal.Refusal {
	proofs := int64(len(d.cases) * len(d.kind.kinds))
	lifecycleProofs, traces := int64(0), int64(0)
	if stated, asked := d.predicate.Member("lifecycle").(*lcj.Object); asked {
		for _, entry := range stated.Objects("queries") {
			if entry.Text("expected") == "unsat" {
				lifecycleProofs++
			} else {
				traces++
			}
		}
	}
	queries := 2*proofs + lifecycleProofs + traces
	counts := []count{
		{"layouts", int64(len(d.layouts))},
		{"combinations", int64(len(d.layouts) * len(d.kind.geometries) * len(d.kind.modes))},
		{"cases", int64(len(d.cases))}, {"not_applicable", int64(len(d.absent))},
		{"proofs", proofs}, {"guards", proofs}, {"lifecycle_proofs", lifecycleProofs},
		{"lifecycle_traces", traces}, {"queries", queries}, {"answers", queries * int64(len(d.kind.solvers))},
	}
	proved := map[string]map[string]bool{"fixed": {}, "any": {}}
	for _, c := range d.cases {
		proved[c.mode][c.layout.Name] = true
	}
	lossless := int64(0)
	for _, declared := range d.layouts {
		if declared.Quantisation == "none" {
			lossless++
		}
	}
	coverage := []count{
		{"layouts_unquantised", lossless}, {"layouts_proved", int64(len(proved["fixed"]))},
		{"layouts_proved_for_any_tokens", int64(len(proved["any"]))},
	}
	for _, reason := range d.kind.reasons {
		listed := int64(0)
		for _, absent := range d.absent {
			if absent[3] == reason {
				listed++
			}
		}
		coverage = append(coverage, count{reason, listed})
	}
	d.totals = map[string]int64{}
	for _, member := range []struct {
		name   string
		counts []count
	}{{"counts", counts}, {"coverage", coverage}} {
		for _, one := range member.counts {
			if d.predicate.Object(member.name).Int(one.name) != one.value {
				at := strings.Join([]string{"/predicate", member.name, one.name}, "/")
				return refusal.New("H10_COUNTS_DO_NOT_RECOMPUTE", at)
			}
			d.totals[one.name] = one.value
		}
	}
	return nil
}

// count is a member of counts or coverage.
type count struct {
	name  string
	value int64
}
