package certification

import (
	"slices"

	"lockstep/conformance/go/lcj"
	"lockstep/conformance/go/refusal"
)

// plan is the parameters of a run ([CERT-3]).
type plan struct {
	form, observable, design, positive string

	low, span, seed, blockSize, chunk, context, maxNew, top int64
	fixedWidth, lifetimes, repeats, priming                 int64
	offers, cases, cache, filler, order, positiveCases      []string
	varyingWidths                                           []int64
	streams                                                 bool
}

func readPlan(o *lcj.Object) *plan {
	p := &plan{
		form: o.Text("form"), observable: o.Text("observable"), design: o.Text("design"),
		positive: o.Text("positive"), low: o.Int("low"), span: o.Int("span"), seed: o.Int("seed"),
		blockSize: o.Int("block_size"), chunk: o.Int("chunk"), context: o.Int("context"),
		maxNew: o.Int("max_new"), top: o.Int("top"), fixedWidth: o.Int("fixed_width"),
		lifetimes: o.Int("lifetimes"), repeats: o.Int("repeats"), priming: o.Int("priming"),
		offers: o.Texts("offers"), cases: o.Texts("cases"), cache: o.Texts("cache"),
		filler: o.Texts("filler"), order: o.Texts("order"),
		positiveCases: o.Texts("positive_cases"), varyingWidths: o.Ints("varying_widths"),
	}
	p.streams = slices.Contains(p.offers, "stream")
	return p
}

// values are those of an axis, by its name.
func (p *plan) values(axis string) []string {
	return map[string][]string{"cache": p.cache, "filler": p.filler, "order": p.order}[axis]
}

// check is step 1 of the order of derivation, but for the adapter.
func (p *plan) check(d *data, launched bool) *refusal.Refusal {
	const pointer = "/predicate/plan/"
	for _, list := range []struct {
		name         string
		stated, from []string
	}{
		{"offers", p.offers, d.capabilities}, {"cases", p.cases, d.caseNames()},
		{"cache", p.cache, d.values["cache"]}, {"filler", p.filler, d.values["filler"]},
		{"order", p.order, d.values["order"]}, {"positive_cases", p.positiveCases, p.cases},
	} {
		if at := outOfOrder(list.stated, list.from); at >= 0 {
			return refusal.New(badValue, refusal.Index(pointer+list.name, at))
		}
	}
	switch {
	case (p.positive == "absent") != (len(p.positiveCases) == 0):
		return refusal.New(badValue, pointer+"positive")
	case p.lifetimes > 1 && !launched:
		return refusal.New(badValue, pointer+"lifetimes")
	case p.form == "text" && p.low != 0:
		return refusal.New(badValue, pointer+"low")
	case p.form == "text" && p.span != int64(len(d.words)):
		return refusal.New(badValue, pointer+"span")
	case slices.Min(p.varyingWidths) == slices.Max(p.varyingWidths):
		return refusal.New(badValue, pointer+"varying_widths")
	}
	return nil
}

// checkAdapter is the end of step 1.
func (d *data) checkAdapter(stated *lcj.Object) *refusal.Refusal {
	known, ok := d.adapters[stated.Text("name")]
	if !ok {
		return refusal.New(badValue, "/predicate/adapter/name")
	}
	gauge, gauged := stated.Member("gauge").(string)
	own := known.Bool("verified") && (!gauged || slices.Contains(known.Texts("running"), gauge))
	if stated.Bool("verified") && !own {
		return refusal.New(badValue, "/predicate/adapter/verified")
	}
	return nil
}

// outOfOrder is the place of the first name that is not among others, in their order and once, or -1.
func outOfOrder(names, from []string) int {
	for i, name := range names {
		at := slices.Index(from, name)
		if at < 0 {
			return i
		}
		from = from[at+1:]
	}
	return -1
}
