package hunt

import (
	"strconv"

	"lockstep/conformance/go/kind"
	"lockstep/conformance/go/layout"
	"lockstep/conformance/go/lcj"
	"lockstep/conformance/go/refusal"
	"lockstep/conformance/go/statement"
)

// declared is a layout with what follows from it.
type declared struct {
	layout.Layout
	// realised is nil for a layout that is not realisable.
	realised *layout.Realised
	image    string
	lossless bool
	// lemmas are those of the declaration, none where none is registered.
	lemmas []string
}

// derivation is the state of a derivation. Its methods are the steps of hunt.md's order of
// derivation; each gives the first offence in it, or nil.
type derivation struct {
	kind      *Kind
	predicate *lcj.Object
	geometry  layout.Geometry
	layouts   []*declared
	byName    map[string]*declared
	groups    []group
	demanded  map[string]demand
	rows      []row
	counts    map[string]int64
	// lemmas are those that rows name.
	lemmas map[string]bool
}

// Derive is the order of derivation of hunt.md.
func (k *Kind) Derive(stated *statement.Statement, evidence kind.Evidence, exhaustive bool) (*kind.Derived, *refusal.Refusal) {
	d := &derivation{
		kind: k, predicate: stated.Predicate,
		geometry: layout.ReadGeometry(stated.Predicate.Object("geometry"), k.data.Object("dtypes")),
		byName:   map[string]*declared{}, demanded: map[string]demand{}, counts: map[string]int64{},
		lemmas: map[string]bool{},
	}
	steps := []func() *refusal.Refusal{
		d.checkGeometry, d.checkLayouts, d.checkGroups, d.checkPairs, d.checkRows, d.checkTransfer,
		d.checkTotals, d.checkChecks, d.checkKnownLimits, d.checkFalsifications,
		func() *refusal.Refusal { return layout.CheckSources(d.declarations(), stated, evidence) },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return nil, err
		}
	}
	if exhaustive {
		d.enumerate()
	}
	return &kind.Derived{Verdict: "DERIVED", Counts: d.counts}, nil
}

// enumerate is the cross-check of [HUNT-17]. It decides nothing about the document: a difference
// is a fault of this program.
func (d *derivation) enumerate() {
	done := map[string]bool{}
	for _, declared := range d.layouts {
		if declared.realised == nil || done[declared.image] {
			continue
		}
		done[declared.image] = true
		if _, err := declared.realised.Enumerate(); err != nil {
			panic(declared.Name + ": " + err.Error())
		}
	}
}

// checkGeometry is step 1.
func (d *derivation) checkGeometry() *refusal.Refusal {
	most := d.kind.limits.Int("canonical_elements")
	return layout.CheckGeometry(d.geometry, d.predicate.Objects("layouts"), most)
}

// declarations are those of the layouts, in order.
func (d *derivation) declarations() []layout.Layout {
	var all []layout.Layout
	for _, one := range d.layouts {
		all = append(all, one.Layout)
	}
	return all
}

// checkLayouts is step 2.
func (d *derivation) checkLayouts() *refusal.Refusal {
	for i, entry := range d.predicate.Objects("layouts") {
		pointer := refusal.Index("/predicate/layouts", i)
		found := &declared{Layout: layout.Read(entry)}
		if d.byName[found.Name] != nil {
			return refusal.New("BAD_VALUE", pointer+"/name")
		}
		if err := found.CheckDeclaration(d.geometry, pointer); err != nil {
			return err
		}
		if found.Realisable(d.geometry) {
			found.realised = found.Realise(d.geometry)
			if found.realised.Positions > d.kind.limits.Int("positions") {
				return refusal.New("BAD_VALUE", pointer)
			}
			found.image = found.realised.Image()
		}
		if err := d.checkDerived(found, entry.Object("derived"), pointer+"/derived"); err != nil {
			return err
		}
		found.lemmas = d.kind.lemmas.OfLayout(found.DeclarationSha256())
		d.layouts = append(d.layouts, found)
		d.byName[found.Name] = found
	}
	return nil
}

// checkDerived compares a layout's derived fields in the schema's order.
func (d *derivation) checkDerived(found *declared, stated *lcj.Object, pointer string) *refusal.Refusal {
	const denominator, bijection = "COVERAGE_DENOMINATOR_NOT_DERIVED", "BIJECTION_NOT_DERIVED"
	shapes := []any{}
	var positions, padding, replicas, bytes, bijective, identity, image any
	if r := found.realised; r != nil {
		for i, shape := range r.Shapes {
			extents := []any{}
			for _, extent := range shape {
				extents = append(extents, extent)
			}
			shapes = append(shapes, lcj.NewObject().Set("tensor", found.Tensors[i].Name).Set("extents", extents))
		}
		positions, padding, replicas, bytes = r.Positions, r.Padding, r.Replicas, r.NativeBytes
		bijective, identity = true, r.Identity
		image = r.ImageSha256(d.kind.limits.Int("image_elements"))
	}
	return compare(stated, pointer, []expectation{
		{"realisable", found.realised != nil, denominator},
		{"native_shapes", shapes, denominator},
		{"positions", positions, denominator},
		{"padding_positions", padding, denominator},
		{"replicas", replicas, denominator},
		{"native_bytes", bytes, denominator},
		{"bijective", bijective, bijection},
		{"identity", identity, bijection},
		{"image_sha256", image, bijection},
	})
}

// expectation is the value that a field must have, and the code where it has another.
type expectation struct {
	field string
	value any
	code  string
}

// compare gives the first field of an object that is not as expected.
func compare(stated *lcj.Object, pointer string, expected []expectation) *refusal.Refusal {
	for _, e := range expected {
		if got := stated.Member(e.field); !lcj.Equal(got, e.value) {
			return refusal.Expecting(e.code, pointer+"/"+e.field,
				string(lcj.Encode(e.value)), string(lcj.Encode(got)))
		}
	}
	return nil
}

func expectedCount(n int) string {
	return strconv.Itoa(n)
}
