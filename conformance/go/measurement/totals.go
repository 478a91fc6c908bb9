package measurement

import (
	"lockstep/conformance/go/kind"
	"lockstep/conformance/go/probe"
	"lockstep/conformance/go/refusal"
)

// countNames are in the order of the schema's `required`.
var countNames = []string{
	"sources", "profiles", "arms", "settings", "settings_unchosen", "records", "records_refused",
	"direct", "fits", "derived", "predicted", "routes", "published", "published_agreeing",
	"published_contradicted", "published_not_rederivable", "published_unrecorded", "gates", "gates_interchangeable",
	"tables", "samples", "samples_guarded", "pins_differing", "sent_altered",
}

// lists are the parts of a predicate whose lengths are counts.
var lists = []string{
	"sources", "profiles", "arms", "records", "direct", "fits", "derived", "predicted", "routes",
	"published", "gates", "tables",
}

// checkCounts is the beginning of step 10 ([MEAS-14]).
func (d *derivation) checkCounts() *refusal.Refusal {
	for _, name := range countNames {
		d.counts[name] += 0
	}
	for _, name := range lists {
		d.counts[name] = int64(len(d.predicate.List(name)))
	}
	if d.probed != nil {
		d.counts["samples"] = int64(len(d.probed.Samples))
		d.counts["samples_guarded"] = d.probed.Guarded()
		_, d.counts["pins_differing"] = probe.Pins(d.probed.Arms)
		d.counts["sent_altered"] = d.probed.Settings.Altered
	}
	return kind.CheckCounts(d.predicate, countNames, d.counts)
}

func (d *derivation) verdict() string {
	switch {
	case d.counts["pins_differing"] > 0:
		return "IDENTITY_DIFFERS"
	case d.counts["sent_altered"] > 0:
		return "SETTING_ALTERED"
	case d.counts["published_contradicted"] > 0:
		return "CONTRADICTED"
	}
	return "MEASURED"
}
