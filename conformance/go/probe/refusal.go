package probe

import "lockstep/conformance/go/lcj"

// refusal is [PROBE-6] over a sample whose wall is known; empty where none holds.
func (s *Sample) refusal(d *Data) string {
	switch {
	case s.failed():
		return "request_failed"
	case s.unread():
		return "missing_reading"
	case s.reset():
		return "counter_reset"
	case s.backwards():
		return "metric_backwards"
	case max(s.clock-s.elapsed, s.elapsed-s.clock) > d.clockStep:
		return "clock_step"
	case s.foreign(d):
		return "foreign_work"
	case s.wrong():
		return "wrong_work"
	case s.cached():
		return "cached_prompt"
	}
	if steps, known := s.rise(d, "steps"); len(s.Requests) == 0 || s.Wall == 0 || known && steps == 0 {
		return "zero_population"
	}
	return ""
}

func (s *Sample) failed() bool {
	return s.anyRequest(func(r *lcj.Object) bool { return r.Member("failure") != nil })
}

func (s *Sample) anyRequest(holds func(*lcj.Object) bool) bool {
	for _, request := range s.Requests {
		if holds(request) {
			return true
		}
	}
	return false
}

func (s *Sample) unread() bool {
	for _, c := range s.counters {
		if c.Member("metric") != nil && (c.Member("before") == nil || c.Member("after") == nil) {
			return true
		}
	}
	return false
}

// reset says whether all metrics that were above 0 fell.
func (s *Sample) reset() bool {
	above := false
	for _, c := range s.counters {
		if c.Member("metric") == nil || c.Int("before") == 0 {
			continue
		}
		if above = true; c.Int("after") >= c.Int("before") {
			return false
		}
	}
	return above
}

func (s *Sample) backwards() bool {
	for _, c := range s.counters {
		if c.Member("metric") != nil && c.Int("after") < c.Int("before") {
			return true
		}
	}
	return false
}

// PromptTokens is the sum over the requests as the server counts them, else as planned; unknown where
// one has neither.
func (s *Sample) PromptTokens() (sum int64, known bool) {
	for _, request := range s.Requests {
		told, ok := request.Member("told_tokens").(int64)
		if !ok {
			told, ok = request.Member("prompt_tokens").(int64)
		}
		if !ok {
			return 0, false
		}
		sum += told
	}
	return sum, true
}

// Generated is the sum of generated tokens; unknown where one is.
func (s *Sample) Generated() (sum int64, known bool) {
	for _, request := range s.Requests {
		n, ok := request.Member("generated").(int64)
		if !ok {
			return 0, false
		}
		sum += n
	}
	return sum, true
}

func (s *Sample) foreign(d *Data) bool {
	rose, counted := s.rise(d, "prompt_tokens")
	own, known := s.PromptTokens()
	if counted && known && rose != own {
		return true
	}
	rose, counted = s.rise(d, "generated_tokens")
	own, known = s.Generated()
	return counted && known && rose != own
}

func (s *Sample) wrong() bool {
	return s.anyRequest(func(r *lcj.Object) bool {
		told, planned := r.Member("told_tokens"), r.Member("prompt_tokens")
		if told != nil && planned != nil && told != planned {
			return true
		}
		return r.Member("generated") != r.Member("max_new")
	})
}

func (s *Sample) cached() bool {
	return s.anyRequest(func(r *lcj.Object) bool {
		cached, ok := r.Member("cached").(int64)
		return ok && cached > 0
	})
}
