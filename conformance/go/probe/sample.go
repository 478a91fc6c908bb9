package probe

import (
	"slices"

	"lockstep/conformance/go/kind"
	"lockstep/conformance/go/lcj"
	"lockstep/conformance/go/refusal"
)

// Sample is one on the way through its checks.
type Sample struct {
	Arm            *Arm
	Name           string
	Block, Place   int64
	Begin, End     int64
	Requests       []*lcj.Object
	counters       []*lcj.Object
	clock, elapsed int64
	// Refusal is empty where the sample is part of figures.
	Refusal string
	Wall    int64
}

// Reader goes through the samples of a run in order.
type Reader struct {
	data   *Data
	bodies []*lcj.Object
	used   int64
	end    int64
	// metrics are those of the first sample of an arm.
	metrics map[*Arm][]any
	// sent are the bodies of an arm's requests.
	sent map[*Arm][]*lcj.Object
}

// NewReader begins.
func (d *Data) NewReader(bodies []*lcj.Object) *Reader {
	return &Reader{data: d, bodies: bodies, metrics: map[*Arm][]any{}, sent: map[*Arm][]*lcj.Object{}}
}

// Wanted is what a request is planned to be.
type Wanted struct {
	// PromptTokens is an integer or nil.
	PromptTokens any
	MaxNew       int64
}

// Read checks a sample from `begin_us` on, and derives its refusal and wall.
func (r *Reader) Read(stated *lcj.Object, arm *Arm, wanted []Wanted, at string) (*Sample, *refusal.Refusal) {
	window := stated.Object("window")
	s := &Sample{
		Arm: arm, Name: stated.Text("name"), Block: stated.Int("block"), Place: stated.Int("place"),
		Begin: stated.Int("begin_us"), Requests: stated.Objects("requests"),
		counters: window.Objects("counters"), clock: window.Int("clock_us"), elapsed: window.Int("monotonic_us"),
	}
	s.End = s.Begin + s.elapsed
	if s.Begin < r.end {
		return nil, refusal.New(badValue, at+"/begin_us")
	}
	r.end = s.End
	if len(s.Requests) != len(wanted) {
		return nil, refusal.New(badValue, at+"/requests")
	}
	for i, request := range s.Requests {
		place := refusal.Index(at+"/requests", i)
		if request.Member("prompt_tokens") != wanted[i].PromptTokens {
			return nil, refusal.New(badValue, place+"/prompt_tokens")
		}
		if request.Int("max_new") != wanted[i].MaxNew {
			return nil, refusal.New(badValue, place+"/max_new")
		}
		if err := checkTimes(request, place); err != nil {
			return nil, err
		}
		body := request.Int("body")
		if body >= int64(len(r.bodies)) || body > r.used {
			return nil, refusal.New(badValue, place+"/body")
		}
		r.used = max(r.used, body+1)
		r.sent[arm] = append(r.sent[arm], r.bodies[body])
	}
	if err := r.checkWindow(s, at+"/window"); err != nil {
		return nil, err
	}
	s.Wall, s.Refusal = s.wall(), ""
	s.Refusal = s.refusal(r.data)
	told := any(nil)
	if s.Refusal != "" {
		told = s.Refusal
	}
	return s, kind.DemandAll(stated, at, []kind.Member{
		{Name: "refusal", Code: notDerived, Value: told}, {Name: "wall_us", Code: notRate, Value: s.Wall},
	})
}

// checkTimes sees that no time goes back.
func checkTimes(request *lcj.Object, at string) *refusal.Refusal {
	last, arrivals := request.Int("start_us"), request.Ints("arrivals_us")
	first, known := request.Member("first_us").(int64)
	if known {
		if first < last {
			return refusal.New(badValue, at+"/first_us")
		}
		last = first
	}
	for i, arrival := range arrivals {
		if arrival < last {
			return refusal.New(badValue, refusal.Index(at+"/arrivals_us", i))
		}
		last = arrival
	}
	if request.Int("end_us") < last {
		return refusal.New(badValue, at+"/end_us")
	}
	if len(arrivals) > 0 && (!known || arrivals[0] != first) {
		return refusal.New(badValue, at+"/first_us")
	}
	return nil
}

// checkWindow sees that the window holds its requests, and that its metrics are the adapter's.
func (r *Reader) checkWindow(s *Sample, at string) *refusal.Refusal {
	for _, request := range s.Requests {
		if s.elapsed < request.Int("end_us") {
			return refusal.New(badValue, at+"/monotonic_us")
		}
	}
	if len(s.counters) != len(r.data.Questions) {
		return refusal.New(badValue, at+"/counters")
	}
	for i, question := range r.data.Questions {
		if s.counters[i].Text("question") != question {
			return refusal.New(badValue, at+"/counters")
		}
	}
	metrics := r.data.adapters[s.Arm.Adapter]
	first, known := r.metrics[s.Arm]
	var own []any
	for i, counter := range s.counters {
		place, metric := refusal.Index(at+"/counters", i), counter.Member("metric")
		if metric != nil && metric != metrics.Member(r.data.Questions[i]) || known && metric != first[i] {
			return refusal.New(badValue, place+"/metric")
		}
		for _, name := range []string{"before", "after"} {
			if metric == nil && counter.Member(name) != nil {
				return refusal.New(badValue, place+"/"+name)
			}
		}
		own = append(own, metric)
	}
	if !known {
		r.metrics[s.Arm] = own
	}
	return nil
}

// CheckUsed sees that each body was sent.
func (r *Reader) CheckUsed(pointer string) *refusal.Refusal {
	if r.used < int64(len(r.bodies)) {
		return refusal.New(badValue, refusal.Index(pointer, int(r.used)))
	}
	return nil
}

// rise is what a question's metric rose by, and whether it has one.
func (s *Sample) rise(d *Data, question string) (int64, bool) {
	for i, name := range d.Questions {
		if c := s.counters[i]; name == question && c.Member("metric") != nil {
			before, has := c.Member("before").(int64)
			after, also := c.Member("after").(int64)
			return after - before, has && also
		}
	}
	return 0, false
}

// metric is that of a question, or nil.
func (s *Sample) metric(d *Data, question string) any {
	return s.counters[slices.Index(d.Questions, question)].Member("metric")
}

// Guarded says whether a question has a metric.
func (s *Sample) Guarded(d *Data, question string) bool {
	return s.metric(d, question) != nil
}

func (s *Sample) wall() int64 {
	if len(s.Requests) == 0 {
		return 0
	}
	start, end := s.Requests[0].Int("start_us"), int64(0)
	for _, request := range s.Requests {
		start, end = min(start, request.Int("start_us")), max(end, request.Int("end_us"))
	}
	return end - start
}
