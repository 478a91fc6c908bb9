package lifecycle

import (
	"slices"

	"lockstep/conformance/go/lcj"
)

// request is a request of the machine ([LIFE-6]).
type request struct {
	prompt, maxNew, computed, outputs int64
	state                             string
	table                             []int64
}

func (r *request) known() int64 { return r.prompt + r.outputs }

func (r *request) active() bool {
	return r.state == "ADMITTED" || r.state == "PREFILLING" || r.state == "DECODING"
}

// machine is a pool with its requests and their queue ([LIFE-5] to [LIFE-9]).
type machine struct {
	data       *lcj.Object
	size       int64
	references []int64
	cached     []bool
	requests   []*request
	queue      []int64
	// weakening is the clause left out, if any ([LIFE-21]).
	weakening string
}

// step is a step of a trace ([LIFE-27]).
type step struct {
	request, tokens   int64
	event             string
	blocks, published []int64
}

func newMachine(data *lcj.Object, weakening string) *machine {
	model := data.Object("models").Object("bounded")
	blocks := model.Int("blocks")
	return &machine{
		data: data, size: model.Int("block_size"), weakening: weakening,
		references: make([]int64, blocks), cached: make([]bool, blocks),
	}
}

func (m *machine) blocksOf(tokens int64) int64 { return (tokens + m.size - 1) / m.size }

func (m *machine) need(r *request) int64 { return m.blocksOf(r.prompt + r.maxNew) }

func (m *machine) owed(r *request) int64 {
	if !r.active() {
		return 0
	}
	return m.need(r) - int64(len(r.table))
}

// unreferenced counts the blocks with references 0 that are cached or not.
func (m *machine) unreferenced(cached bool) int64 {
	count := int64(0)
	for b, references := range m.references {
		if references == 0 && m.cached[b] == cached {
			count++
		}
	}
	return count
}

// slack is [LIFE-7]'s.
func (m *machine) slack() int64 {
	slack := m.unreferenced(false) + m.unreferenced(true)
	for _, r := range m.requests {
		slack -= m.owed(r)
	}
	return slack
}

// submit takes a request in, unless it never fits ([LIFE-9]).
func (m *machine) submit(prompt, maxNew int64) bool {
	r := &request{prompt: prompt, maxNew: maxNew, state: m.data.Text("initial")}
	m.queue = append(m.queue, int64(len(m.requests)))
	m.requests = append(m.requests, r)
	fits := m.need(r) <= int64(len(m.references)) || m.weakening == "never_fitting_accepted"
	return prompt >= 1 && maxNew >= 1 && fits
}

// admissible is the guard of admit and resume but for the state ([LIFE-10]).
func (m *machine) admissible(number int64) bool {
	return len(m.queue) > 0 && m.queue[0] == number &&
		(m.need(m.requests[number]) <= m.slack() || m.weakening == "unreserved_admission")
}

// next is the state that the relation leads to, if it has the cell.
func (m *machine) next(state, event string) (string, bool) {
	for _, cell := range m.data.Objects("cells") {
		if cell.Text("state") == state && cell.Text("event") == event {
			return cell.Text("next"), true
		}
	}
	return "", false
}

// distinct says whether chosen blocks are blocks of the pool, each once.
func (m *machine) distinct(chosen []int64) bool {
	for i, b := range chosen {
		if b >= int64(len(m.references)) || slices.Contains(chosen[:i], b) {
			return false
		}
	}
	return true
}

// allows says whether a step's guard holds ([LIFE-10] to [LIFE-17]).
func (m *machine) allows(s step) bool {
	if s.request >= int64(len(m.requests)) || !m.distinct(s.blocks) || !m.distinct(s.published) {
		return false
	}
	if s.tokens != 0 && s.event != "chunk" ||
		len(s.published) > 0 && s.event != "chunk" && s.event != "decode" {
		return false
	}
	r := m.requests[s.request]
	none := len(s.blocks) == 0
	switch s.event {
	case "admit":
		return none && r.state == "QUEUED" && m.admissible(s.request)
	case "resume":
		return none && r.state == "PREEMPTED" && m.admissible(s.request)
	case "finish":
		return none && r.state == "DECODING"
	case "cache_hit":
		granted := int64(len(s.blocks)) * m.size
		for _, b := range s.blocks {
			if !m.cached[b] {
				return false
			}
		}
		return r.active() && r.computed == 0 && granted > 0 && granted < r.known()
	case "evict":
		return r.active() && m.unreferenced(false) < m.owed(r) && len(s.blocks) == 1 &&
			m.cached[s.blocks[0]] && m.references[s.blocks[0]] == 0
	case "preempt_rc":
		return none && r.active() && r.outputs < r.maxNew &&
			(r.computed >= 1 || m.weakening == "victim_without_tokens")
	case "chunk":
		until := r.computed + s.tokens
		return r.active() && s.tokens >= 1 && until < r.known() &&
			m.takes(r, s, until, max(0, m.blocksOf(until)-int64(len(r.table))))
	case "decode":
		cover := m.owed(r)
		if m.weakening == "lazy_reservation" {
			cover = max(0, m.blocksOf(r.known())-int64(len(r.table)))
		}
		if !r.active() && m.weakening == "decode_while_waiting" {
			cover = 0
		}
		return (r.active() || m.weakening == "decode_while_waiting") && r.outputs < r.maxNew &&
			m.takes(r, s, r.known(), cover)
	}
	return false
}

// takes says whether the blocks taken are free, as many as they must be, and those published are
// filled ([LIFE-12], [LIFE-13], [LIFE-15]).
func (m *machine) takes(r *request, s step, until, cover int64) bool {
	if int64(len(s.blocks)) != cover {
		return false
	}
	for _, b := range s.blocks {
		if m.references[b] != 0 || m.cached[b] {
			return false
		}
	}
	table := slices.Concat(r.table, s.blocks)
	if filled := int(until / m.size); m.weakening != "early_publishing" && filled < len(table) {
		table = table[:filled]
	}
	for _, b := range s.published {
		if !slices.Contains(table, b) || m.cached[b] {
			return false
		}
	}
	return true
}

// take takes a step whose guard holds and which has a cell.
func (m *machine) take(s step) bool {
	if !m.allows(s) {
		return false
	}
	r := m.requests[s.request]
	state, has := m.next(r.state, s.event)
	if !has {
		return false
	}
	r.state = state
	switch s.event {
	case "admit", "resume":
		m.queue = m.queue[1:]
	case "evict":
		m.cached[s.blocks[0]] = false
	case "preempt_rc":
		m.queue = append([]int64{s.request}, m.queue...)
		m.giveBack(r, m.weakening == "preempted_keeps_blocks")
	case "finish":
		m.giveBack(r, false)
	case "cache_hit":
		r.computed = int64(len(s.blocks)) * m.size
	case "chunk":
		r.computed += s.tokens
	case "decode":
		r.computed = r.known()
		r.outputs++
	}
	if s.event == "cache_hit" || s.event == "chunk" || s.event == "decode" {
		r.table = append(r.table, s.blocks...)
		for _, b := range s.blocks {
			m.references[b]++
		}
		for _, b := range s.published {
			m.cached[b] = true
		}
	}
	return true
}

// giveBack is the effect of preempt_rc and finish on blocks ([LIFE-17]).
func (m *machine) giveBack(r *request, keeps bool) {
	r.computed = 0
	if keeps {
		return
	}
	for _, b := range r.table {
		m.references[b]--
		if m.weakening == "shared_release" {
			m.references[b] = 0
		}
	}
	r.table = nil
}
