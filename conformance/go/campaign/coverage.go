package campaign

import (
	"lockstep/conformance/go/lcj"
	"lockstep/conformance/go/refusal"
	"lockstep/conformance/go/relation"
)

// sizes are the members of a row of coverage, in their order.
var sizes = []string{"cells", "pairs", "triples", "predicates"}

// cover is what populations show of what is legal.
type cover struct {
	cells, predicates map[int64]bool
	grams             map[relation.Gram]bool
}

func newCover() cover {
	return cover{map[int64]bool{}, map[int64]bool{}, map[relation.Gram]bool{}}
}

// all is what every population shows.
func (d *derivation) all() cover {
	c := newCover()
	for _, p := range d.populations {
		c.add(p, func(relation.Gram) bool { return true }, true)
	}
	return c
}

// explored is [FUZZ-2]'s and [FUZZ-11]'s.
func (d *derivation) explored() cover {
	c := newCover()
	for _, p := range d.populations {
		c.add(p, p.credits, len(p.targets) == 0)
	}
	return c
}

// add takes what a population shows, of n-grams those that count, and the others or none of them.
func (c cover) add(p *shown, counts func(relation.Gram) bool, others bool) {
	for gram := range p.grams {
		if counts(gram) {
			c.grams[gram] = true
		}
	}
	if !others {
		return
	}
	for place := range p.cells {
		c.cells[place] = true
	}
	for place := range p.predicates {
		c.predicates[place] = true
	}
}

// sizes counts what is legal of it, by name.
func (c cover) sizes(legal []relation.Gram) map[string]int64 {
	found := map[string]int64{"cells": int64(len(c.cells)), "predicates": int64(len(c.predicates))}
	for _, gram := range legal {
		if c.grams[gram] {
			found[part(gram)]++
		}
	}
	return found
}

func part(gram relation.Gram) string {
	if len(gram.Events()) == 2 {
		return "pairs"
	}
	return "triples"
}

// legalSizes are the denominators.
func (d *derivation) legalSizes() map[string]int64 {
	found := map[string]int64{
		"cells": int64(len(d.relation.Cells)), "predicates": int64(len(d.data.predicates)),
	}
	for _, gram := range d.legal {
		found[part(gram)]++
	}
	return found
}

// checkCoverage is step 5.
func (d *derivation) checkCoverage(stated *lcj.Object) *refusal.Refusal {
	const pointer = "/predicate/coverage/"
	legal := d.legalSizes()
	for _, name := range sizes {
		if stated.Object("legal").Int(name) != legal[name] {
			return refusal.New(underived, pointer+"legal/"+name)
		}
	}
	if err := d.checkRows(stated.Objects("rows"), pointer+"rows"); err != nil {
		return err
	}
	explored, all := d.explored(), d.all()
	for _, list := range []struct {
		name   string
		wanted []any
	}{
		{"unexplored", d.missing(explored)}, {"unseen", d.missing(all)},
		{"unwitnessed", d.unwitnessed(all)}, {"unshown", d.unshown(all)},
	} {
		if !lcj.Equal(stated.List(list.name), list.wanted) {
			return refusal.New(recount, pointer+list.name)
		}
	}
	return nil
}

// checkRows judges the rows of coverage.
func (d *derivation) checkRows(stated []*lcj.Object, pointer string) *refusal.Refusal {
	names := []string{}
	covers := []cover{}
	for _, p := range d.populations {
		names, covers = append(names, p.name), append(covers, cover{p.cells, p.predicates, p.grams})
	}
	names, covers = append(names, "explored", "all"), append(covers, d.explored(), d.all())
	if len(stated) != len(names) {
		return refusal.New(underived, pointer)
	}
	for i, row := range stated {
		at := refusal.Index(pointer, i)
		if row.Text("population") != names[i] {
			return refusal.New(underived, at+"/population")
		}
		found := covers[i].sizes(d.legal)
		for _, name := range sizes {
			if row.Int(name) != found[name] {
				return refusal.New(recount, at+"/"+name)
			}
		}
	}
	return nil
}

// missing are the legal n-grams that are not shown, as a document has them.
func (d *derivation) missing(c cover) []any {
	found := []any{}
	for _, gram := range d.legal {
		if !c.grams[gram] {
			found = append(found, gram.List())
		}
	}
	return found
}

func (d *derivation) unwitnessed(c cover) []any {
	found := []any{}
	for place, cell := range d.relation.Cells {
		if !c.cells[int64(place)] {
			found = append(found, lcj.NewObject().Set("state", cell.State).Set("event", cell.Event))
		}
	}
	return found
}

func (d *derivation) unshown(c cover) []any {
	found := []any{}
	for place, name := range d.data.predicates {
		if !c.predicates[int64(place)] {
			found = append(found, name)
		}
	}
	return found
}
