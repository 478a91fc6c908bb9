package mutation

import (
	"slices"

	"lockstep/conformance/go/lcj"
	"lockstep/conformance/go/refusal"
)

// row is an operator's trial as it was derived.
type row struct {
	operator operator
	outcomes []string
	verdict  string
	// killers are the places of the observers that killed it.
	killers []int
	// steps are those of the cells that killed it, but for the observer that has none.
	steps []int64
	// contradicted says that it differs between schedules, and is declared not to ([MUT-10]).
	contradicted bool
}

// checkCells sees that there is a cell for each observer, and that it is of the right form.
func (d *derivation) checkCells(cells []*lcj.Object, pointer string) *refusal.Refusal {
	if len(cells) != len(d.observers) {
		return refusal.New(underived, pointer)
	}
	for i, cell := range cells {
		at := refusal.Index(pointer, i)
		seen := cell.Text("seen")
		switch {
		case cell.Text("observer") != d.observers[i].name:
			return refusal.New(underived, at+"/observer")
		case (cell.Text("reason") == "") != (seen != "not_run"):
			return refusal.New(badValue, at+"/reason")
		case (cell.Member("first_difference") != nil) != (seen == "differs"):
			return refusal.New(badValue, at+"/first_difference")
		}
		if err := zero(cell, d.observers[i].uncounted(), at); err != nil {
			return err
		}
	}
	return nil
}

// zero sees that members of a cell are 0.
func zero(cell *lcj.Object, names []string, at string) *refusal.Refusal {
	for _, name := range names {
		if cell.Int(name) != 0 {
			return refusal.New(badValue, at+"/"+name)
		}
	}
	return nil
}

// checkControl is step 3 of the control; it finds the observers that are fit.
func (d *derivation) checkControl(cells []*lcj.Object) *refusal.Refusal {
	const pointer = "/predicate/control"
	if err := d.checkCells(cells, pointer); err != nil {
		return err
	}
	for i, cell := range cells {
		if err := zero(cell, []string{"ran", "live"}, refusal.Index(pointer, i)); err != nil {
			return err
		}
		one, seen := d.observers[i], cell.Text("seen")
		d.fit[one.name] = seen == "agrees"
		d.unproven = d.unproven || !one.baseline() && seen == "differs" || one.belies(seen) ||
			one.schedules && seen == "not_run"
	}
	return nil
}

// outcome is [MUT-9]'s.
func (d *derivation) outcome(one observer, cell *lcj.Object) string {
	switch {
	case !d.fit[one.name]:
		return "unfit"
	case cell.Text("seen") == "not_run":
		return "not_run"
	case cell.Int("ran") == 0 || cell.Int("live") == 0:
		return "not_exercised"
	case cell.Text("seen") == "differs":
		return "killed"
	}
	return "survived"
}

// checkRows is step 3 of the rows.
func (d *derivation) checkRows(rows []*lcj.Object) *refusal.Refusal {
	const pointer = "/predicate/rows"
	if len(rows) != len(d.operators) {
		return refusal.New(underived, pointer)
	}
	for i, stated := range rows {
		if err := d.checkRow(stated, d.operators[i], refusal.Index(pointer, i)); err != nil {
			return err
		}
	}
	return nil
}

func (d *derivation) checkRow(stated *lcj.Object, declared operator, at string) *refusal.Refusal {
	if stated.Text("operator") != declared.id {
		return refusal.New(underived, at+"/operator")
	}
	if stated.Text("edits_sha256") != declared.edits {
		return refusal.New(underived, at+"/edits_sha256")
	}
	found := row{operator: declared}
	cells, pointer := stated.Objects("cells"), at+"/cells"
	if err := d.checkCells(cells, pointer); err != nil {
		return err
	}
	for i, cell := range cells {
		outcome := d.outcome(d.observers[i], cell)
		if cell.Text("outcome") != outcome {
			return refusal.Expecting(
				outcomeNotDerived, refusal.Index(pointer, i)+"/outcome", outcome, cell.Text("outcome"))
		}
		d.add(&found, i, outcome, cell)
	}
	found.verdict = d.judge(found)
	if stated.Text("verdict") != found.verdict {
		return refusal.Expecting(outcomeNotDerived, at+"/verdict", found.verdict, stated.Text("verdict"))
	}
	var names []string
	for _, place := range found.killers {
		names = append(names, d.observers[place].name)
	}
	if !slices.Equal(stated.Texts("killed_by"), names) {
		return refusal.New(outcomeNotDerived, at+"/killed_by")
	}
	if found.verdict == "equivalent" && !declared.proven {
		return refusal.New(proofMissing, at)
	}
	d.rows = append(d.rows, found)
	return nil
}

// add takes a cell of a row.
func (d *derivation) add(r *row, place int, outcome string, cell *lcj.Object) {
	one, seen := d.observers[place], cell.Text("seen")
	r.outcomes = append(r.outcomes, outcome)
	d.unproven = d.unproven || one.belies(seen)
	if one.schedules && !r.operator.visible {
		r.contradicted = r.contradicted || seen == "differs"
		d.unproven = d.unproven || seen == "not_run"
	}
	if outcome != "killed" || one.baseline() {
		return
	}
	r.killers = append(r.killers, place)
	if one.name != stepless {
		r.steps = append(r.steps, cell.Int("steps"))
	}
}

// judge is an operator's verdict ([MUT-10]).
func (d *derivation) judge(found row) string {
	shown := map[string]bool{}
	for i, outcome := range found.outcomes {
		if !d.observers[i].baseline() {
			shown[outcome] = true
		}
	}
	switch {
	case shown["killed"]:
		return "killed"
	case shown["not_run"] || shown["unfit"]:
		return "unproven"
	case !shown["survived"]:
		return "not_exercised"
	case found.operator.proof:
		return "equivalent"
	}
	return "survived"
}
