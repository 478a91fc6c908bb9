package hunt

import (
	"slices"

	"lockstep/conformance/go/lcj"
	"lockstep/conformance/go/refusal"
)

// lemmasOf gives the names of the lemmas that a row with a proof rests on ([HUNT-18]).
func (d *derivation) lemmasOf(r *row) []string {
	names := slices.Clone(d.kind.lemmas.Rows)
	for _, side := range []*declared{r.src, r.dst} {
		for _, lemma := range side.lemmas {
			if !slices.Contains(names, lemma) {
				names = append(names, lemma)
			}
		}
	}
	return names
}

// checkLemmas compares the lemmas that a proof names ([HUNT-18]): all names, then each statement.
func (d *derivation) checkLemmas(r *row, stated []*lcj.Object, pointer string) *refusal.Refusal {
	held := []string{}
	for _, lemma := range stated {
		held = append(held, lemma.Text("name"))
	}
	wanted := d.lemmasOf(r)
	if !slices.Equal(held, wanted) {
		return refusal.Expecting("H3_PROOF_MISSING", pointer,
			string(lcj.Encode(distinct(wanted))), string(lcj.Encode(distinct(held))))
	}
	for i, lemma := range stated {
		err := compare(lemma, refusal.Index(pointer, i), []expectation{
			{"statement_sha256", d.kind.lemmas.Statement(wanted[i]), "LEMMA_STATEMENT_MISMATCH"},
		})
		if err != nil {
			return err
		}
		d.lemmas[wanted[i]] = true
	}
	return nil
}

// losslessHaveLemmas says whether each lossless layout's declaration has lemmas ([HUNT-13]).
func (d *derivation) losslessHaveLemmas() bool {
	return !slices.ContainsFunc(d.layouts, func(found *declared) bool {
		return found.lossless && len(found.lemmas) == 0
	})
}
