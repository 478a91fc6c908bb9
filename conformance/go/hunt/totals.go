package hunt

import (
	"slices"
	"sort"

	"lockstep/conformance/go/lcj"
	"lockstep/conformance/go/refusal"
)

// verdictCounts are the counts of [HUNT-12] that count a verdict.
var verdictCounts = map[string]string{
	"EXACT_BYTE": "exact_byte", "EXACT_TOKEN": "exact_token", "NOT_EXACT": "not_exact",
	"REFUSED": "refused", "UNPROVEN": "unproven",
}

// checkTotals is step 7.
func (d *derivation) checkTotals() *refusal.Refusal {
	d.count()
	if d.counts["exact_byte"]+d.counts["exact_token"] == 0 {
		return refusal.New("H6_HUNT_FOUND_NOTHING", "/predicate/rows")
	}
	if d.counts["refused"] == 0 {
		return refusal.New("H14_NO_FRONTIER", "/predicate/rows")
	}
	var used, reached []string
	for _, row := range d.rows {
		used = append(used, row.words...)
		if row.frontier != "" {
			reached = append(reached, row.frontier)
		}
	}
	stated := d.predicate.Object("counts")
	const pointer = "/predicate/counts"
	err := compare(stated, pointer, []expectation{
		{"vocabulary", distinct(used), "H7_VOCABULARY_NOT_EXERCISED"},
	})
	if err != nil {
		return err
	}
	coverage := []string{
		"layouts_enumerated", "positions_enumerated", "layers_enumerated", "rows_composed",
		"rows_decoded", "layers_decoded",
	}
	if err := d.compareCounts(d.predicate.Object("coverage"), "/predicate/coverage", coverage); err != nil {
		return err
	}
	if err := d.compareCounts(stated, pointer, []string{
		"layouts", "rows", "exact_byte", "exact_token", "not_exact", "refused", "unproven",
		"positions_checked", "source_positions_checked", "distinct_images", "distinct_positions",
		"lemmas",
	}); err != nil {
		return err
	}
	lossless, identity := []any{}, []any{}
	for _, found := range d.layouts {
		if found.lossless {
			lossless = append(lossless, found.Name)
			if found.realised.Identity {
				identity = append(identity, found.Name)
			}
		}
	}
	return compare(stated, pointer, []expectation{
		{"lossless_layouts", lossless, countsDiffer},
		{"identity_layouts", identity, countsDiffer},
		{"frontier_codes", distinct(reached), countsDiffer},
	})
}

func (d *derivation) compareCounts(stated *lcj.Object, pointer string, names []string) *refusal.Refusal {
	for _, name := range names {
		if err := compare(stated, pointer, []expectation{{name, d.counts[name], countsDiffer}}); err != nil {
			return err
		}
	}
	return nil
}

// count derives the integers of [HUNT-11] and [HUNT-12].
func (d *derivation) count() {
	transfer := d.predicate.Object("transfer")
	c := d.counts
	for _, name := range verdictCounts {
		c[name] = 0
	}
	c["layouts"], c["rows"] = int64(len(d.layouts)), int64(len(d.rows))
	c["layouts_enumerated"], c["positions_enumerated"], c["layers_enumerated"] = 0, 0, 1
	c["rows_decoded"] = int64(len(transfer.List("rows")))
	c["layers_decoded"] = int64(len(transfer.List("layers")))
	c["rows_composed"], c["positions_checked"], c["source_positions_checked"] = 0, 0, 0
	for _, row := range d.rows {
		c[verdictCounts[row.verdict]]++
		if row.frontier == "" {
			c["rows_composed"]++
			c["positions_checked"] += row.dst.realised.Positions
			c["source_positions_checked"] += row.src.realised.Positions
		}
	}
	images, losslessImages := map[string]bool{}, map[string]bool{}
	c["distinct_positions"] = 0
	for _, found := range d.layouts {
		if found.realised == nil {
			continue
		}
		c["layouts_enumerated"]++
		c["positions_enumerated"] += found.realised.Positions
		if !images[found.image] {
			images[found.image] = true
			c["distinct_positions"] += found.realised.Positions
		}
		if found.lossless {
			losslessImages[found.image] = true
		}
	}
	c["distinct_images"] = int64(len(losslessImages))
	c["lemmas"] = int64(len(d.lemmas))
}

// distinct gives the distinct strings, sorted, as a list of values.
func distinct(texts []string) []any {
	sorted := append([]string{}, texts...)
	sort.Strings(sorted)
	out := []any{}
	for _, text := range slices.Compact(sorted) {
		out = append(out, text)
	}
	return out
}
