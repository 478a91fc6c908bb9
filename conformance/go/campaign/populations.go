package campaign

import (
	"encoding/binary"

	"lockstep/conformance/go/engine"
	"lockstep/conformance/go/lcj"
	"lockstep/conformance/go/refusal"
	"lockstep/conformance/go/relation"
)

// shown is a population with its records, and what they show together.
type shown struct {
	population
	records           []*record
	cells, predicates map[int64]bool
	grams             map[relation.Gram]bool
	// corpus are the seeds that show what no smaller one does.
	corpus []int64
}

// checkPopulations is step 4.
func (d *derivation) checkPopulations(stated []*lcj.Object) *refusal.Refusal {
	const pointer = "/predicate/populations"
	if len(stated) != len(d.data.populations) {
		return refusal.New(underived, pointer)
	}
	for i, entry := range stated {
		if err := d.checkPopulation(entry, d.data.populations[i], refusal.Index(pointer, i)); err != nil {
			return err
		}
	}
	for i, gram := range d.table {
		if !d.anyShows(gram) {
			return refusal.New(badValue, refusal.Index("/predicate/n_grams", i))
		}
	}
	return nil
}

func (d *derivation) anyShows(gram relation.Gram) bool {
	for _, p := range d.populations {
		if p.grams[gram] {
			return true
		}
	}
	return false
}

func (d *derivation) checkPopulation(stated *lcj.Object, declared population, at string) *refusal.Refusal {
	records := stated.Objects("records")
	switch {
	case stated.Text("name") != declared.name:
		return refusal.New(underived, at+"/name")
	case !lcj.Equal(stated.List("targets"), declared.stated):
		return refusal.New(underived, at+"/targets")
	case declared.name == probes && len(records) > len(d.data.targets):
		return refusal.New(underived, at+"/records")
	}
	p := &shown{population: declared, cells: map[int64]bool{}, predicates: map[int64]bool{}, grams: map[relation.Gram]bool{}}
	d.populations = append(d.populations, p)
	corpus := []int64(nil)
	for i, entry := range records {
		pointer, seed := refusal.Index(at+"/records", i), int64(i)
		if seed%d.data.round == 0 {
			corpus = p.corpus
		}
		if entry.Int("seed") != seed {
			return refusal.New(underived, pointer+"/seed")
		}
		r, err := d.readRecord(entry, pointer)
		if err != nil {
			return err
		}
		if !lcj.Equal(entry.Member("parent"), p.parent(corpus, seed)) {
			return refusal.New(badValue, pointer+"/parent")
		}
		if member := d.repeats.contradicts(r); member != "" {
			return refusal.New(badValue, pointer+"/"+member)
		}
		if p.add(r) {
			p.corpus = append(p.corpus, seed)
		}
	}
	return nil
}

// parent is the seed whose case a seed alters, or nil ([FUZZ-3]).
func (p *shown) parent(corpus []int64, seed int64) any {
	digest := engine.Framed("lockstep/fuzz-parent/1", []byte(p.name), engine.Numbers(seed))
	number := binary.BigEndian.Uint64(digest[:8])
	if len(corpus) == 0 || number%2 == 0 || p.name == probes {
		return nil
	}
	return corpus[number/2%uint64(len(corpus))]
}

// add takes a record, and says whether it shows a pair, a triple or a predicate for the first time.
func (p *shown) add(r *record) bool {
	before := len(p.grams) + len(p.predicates)
	p.records = append(p.records, r)
	for _, place := range r.cells {
		p.cells[place] = true
	}
	for _, gram := range r.grams {
		p.grams[gram] = true
	}
	for _, place := range r.predicates {
		p.predicates[place] = true
	}
	return len(p.grams)+len(p.predicates) > before
}
