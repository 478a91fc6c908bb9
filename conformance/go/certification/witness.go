package certification

import "slices"

// witness is what the rounds of a cell show of batch and cache ([CERT-11] to [CERT-13]).
type witness struct {
	// batched says it of each round.
	batched []bool
	// alone says that all rounds are.
	alone       bool
	name, cache string
	width       int64
}

// most is the most half-open intervals at one time.
func most(starts, ends []int64) int64 {
	type moment struct{ at, step int64 }
	var moments []moment
	for i := range starts {
		moments = append(moments, moment{starts[i], 1}, moment{ends[i], -1})
	}
	slices.SortFunc(moments, func(a, b moment) int {
		if a.at != b.at {
			return int(a.at - b.at)
		}
		return int(a.step - b.step)
	})
	now, largest := int64(0), int64(0)
	for _, one := range moments {
		now += one.step
		largest = max(largest, now)
	}
	return largest
}

// overlap is the most requests between first token and end at one time, and whether it is known.
func (r *round) overlap() (int64, bool) {
	var starts, ends []int64
	for place, first := range r.first {
		if first >= 0 {
			starts, ends = append(starts, first), append(ends, r.end[place])
		} else if r.outputs[place] >= 0 {
			return 0, false
		}
	}
	return most(starts, ends), true
}

// together says whether a batch of a width formed, as far as all requests are alike.
func (r *round) together(width int64, streams, gauge bool) bool {
	if most(r.start, r.end) < 2 || !streams && !gauge {
		return false
	}
	overlap, known := r.overlap()
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
		formed := r.together(c.of.width, p.streams, gauge) && r.joined(c)
		w.batched = append(w.batched, formed)
		w.alone = w.alone && r.isAlone(gauge)
		if !formed || r.number < priming {
			continue
		}
		width, _ := r.overlap()
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
		if r.number < from || r.cached == nil {
			continue
		}
		early, missed := false, false
		for place, cached := range r.cached {
			one := &c.requests[place]
			if one.role != "probe" || c.units(r, place) <= p.blockSize || cached < 0 {
				continue
			}
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
