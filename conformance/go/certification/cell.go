package certification

import (
	"slices"

	"lockstep/conformance/go/kind"
	"lockstep/conformance/go/lcj"
	"lockstep/conformance/go/refusal"
	"lockstep/conformance/go/specification"
)

// axesNumber is how many axes a condition has.
const axesNumber = 3

// condition is a value for each axis, in the order of the data.
type condition [axesNumber]string

// cell is one of a plan ([CERT-4], [CERT-5]).
type cell struct {
	of *caseOf
	// control is empty where there is none.
	control   string
	condition condition
	waves     []string
	requests  []request
	widths    []int64
	needs     []string
	// items is how many of the requests are the user's prompts ([CERT-24]).
	items int
	// scored says that the user has a scorer.
	scored bool
	// lifetimes and perLifetime are how many rounds are planned.
	lifetimes, perLifetime int64
}

// oneByOne says whether each request is sent when the one before has ended.
func (c *cell) oneByOne() bool { return c.control != "" && c.control != "positive" }

// other says whether it is of a positive control.
func (c *cell) other() bool { return c.control == "positive" || c.control == "positive_sequential" }

// size is the number of requests of a round.
func (c *cell) size(round int64) int {
	absent := slices.Max(c.widths) - c.widths[round%int64(len(c.widths))]
	return len(c.requests) - int(absent)
}

// submission gives for each wave the places of a round in the order in which they are sent.
func (c *cell) submission(round int64) [][]int {
	waves := make([][]int, len(c.waves))
	for place := range c.size(round) {
		wave := c.requests[place].wave
		waves[wave] = append(waves[wave], place)
	}
	if c.condition[2] == "rotated" {
		for i, places := range waves {
			turn := int(round % int64(len(places)))
			waves[i] = append(slices.Clone(places[turn:]), places[:turn]...)
		}
	}
	return waves
}

// sha256 is the cell's `requests_sha256`.
func (c *cell) sha256() string {
	requests, waves, widths := []any{}, []any{}, []any{}
	for i := range c.requests {
		requests = append(requests, c.requests[i].document())
	}
	for _, wave := range c.waves {
		waves = append(waves, wave)
	}
	for _, width := range c.widths {
		widths = append(widths, width)
	}
	told := lcj.NewObject().Set("requests", requests).Set("waves", waves).Set("widths", widths)
	return specification.Sha256(lcj.Encode(told))
}

// cells are those of a plan, in order.
func (p *plan) cells(d *data) []*cell {
	var out []*cell
	for _, name := range p.cases {
		of := d.byName[name]
		for _, where := range p.conditions(d, of) {
			out = append(out, p.whole(d, of, "", where))
		}
		out = append(out, p.alone(d, of, "sequential"))
	}
	out = append(out, p.alone(d, d.byName[p.cases[0]], "sensitivity"))
	for _, name := range p.positiveCases {
		of := d.byName[name]
		out = append(out, p.alone(d, of, "positive_sequential"))
		out = append(out, p.whole(d, of, "positive", p.base(d)))
	}
	return out
}

// base is the first value of each axis.
func (p *plan) base(d *data) condition {
	var first condition
	for i, axis := range d.axes {
		first[i] = p.values(axis)[0]
	}
	return first
}

// conditions are those of a case.
func (p *plan) conditions(d *data, of *caseOf) []condition {
	first := p.base(d)
	out := []condition{first}
	for i, axis := range d.axes {
		if !slices.Contains(of.axes, axis) {
			continue
		}
		if p.design == "star" {
			for _, value := range p.values(axis)[1:] {
				moved := first
				moved[i] = value
				out = append(out, moved)
			}
			continue
		}
		var crossed []condition
		for _, before := range out {
			for _, value := range p.values(axis) {
				before[i] = value
				crossed = append(crossed, before)
			}
		}
		out = crossed
	}
	return out
}

// whole is a cell that sends the case's requests.
func (p *plan) whole(d *data, of *caseOf, control string, where condition) *cell {
	widths := map[string][]int64{"none": {0}, "fixed": {p.fixedWidth}, "varying": p.varyingWidths}[where[1]]
	requests := append(p.caseRequests(d, of), p.fillers(d, of, widths)...)
	return p.planned(d, &cell{
		of: of, control: control, condition: where, waves: of.waves, requests: requests, widths: widths,
	})
}

// first is the condition of a cell that sends one by one.
func (p *plan) first() condition {
	return condition{p.cache[0], "none", "fixed"}
}

// alone is a cell that sends the first probes one by one.
func (p *plan) alone(d *data, of *caseOf, control string) *cell {
	c := &cell{of: of, control: control, condition: p.first(), widths: []int64{0}}
	for _, r := range p.caseRequests(d, of) {
		if r.role != "probe" || r.rescores >= 0 || int64(len(c.requests)) == d.aloneProbes {
			continue
		}
		wave := "end"
		if len(c.waves) == 0 {
			wave = "start"
		}
		r.wave, c.waves = len(c.waves), append(c.waves, wave)
		if control == "sensitivity" {
			last := len(r.prompt) - 1
			r.prompt[last] = p.low + (r.prompt[last]-p.low+1)%p.span
			r.finish()
		}
		c.requests = append(c.requests, r)
	}
	return p.planned(d, c)
}

// planned completes a cell.
func (p *plan) planned(d *data, c *cell) *cell {
	c.needs = slices.Clone(c.of.needs)
	if need, has := d.cacheNeeds[c.condition[0]]; has {
		c.needs = append(c.needs, need)
	}
	c.lifetimes, c.perLifetime = p.lifetimes, p.priming+p.repeats
	if c.other() {
		c.lifetimes = 1
	}
	return c
}

// reason is that of [CERT-6], or empty.
func (p *plan) reason(c *cell) string {
	for _, need := range c.needs {
		if !slices.Contains(p.offers, need) {
			return "not_offered"
		}
	}
	for i := range c.requests {
		r := &c.requests[i]
		size := int64(len(r.prompt)) + r.maxNew
		if r.rescores >= 0 {
			other := &c.requests[r.rescores]
			size += int64(len(other.prompt)) + other.maxNew
		}
		if size > p.context {
			return "too_long"
		}
	}
	return ""
}

// checkCells is step 2.
func checkCells(planned []*cell, stated []*lcj.Object) *refusal.Refusal {
	const pointer = "/predicate/cells"
	if len(planned) != len(stated) {
		return refusal.New(underived, pointer)
	}
	for i, c := range planned {
		err := kind.DemandAll(stated[i], refusal.Index(pointer, i), append(
			append([]kind.Member{{Name: "case", Code: underived, Value: c.of.name}}, c.described()...),
			kind.Member{Name: "requests", Code: underived, Value: int64(len(c.requests))},
			kind.Member{Name: "requests_sha256", Code: underived, Value: c.sha256()},
		))
		if err != nil {
			return err
		}
	}
	return nil
}

// described is a cell's control and condition.
func (c *cell) described() []kind.Member {
	control := any(nil)
	if c.control != "" {
		control = c.control
	}
	return []kind.Member{
		{Name: "control", Code: underived, Value: control},
		{Name: "cache", Code: underived, Value: c.condition[0]},
		{Name: "filler", Code: underived, Value: c.condition[1]},
		{Name: "order", Code: underived, Value: c.condition[2]},
	}
}
