package campaign

import "slices"

// countNames are in the order of [FUZZ-12].
var countNames = []string{
	"records", "cases", "clean", "refused", "failed", "not_run", "altered", "kept", "requests", "steps", "events",
	"findings", "probes_shown", "cells", "pairs", "triples", "predicates", "explored_pairs",
	"explored_triples", "cells_legal", "pairs_legal", "triples_legal", "predicates_declared",
}

// beyond is above every count that a document can state, so that sums stop there.
const beyond = int64(1) << 60

// counts are [FUZZ-12]'s.
func (d *derivation) counts() map[string]int64 {
	counts := map[string]int64{}
	for _, name := range countNames {
		counts[name] = 0
	}
	failures, cases := map[[3]string]bool{}, map[string]bool{}
	for _, p := range d.populations {
		counts["kept"] += int64(len(p.corpus))
		for seed, r := range p.records {
			counts["records"]++
			counts[r.outcome]++
			cases[r.stated.Text("case_sha256")] = true
			if r.stated.Member("parent") != nil {
				counts["altered"]++
			}
			for _, name := range []string{"requests", "steps", "events"} {
				counts[name] = min(beyond, counts[name]+r.stated.Int(name))
			}
			if r.failure != nil {
				failures[[3]string{r.failure.Text("kind"), r.failure.Text("code"), r.failure.Text("part")}] = true
			}
			if p.name == probes && r.meets(d.data.targets[seed]) {
				counts["probes_shown"]++
			}
		}
	}
	counts["findings"], counts["cases"] = int64(len(failures)), int64(len(cases))
	legal, explored := d.legalSizes(), d.explored().sizes(d.legal)
	for name, size := range d.all().sizes(d.legal) {
		counts[name] = size
	}
	counts["explored_pairs"], counts["explored_triples"] = explored["pairs"], explored["triples"]
	for _, name := range []string{"cells", "pairs", "triples"} {
		counts[name+"_legal"] = legal[name]
	}
	counts["predicates_declared"] = legal["predicates"]
	return counts
}

// meets says whether a record shows a target.
func (r *record) meets(t target) bool {
	if t.cell >= 0 {
		return slices.Contains(r.cells, int64(t.cell))
	}
	return r.shows(t.gram)
}

// verdict is [FUZZ-13]'s.
func (d *derivation) verdict(counts map[string]int64) string {
	lacking := counts["not_run"] > 0
	for _, p := range d.populations {
		lacking = lacking || len(p.records) < p.seeds
	}
	for _, name := range []string{"cells", "pairs", "triples"} {
		lacking = lacking || counts[name] < counts[name+"_legal"]
	}
	for _, name := range d.data.floors.Names() {
		lacking = lacking || counts[name] < d.data.floors.Int(name)
	}
	switch {
	case lacking:
		return "UNPROVEN"
	case counts["failed"] > 0:
		return "FINDINGS"
	}
	return "CLEAN"
}
