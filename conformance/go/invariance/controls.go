package invariance

import (
	"strings"

	"lockstep/conformance/go/envelope"
	"lockstep/conformance/go/lcj"
	"lockstep/conformance/go/refusal"
)

// checkControls is step 5; it gives how many controls are of each kind of `shown`.
func (d *derivation) checkControls(stated []*lcj.Object) *refusal.Refusal {
	const pointer = "/predicate/controls"
	declared := d.kind.relations.controls
	if len(stated) != len(declared) {
		return refusal.New(underived, pointer)
	}
	for i, control := range stated {
		at := refusal.Index(pointer, i)
		for _, name := range []string{"backend", "relation", "block_size", "seed"} {
			if !lcj.Equal(control.Member(name), declared[i].Member(name)) {
				return refusal.New(underived, at+"/"+name)
			}
		}
		r := readRecord(control, d.kind.relations.find(control.Text("relation")))
		if err := d.kind.check(r, "", at); err != nil {
			return err
		}
		if err := d.checkBinding(control, at+"/binding"); err != nil {
			return err
		}
		shown := d.shown(r, declared[i].Bool("required"))
		if control.Text("shown") != shown {
			return refusal.Expecting(outcomeNotDerived, at+"/shown", shown, control.Text("shown"))
		}
		d.controls[shown]++
	}
	return d.checkDigests(stated)
}

// shown is that member of [INV-7].
func (d *derivation) shown(r *record, required bool) string {
	repeats := r.repeats(d.twin(r)) && r.stated.Text("backend") != d.resolved["backend"]
	switch {
	case repeats && r.outcome == violated:
		return "shown"
	case repeats && r.outcome == holds && !required:
		return "not_comparable"
	}
	return "not_shown"
}

// twin is the run that a control repeats, or nil.
func (d *derivation) twin(r *record) *record {
	for _, run := range d.runs {
		if run.relation == r.relation && run.stated.Int("block_size") == r.stated.Int("block_size") &&
			run.stated.Int("seed") == r.stated.Int("seed") {
			return run
		}
	}
	return nil
}

// checkBinding is [INV-15].
func (d *derivation) checkBinding(control *lcj.Object, pointer string) *refusal.Refusal {
	binding, backend := control.Objects("binding"), control.Text("backend")
	if control.Text("outcome") == notRun {
		if len(binding) > 0 {
			return refusal.New(badValue, pointer)
		}
		return nil
	}
	held := map[string]bool{}
	for i, setting := range binding {
		name := setting.Text("name")
		if i > 0 && name <= binding[i-1].Text("name") || !d.kind.environments.Binds(backend, name) {
			return refusal.New(badValue, refusal.Index(pointer, i)+"/name")
		}
		held[name] = true
	}
	for _, name := range d.kind.environments.Demanded(backend) {
		if d.kind.environments.Binds(backend, name) && !held[name] {
			return refusal.Expecting("MISSING_FIELD", pointer, name, "none")
		}
	}
	for i, setting := range binding {
		name, value := setting.Text("name"), setting.Text("value")
		here, resolved := d.resolved[name]
		right := !resolved || value == here
		switch {
		case name == "backend":
			right = value == backend
		case strings.HasSuffix(name, "_sha256"):
			right = envelope.IsHex(value, 64, 64)
		}
		if !right {
			return refusal.New(badValue, refusal.Index(pointer, i)+"/value")
		}
	}
	return nil
}

// checkDigests is [REL-26].
func (d *derivation) checkDigests(controls []*lcj.Object) *refusal.Refusal {
	sizes, workloads := map[string]int64{}, map[string]bool{}
	for _, run := range d.runs {
		for _, digest := range run.stated.Texts("workloads") {
			workloads[digest] = true
		}
	}
	for _, control := range controls {
		for _, digest := range control.Texts("workloads") {
			workloads[digest] = true
		}
	}
	look := func(stated *lcj.Object, pointer string) *refusal.Refusal {
		size := stated.Int("block_size")
		for i, digest := range stated.Texts("schedules") {
			if before, known := sizes[digest]; known && before != size || workloads[digest] {
				return refusal.New(badValue, refusal.Index(pointer+"/schedules", i))
			}
			sizes[digest] = size
		}
		return nil
	}
	for i, run := range d.runs {
		if err := look(run.stated, refusal.Index("/predicate/runs", i)); err != nil {
			return err
		}
	}
	for i, control := range controls {
		if err := look(control, refusal.Index("/predicate/controls", i)); err != nil {
			return err
		}
	}
	return d.checkSeeds()
}

// checkSeeds sees that no two seeds of a combination have the same workloads ([REL-26]).
func (d *derivation) checkSeeds() *refusal.Refusal {
	seen := map[string]bool{}
	seeds := len(d.runs) / len(d.demanded)
	for i, run := range d.runs {
		if i%seeds == 0 {
			clear(seen)
		}
		list := strings.Join(run.stated.Texts("workloads"), " ")
		if list != "" && seen[list] {
			return refusal.New(badValue, refusal.Index("/predicate/runs", i)+"/workloads")
		}
		seen[list] = true
	}
	return nil
}
