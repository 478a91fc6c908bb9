package probe

import (
	"slices"

	"lockstep/conformance/go/lcj"
)

// Values are those of a sample's record ([PROBE-18]).
func (r *Run) Values(s *Sample) []any {
	names := []string{"wall_us"}
	if s.Refusal == "" {
		names = r.data.Probes[r.entry[s].Text("probe")].Texts("quantities")
	}
	values := []any{}
	for _, name := range names {
		value, known := s.quantity(r.data, name)
		if !known {
			continue
		}
		metric := any(nil)
		if name == "steps" {
			metric = s.metric(r.data, name)
		}
		values = append(values, lcj.NewObject().Set("quantity", name).Set("value", value).
			Set("resolution", int64(1)).Set("metric", metric))
	}
	return values
}

// quantity is one of those of [PROBE-8] that records have, and whether there is one.
func (s *Sample) quantity(d *Data, name string) (int64, bool) {
	switch name {
	case "wall_us":
		return s.Wall, true
	case "tokens":
		return s.PromptTokens()
	case "generated_tokens":
		return s.Generated()
	case "steps":
		return s.rise(d, "steps")
	case "first_us":
		last := s.Requests[len(s.Requests)-1]
		first, known := last.Member("first_us").(int64)
		return first - last.Int("start_us"), known
	case "cadence_us":
		gaps := s.gaps(-1)
		if len(gaps) == 0 {
			return 0, false
		}
		slices.Sort(gaps)
		return gaps[(len(gaps)-1)/2], true
	case "stall_us":
		if len(s.Requests) < 2 {
			return 0, false
		}
		gaps := s.gaps(s.Requests[1].Int("start_us"))
		if len(gaps) == 0 {
			return 0, false
		}
		return slices.Max(gaps), true
	}
	panic("a quantity that no probe of probe.json lists: " + name)
}

// gaps are those between the arrivals of the request at place 0 that end after a moment; none where a
// part brought several tokens.
func (s *Sample) gaps(after int64) []int64 {
	arrivals := s.Requests[0].Ints("arrivals_us")
	if generated, known := s.Requests[0].Member("generated").(int64); !known || generated != int64(len(arrivals)) {
		return nil
	}
	var gaps []int64
	for i := 1; i < len(arrivals); i++ {
		if arrivals[i] > after {
			gaps = append(gaps, arrivals[i]-arrivals[i-1])
		}
	}
	return gaps
}
