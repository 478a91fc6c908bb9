package measurement

import (
	"math/big"

	"lockstep/conformance/go/kind"
	"lockstep/conformance/go/lcj"
	"lockstep/conformance/go/probe"
	"lockstep/conformance/go/refusal"
)

const distance = "distance_unat"

// record is what was observed at one point of an arm ([MEAS-4]).
type record struct {
	id  string
	arm *arm
	// against is nil but for a distance.
	against *arm
	// values are those that were read.
	values  map[string]int64
	refused bool
	// place counts from 0; sample is nil for a record without one.
	place  int
	sample *probe.Sample
}

// checkRecords is step 2.
func (d *derivation) checkRecords() *refusal.Refusal {
	sampled := 0
	for i, o := range d.predicate.Objects("records") {
		at := refusal.Index("/predicate/records", i)
		r := &record{id: o.Text("id"), arm: d.arms[o.Text("arm")], values: map[string]int64{}, place: i}
		if err := d.checkPlace(r, o, at); err != nil {
			return err
		}
		if err := d.readValues(r, o.Objects("values"), at+"/values"); err != nil {
			return err
		}
		if hasQuantity(o, distance) != (r.against != nil) {
			return refusal.New(badValue, at+"/against")
		}
		reason := d.refusalOf(r, o)
		if r.sample != nil {
			sampled++
			if !lcj.Equal(o.List("values"), d.probed.Values(r.sample)) {
				return refusal.New(notRate, at+"/values")
			}
			reason = r.sample.Refusal
		}
		stated := any(nil)
		if r.refused = reason != ""; r.refused {
			stated = reason
		}
		if err := kind.Demand(o, at, "refusal", notDerived, stated); err != nil {
			return err
		}
		d.counts["records_refused"] += kind.Bit(r.refused)
		d.records = append(d.records, r)
		d.byID[r.id] = r
	}
	if d.probed != nil && sampled < len(d.probed.Samples) {
		return refusal.New(underived, "/predicate/records")
	}
	return nil
}

// checkPlace sees where a record is from.
func (d *derivation) checkPlace(r *record, o *lcj.Object, at string) *refusal.Refusal {
	if r.arm == nil {
		return refusal.New(badValue, at+"/arm")
	}
	if other, told := o.Member("against").(string); told {
		if r.against = d.arms[other]; r.against == nil {
			return refusal.New(badValue, at+"/against")
		}
	}
	if source, told := o.Member("source").(string); told && !d.sources[source] {
		return refusal.New(badValue, at+"/source")
	}
	name, told := o.Member("sample").(string)
	if !told {
		if d.servers[r.arm.id] != nil && (len(o.List("values")) > 1 || !hasQuantity(o, distance)) {
			return refusal.New(badValue, at+"/sample")
		}
		return nil
	}
	sample := d.samples[name]
	r.sample = sample
	if sample == nil || name != r.id {
		return refusal.New(badValue, at+"/sample")
	}
	if sample.Arm.Name != r.arm.id {
		return refusal.New(badValue, at+"/arm")
	}
	for _, member := range []string{"against", "source", "attribution"} {
		if o.Member(member) != nil {
			return refusal.New(badValue, at+"/"+member)
		}
	}
	return nil
}

func hasQuantity(o *lcj.Object, name string) bool {
	for _, value := range o.Objects("values") {
		if value.Text("quantity") == name {
			return true
		}
	}
	return false
}

// readValues sees that quantities ascend, then that metrics answer ([MEAS-5]).
func (d *derivation) readValues(r *record, stated []*lcj.Object, pointer string) *refusal.Refusal {
	for i, value := range stated {
		if i > 0 && value.Text("quantity") <= stated[i-1].Text("quantity") {
			return refusal.New(badValue, refusal.Index(pointer, i)+"/quantity")
		}
		if n, read := value.Member("value").(int64); read {
			r.values[value.Text("quantity")] = n
		}
	}
	for i, value := range stated {
		metric, told := value.Member("metric").(string)
		asked, _ := d.quantities[value.Text("quantity")].question.(string)
		if told && !d.answered[question{r.arm.engine, metric, asked}] {
			return refusal.New("METRIC_NOT_AN_ANSWER", refusal.Index(pointer, i)+"/metric")
		}
	}
	return nil
}

// refusalOf is that of a record without a sample; empty where none holds.
func (d *derivation) refusalOf(r *record, o *lcj.Object) string {
	if len(r.values) < len(o.List("values")) {
		return "missing_reading"
	}
	before, began := r.values["tokens_before"]
	after, ended := r.values["tokens_after"]
	if began && ended && after < before {
		return "metric_backwards"
	}
	if attribution, watched := o.Member("attribution").(*lcj.Object); watched && d.foreign(attribution) {
		return "foreign_work"
	}
	for _, name := range []string{"steps", "tokens", "wall_us"} {
		if n, has := r.values[name]; has && n == 0 {
			return "zero_population"
		}
	}
	if began && ended && after == before {
		return "zero_population"
	}
	return ""
}

func (d *derivation) foreign(attribution *lcj.Object) bool {
	own, known := attribution.Member("own_requests").(int64)
	running, seen := attribution.Member("running_requests").(int64)
	if known && seen && running > own {
		return true
	}
	sent := big.NewInt(attribution.Int("own_tokens"))
	apart := new(big.Int).Sub(big.NewInt(attribution.Int("booked_tokens")), sent)
	apart.Mul(apart.Abs(apart), big.NewInt(1000))
	return apart.Cmp(sent.Mul(sent, big.NewInt(d.allowance))) > 0
}
