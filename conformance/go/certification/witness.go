package certification

import (
	"cmp"
	"slices"

	"lockstep/conformance/go/kind"
)

// witness is what the rounds of a cell show of batch and cache ([CERT-11] to [CERT-13]).
type witness struct {
	// batched says it of each round.
	batched []bool
	// alone says that all rounds are.
	alone       bool
	name, cache string
	width       int64
}

// interval is half-open.
type interval struct {
	start, end int64
	probe      bool
}

// most is the most intervals at one time at which a probe's is among them.
func most(intervals []interval) int64 {
	type moment struct{ at, step, probes int64 }
	var moments []moment
	for _, one := range intervals {
		if one.start < one.end {
			own := kind.Bit(one.probe)
			moments = append(moments, moment{one.start, 1, own}, moment{one.end, -1, -own})
		}
	}
	slices.SortFunc(moments, func(a, b moment) int { return cmp.Compare(a.at, b.at) })
	now, probes, largest := int64(0), int64(0), int64(0)
	for i, one := range moments {
		now, probes = now+one.step, probes+one.probes
		// All that begins and ends at one time has its effect together.
		if over := i+1 == len(moments) || moments[i+1].at > one.at; over && probes > 0 {
			largest = max(largest, now)
		}
	}
	return largest
}

// inFlight is the most requests between start and end at one time.
func (r *round) inFlight(c *cell) int64 {
	var intervals []interval
	for place, start := range r.start {
		intervals = append(intervals, interval{start, r.end[place], c.requests[place].role == "probe"})
	}
	return most(intervals)
}

// overlap is the most requests between first token and end at one time, and whether it is known.
func (r *round) overlap(c *cell) (int64, bool) {
	var intervals []interval
	for place, first := range r.first {
		if first >= 0 {
			intervals = append(intervals, interval{first, r.end[place], c.requests[place].role == "probe"})
		} else if r.outputs[place] >= 0 {
			return 0, false
		}
	}
	return most(intervals), true
}

// together says whether a batch of the case's width formed, as far as all requests are alike.
func (r *round) together(c *cell, streams, gauge bool) bool {
	if r.inFlight(c) < 2 || !streams && !gauge {
		return false
	}
	width := c.of.width
	overlap, known := r.overlap(c)
	if !known && streams || known && overlap < 2 {
		return false
	}
	if gauge {
		return r.peak >= max(2, width) && r.peak <= int64(len(r.outputs))
	}
	return known && overlap >= width
}

// joined says whether what the case is about took place.
func (r *round) joined(c *cell) bool {
	for place, output := range r.outputs {
		if c.requests[place].role == "cancelled" && output >= 0 {
			return false
		}
	}
	waves := c.submission(r.number)
	for wave, places := range waves {
		if c.waves[wave] != "first_token" {
			continue
		}
		sent, last := r.start[places[0]], int64(-1)
		for _, place := range places {
			sent = min(sent, r.start[place])
		}
		for _, place := range waves[wave-1] {
			last = max(last, r.end[place])
		}
		if last <= sent {
			return false
		}
	}
	return true
}

// isAlone says it of a round of requests that are sent one by one.
func (r *round) isAlone(gauge bool) bool {
	return !gauge || r.peak >= 0 && r.peak <= 2
}

// observe gives what the rounds of a cell show.
func (p *plan) observe(c *cell, rounds []*round, gauge bool) witness {
	priming := p.primingOf(c)
	w := witness{alone: true, name: "none", cache: p.cacheWitness(c, rounds, max(1, priming))}
	for _, r := range rounds {
		formed := r.together(c, p.streams, gauge) && r.joined(c)
		w.batched = append(w.batched, formed)
		w.alone = w.alone && r.isAlone(gauge)
		if !formed || r.number < priming {
			continue
		}
		width, _ := r.overlap(c)
		w.name = "overlap"
		if gauge {
			w.name, width = "gauge", r.peak
		}
		w.width = max(w.width, width)
	}
	return w
}

// primingOf is the number of a lifetime's rounds that are for warming.
func (p *plan) primingOf(c *cell) int64 {
	if c.items > 0 {
		return 0
	}
	return p.priming
}

// units is the length of a request's prompt, as the plan or, of the user's own, as the server
// counts it.
func (c *cell) units(r *round, place int) int64 {
	if c.items == 0 {
		return int64(len(c.requests[place].prompt))
	}
	if r.promptTokens == nil {
		return unknown
	}
	return r.promptTokens[place]
}

// cacheWitness is [CERT-13] over the rounds from a number on.
func (p *plan) cacheWitness(c *cell, rounds []*round, from int64) string {
	told, hits, wholeHit := false, false, false
	for _, r := range rounds {
		if r.number < from {
			continue
		}
		early, missed := false, false
		for place, entry := range r.outputs {
			one := &c.requests[place]
			if entry < 0 || one.role != "probe" || c.units(r, place) <= p.blockSize {
				continue
			}
			if r.cached == nil || r.cached[place] < 0 {
				return "not_reported"
			}
			cached := r.cached[place]
			told, hits = true, hits || cached > 0
			if one.wave == 0 {
				early, missed = true, missed || cached == 0
			}
		}
		wholeHit = wholeHit || early && !missed
	}
	contradicted := map[string]bool{"warm": !hits, "off": hits, "cold": wholeHit}[c.condition[0]]
	switch {
	case !told:
		return "not_reported"
	case contradicted:
		return "contradicted"
	}
	return "shown"
}

// isFirst says whether a round is one of the first of its lifetime ([CERT-15]).
func (p *plan) isFirst(r *round) bool {
	return r.number < max(1, p.priming)
}
