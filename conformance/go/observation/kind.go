// Package observation derives certificates of the kind `layout-observation` (layout-observation.md).
package observation

import (
	"slices"

	"lockstep/conformance/go/kind"
	"lockstep/conformance/go/layout"
	"lockstep/conformance/go/lcj"
	"lockstep/conformance/go/refusal"
	"lockstep/conformance/go/schema"
	"lockstep/conformance/go/specification"
	"lockstep/conformance/go/statement"
)

// PredicateType is the kind's predicate type.
const PredicateType = "urn:lockstep:certificate:layout-observation:v1"

const (
	badValue   = "BAD_VALUE"
	recount    = "H10_COUNTS_DO_NOT_RECOMPUTE"
	notDerived = "OUTCOME_NOT_DERIVED"
)

// notRun is [OBS-8].
var notRun = []string{"other versions of these engines, and their kernels on devices", "block tables and scales"}

// countNames are in the order of the schema's `required`.
var countNames = []string{
	"observations", "matches", "differs", "not_representable", "explained", "runs", "elements", "wrong", "stray",
}

// Kind is the kind with its data.
type Kind struct {
	Schema     *schema.Schema
	SpecDigest string

	dtypes, limits *lcj.Object
}

// NewKind reads the kind's data.
func NewKind(spec *specification.Specification) (*Kind, error) {
	k := &Kind{}
	var err error
	if k.Schema, err = spec.Schema("layout-observation"); err != nil {
		return nil, err
	}
	data, err := spec.Object("hunt.json")
	if err != nil {
		return nil, err
	}
	k.dtypes, k.limits = data.Object("dtypes"), data.Object("limits")
	k.SpecDigest, err = spec.Digest("schemas/layout-observation.schema.json", "hunt.json")
	return k, err
}

// derivation is one on the way to its verdict.
type derivation struct {
	*Kind
	predicate *lcj.Object
	geometry  layout.Geometry
	layouts   []layout.Layout
	counts    map[string]int64
}

// Derive is the order of derivation of [OBS-9].
func (k *Kind) Derive(stated *statement.Statement, evidence kind.Evidence, _ bool) (*kind.Derived, *refusal.Refusal) {
	predicate := stated.Predicate
	d := &derivation{
		Kind: k, predicate: predicate, counts: map[string]int64{},
		geometry: layout.ReadGeometry(predicate.Object("geometry"), k.dtypes),
	}
	for _, step := range []func() *refusal.Refusal{d.checkGeometry, d.checkLayouts, d.checkObservations} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	if err := kind.CheckCounts(predicate, countNames, d.counts); err != nil {
		return nil, err
	}
	verdict := "OBSERVED"
	if d.counts["matches"] < d.counts["observations"] {
		verdict = "DIFFERENT"
	}
	if err := kind.Demand(predicate, "/predicate", "verdict", notDerived, verdict); err != nil {
		return nil, err
	}
	if err := kind.CheckNotRun(predicate, notRun); err != nil {
		return nil, err
	}
	if err := layout.CheckSources(d.layouts, stated, evidence); err != nil {
		return nil, err
	}
	engine := specification.Sha256(lcj.Encode(predicate.Object("engine")))
	if err := stated.CheckSubject("engine", engine); err != nil {
		return nil, err
	}
	return &kind.Derived{Verdict: verdict, Counts: d.counts}, nil
}

// checkGeometry is [OBS-1], then [LAY-1] and [LAY-4].
func (d *derivation) checkGeometry() *refusal.Refusal {
	g := d.geometry
	extents := []int64{g.Layers, g.Tokens, g.KVHeads, g.HeadDim}
	slices.Sort(extents)
	alike := len(slices.Compact(slices.Clone(extents))) < len(extents)
	if extents[0] < 2 || alike || g.Tokens > digits*digits || numbersWritten(g) > digits*digits {
		return refusal.New(badValue, "/predicate/geometry")
	}
	return layout.CheckGeometry(g, d.predicate.Objects("layouts"), d.limits.Int("canonical_elements"))
}

// checkLayouts is what step 2 of hunt.md asks of declarations, whose names may repeat here.
func (d *derivation) checkLayouts() *refusal.Refusal {
	for i, entry := range d.predicate.Objects("layouts") {
		pointer, found := refusal.Index("/predicate/layouts", i), layout.Read(entry)
		if err := found.CheckDeclaration(d.geometry, pointer); err != nil {
			return err
		}
		if found.Realisable(d.geometry) && found.Realise(d.geometry).Positions > d.limits.Int("positions") {
			return refusal.New(badValue, pointer)
		}
		d.layouts = append(d.layouts, found)
	}
	return nil
}

func (d *derivation) checkObservations() *refusal.Refusal {
	const pointer = "/predicate/observations"
	stated := d.predicate.Objects("observations")
	for i, o := range stated {
		at := refusal.Index(pointer, i)
		if o.Int("layout") != int64(i) || i >= len(d.layouts) {
			return refusal.New(badValue, at+"/layout")
		}
		runs, err := d.readRuns(o.Objects("runs"), at+"/runs")
		if err != nil {
			return err
		}
		if err := d.judge(d.layouts[i], runs, o, at); err != nil {
			return err
		}
	}
	if len(stated) != len(d.layouts) {
		return refusal.New(badValue, pointer)
	}
	d.counts["observations"] = int64(len(stated))
	return nil
}

// readRuns sees to types, then to lengths.
func (d *derivation) readRuns(stated []*lcj.Object, pointer string) ([]*run, *refusal.Refusal) {
	var runs []*run
	types := map[string]bool{}
	for i, o := range stated {
		dtype := o.Text("dtype")
		if types[dtype] || i == 0 && dtype != d.predicate.Object("geometry").Text("dtype") {
			return nil, refusal.New(badValue, refusal.Index(pointer, i))
		}
		types[dtype] = true
		one := &run{dtype: dtype, bits: d.dtypes.Int(dtype), geometry: d.geometry}
		one.geometry.Bits = one.bits
		runs = append(runs, one)
	}
	for i, o := range stated {
		if err := runs[i].readBuffers(o.Objects("buffers"), refusal.Index(pointer, i)+"/buffers"); err != nil {
			return nil, err
		}
	}
	return runs, nil
}

// judge derives the rest of an observation ([OBS-4] to [OBS-6]).
func (d *derivation) judge(declared layout.Layout, runs []*run, o *lcj.Object, at string) *refusal.Refusal {
	verdict := "MATCHES"
	var all []*compared
	for _, r := range runs {
		found := r.compare(declared)
		all = append(all, found)
		switch {
		case found == nil:
			verdict = "NOT_REPRESENTABLE"
		case verdict == "MATCHES" && (found.wrong > 0 || found.stray > 0):
			verdict = "DIFFERS"
		}
	}
	for i, stated := range o.Objects("runs") {
		found := all[i]
		if verdict == "NOT_REPRESENTABLE" {
			found = &compared{}
		}
		err := kind.DemandAll(stated, refusal.Index(at+"/runs", i), []kind.Member{
			{Name: "wrong", Code: recount, Value: found.wrong}, {Name: "stray", Code: recount, Value: found.stray},
			{Name: "first", Code: notDerived, Value: found.first},
		})
		if err != nil {
			return err
		}
		d.counts["wrong"] += found.wrong
		d.counts["stray"] += found.stray
		d.counts["elements"] += numbersWritten(d.geometry)
		d.counts["runs"]++
	}
	explanation := any(nil)
	if verdict == "DIFFERS" {
		explanation = explain(declared, runs)
	}
	d.counts["matches"] += kind.Bit(verdict == "MATCHES")
	d.counts["differs"] += kind.Bit(verdict == "DIFFERS")
	d.counts["not_representable"] += kind.Bit(verdict == "NOT_REPRESENTABLE")
	d.counts["explained"] += kind.Bit(explanation != nil)
	return kind.DemandAll(o, at, []kind.Member{
		{Name: "verdict", Code: notDerived, Value: verdict},
		{Name: "explanation", Code: notDerived, Value: explanation},
	})
}
