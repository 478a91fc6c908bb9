package certification

import (
	"slices"

	"lockstep/conformance/go/lcj"
	"lockstep/conformance/go/refusal"
)

// round is one submission of requests ([CERT-7], [CERT-8]). What is null is -1.
type round struct {
	lifetime, number  int64
	outputs           []int64
	start, first, end []int64
	// cached and promptTokens are nil where they are null.
	cached, promptTokens []int64
	peak, polls          int64
	failures             []*lcj.Object
	// scores are those of the user's prompts; nil where they are null.
	scores []any
}

func readRounds(stated []*lcj.Object) []*round {
	rounds := make([]*round, len(stated))
	for i, o := range stated {
		r := &round{
			lifetime: o.Int("lifetime"), number: o.Int("number"), outputs: orLess(o.List("outputs")),
			start: o.Ints("start_us"), first: orLess(o.List("first_us")), end: o.Ints("end_us"),
			peak: -1, polls: o.Int("polls"), failures: o.Objects("failures"),
		}
		if peak, ok := o.Member("peak_running").(int64); ok {
			r.peak = peak
		}
		if cached, ok := o.Member("cached").([]any); ok {
			r.cached = orLess(cached)
		}
		if told, ok := o.Member("prompt_tokens").([]any); ok {
			r.promptTokens = orLess(told)
		}
		if scores, ok := o.Member("scores").([]any); ok {
			r.scores = append([]any{}, scores...)
		}
		rounds[i] = r
	}
	return rounds
}

// orLess gives integers, -1 for null.
func orLess(list []any) []int64 {
	out := make([]int64, len(list))
	for i, element := range list {
		out[i] = -1
		if n, ok := element.(int64); ok {
			out[i] = n
		}
	}
	return out
}

// checkNumbers sees that the rounds are the first of those that are planned, and whether one lacks.
func checkNumbers(rounds []*round, lifetimes, perLifetime int64, pointer string) (bool, *refusal.Refusal) {
	if int64(len(rounds)) > lifetimes*perLifetime {
		return false, refusal.New(badValue, pointer+"/rounds")
	}
	for i, r := range rounds {
		at := refusal.Index(pointer+"/rounds", i)
		switch {
		case r.lifetime != int64(i)/perLifetime:
			return false, refusal.New(badValue, at+"/lifetime")
		case r.number != int64(i)%perLifetime:
			return false, refusal.New(badValue, at+"/number")
		}
	}
	return int64(len(rounds)) < lifetimes*perLifetime, nil
}

// checkReason is what step 4 says of a cell's reason.
func checkReason(p *plan, c *cell, rounds int, lacks bool, reason, pointer string) *refusal.Refusal {
	wanted := p.reason(c)
	switch {
	case (reason == "") == lacks:
		return refusal.New(badValue, pointer+"/reason")
	case wanted != "" && reason != wanted:
		return refusal.Expecting(badValue, pointer+"/reason", wanted, reason)
	case wanted != "" && rounds > 0:
		return refusal.New(badValue, pointer+"/rounds")
	case wanted == "" && (reason == "not_offered" || reason == "too_long"):
		return refusal.New(badValue, pointer+"/reason")
	}
	return nil
}

// checkForm is what step 4 says of a cell's round.
func (r *round) checkForm(c *cell, gauge bool, pointer string) *refusal.Refusal {
	size := c.size(r.number)
	for _, list := range []struct {
		name          string
		length, wants int
		given         bool
	}{
		{"outputs", len(r.outputs), size, true}, {"start_us", len(r.start), size, true},
		{"first_us", len(r.first), size, true}, {"end_us", len(r.end), size, true},
		{"cached", len(r.cached), size, r.cached != nil},
		{"prompt_tokens", len(r.promptTokens), size, r.promptTokens != nil},
		{"scores", len(r.scores), c.items, r.scores != nil},
	} {
		if list.given && list.length != list.wants {
			return refusal.New(badValue, pointer+"/"+list.name)
		}
	}
	failed := map[int]bool{}
	before := int64(-1)
	for i, failure := range r.failures {
		place := failure.Int("request")
		if place <= before || place >= int64(size) {
			return refusal.New(badValue, refusal.Index(pointer+"/failures", i)+"/request")
		}
		before, failed[int(place)] = place, true
	}
	for place, output := range r.outputs {
		if output >= 0 && failed[place] || output < 0 && !failed[place] && c.requests[place].role != "cancelled" {
			return refusal.New(badValue, refusal.Index(pointer+"/outputs", place))
		}
		start, first, end := r.start[place], r.first[place], r.end[place]
		if start > end || first >= 0 && (first < start || first > end) {
			return refusal.New(badValue, refusal.Index(pointer+"/end_us", place))
		}
	}
	if r.peak >= 0 && r.polls == 0 || !gauge && (r.peak >= 0 || r.polls > 0) {
		return refusal.New(badValue, pointer+"/peak_running")
	}
	if r.scores != nil && !c.scored {
		return refusal.New(badValue, pointer+"/scores")
	}
	if c.oneByOne() {
		return r.checkOneByOne(pointer)
	}
	return r.checkWaves(c, pointer)
}

// checkRounds is what step 4 says of the rounds of a cell, and of its reason.
func (p *plan) checkRounds(c *cell, rounds []*round, reason string, gauge bool, pointer string) *refusal.Refusal {
	lacks, err := checkNumbers(rounds, c.lifetimes, c.perLifetime, pointer)
	if err == nil {
		err = checkReason(p, c, len(rounds), lacks, reason, pointer)
	}
	for i, r := range rounds {
		if err == nil {
			err = r.checkForm(c, gauge, refusal.Index(pointer+"/rounds", i))
		}
	}
	return err
}

// checkOneByOne sees that each request starts when the one before has ended ([CERT-12]).
func (r *round) checkOneByOne(pointer string) *refusal.Refusal {
	for place := 1; place < len(r.start); place++ {
		if r.start[place] < r.end[place-1] {
			return refusal.New("CONTROL_NOT_SEQUENTIAL", refusal.Index(pointer+"/start_us", place))
		}
	}
	return nil
}

// checkWaves sees that requests start in the order in which they are sent ([CERT-12]).
func (r *round) checkWaves(c *cell, pointer string) *refusal.Refusal {
	var before []int
	for wave, places := range c.submission(r.number) {
		least := int64(0)
		switch c.waves[wave] {
		case "end":
			for _, place := range before {
				least = max(least, r.end[place])
			}
		case "first_token":
			known := []int64{}
			for _, place := range before {
				if r.first[place] >= 0 {
					known = append(known, r.first[place])
				}
			}
			if len(known) > 0 {
				least = slices.Min(known)
			}
		}
		for _, place := range places {
			if r.start[place] < least {
				return refusal.New(badValue, refusal.Index(pointer+"/start_us", place))
			}
			least = r.start[place]
		}
		before = places
	}
	return nil
}
