package replay

import (
	"cmp"
	"slices"

	"lockstep/conformance/go/engine"
	"lockstep/conformance/go/kind"
	"lockstep/conformance/go/relation"
)

// block is a block of the pool ([LIFE-5], [ENG-3]).
type block struct {
	holders int64
	cached  bool
	// written counts its slots that are written since it was last taken.
	written int64
	// released orders evictable blocks: the least was released first ([ENG-5]).
	released int64
	hash     engine.Digest
}

// machine is the pool with its requests, their queue, and the prefix index.
type machine struct {
	relation *relation.Relation
	size     int64
	blocks   []block
	// requests are those submitted, by number.
	requests []*request
	queue    []int64
	// index offers blocks by the hashes of their content ([ENG-9]).
	index map[engine.Digest]int64
	// pending are the hashes that the open step publishes, which the index offers from its end on.
	pending  map[engine.Digest]int64
	releases int64
	// unreserved says that the weakening of that name is in force ([LIFE-21]).
	unreserved bool
}

func newMachine(rel *relation.Relation, blocks, size int64) *machine {
	return &machine{
		relation: rel, size: size, blocks: make([]block, blocks),
		index: map[engine.Digest]int64{}, pending: map[engine.Digest]int64{},
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

// free gives the free blocks, ascending.
func (m *machine) free() []int64 {
	return m.unheld(false)
}

// evictable gives the evictable blocks, the one released first first.
func (m *machine) evictable() []int64 {
	found := m.unheld(true)
	slices.SortFunc(found, func(a, b int64) int {
		return cmp.Compare(m.blocks[a].released, m.blocks[b].released)
	})
	return found
}

func (m *machine) unheld(cached bool) []int64 {
	var found []int64
	for b := range m.blocks {
		if m.blocks[b].holders == 0 && m.blocks[b].cached == cached {
			found = append(found, int64(b))
		}
	}
	return found
}

// slack is [LIFE-7]'s.
func (m *machine) slack() int64 {
	slack := int64(len(m.unheld(false)) + len(m.unheld(true)))
	for _, r := range m.requests {
		slack -= m.owed(r)
	}
	return slack
}

// submit takes a request in, whose need the pool has ([LIFE-9]).
func (m *machine) submit(r *request, root engine.Digest) {
	r.state, r.chain = m.relation.Initial, []engine.Digest{root}
	m.requests = append(m.requests, r)
	m.queue = append(m.queue, r.number)
}

// lookup gives the blocks that the index has for a request, from the first on ([ENG-9]).
func (m *machine) lookup(r *request) []int64 {
	var found []int64
	for i := range (int64(len(r.known)) - 1) / m.size {
		b, held := m.index[r.hash(i, m.size)]
		if !held {
			break
		}
		found = append(found, b)
	}
	return found
}

// head says whether a request is the queue's and its reservation is granted ([LIFE-10]).
func (m *machine) head(r *request) bool {
	return len(m.queue) > 0 && m.queue[0] == r.number && (m.unreserved || m.need(r) <= m.slack())
}

// takes gives the blocks that a chunk or decode takes: those that are named, else the free ones of
// the lowest numbers; and whether they are free and as many as they must be ([SCHED-14]).
func (m *machine) takes(named []int64, isNamed bool, count int64) ([]int64, bool) {
	free := m.free()
	if !isNamed {
		if int64(len(free)) < count {
			return nil, false
		}
		return free[:count], true
	}
	for _, b := range named {
		if m.blocks[b].holders != 0 || m.blocks[b].cached {
			return nil, false
		}
	}
	return named, int64(len(named)) == count
}

// hold gives free blocks to a request.
func (m *machine) hold(r *request, taken []int64) {
	for _, b := range taken {
		m.blocks[b] = block{holders: 1}
	}
	r.table = slices.Concat(r.table, taken)
}

// grant gives cached blocks to a request.
func (m *machine) grant(r *request, granted []int64) {
	for _, b := range granted {
		m.blocks[b].holders++
	}
	r.table = slices.Clone(granted)
}

// writable says whether the blocks of the positions from the computed ones up to an end are the
// request's alone, once it holds the blocks it takes ([LIFE-14]).
func (m *machine) writable(r *request, end int64) bool {
	for i := r.computed / m.size; i < min(m.blocksOf(end), int64(len(r.table))); i++ {
		held := m.blocks[r.table[i]]
		if held.holders != 1 || held.cached {
			return false
		}
	}
	return true
}

// write counts slots of the positions from the computed ones up to an end as written.
func (m *machine) write(r *request, end int64) {
	for position := r.computed; position < end; position++ {
		m.blocks[r.table[position/m.size]].written++
	}
	r.computed = end
}

// publish caches what a chunk or decode has completed, and gives these blocks ([ENG-7]).
func (m *machine) publish(r *request) []int64 {
	var published []int64
	for i := range r.computed / m.size {
		b := r.table[i]
		if m.blocks[b].cached {
			continue
		}
		hash := r.hash(i, m.size)
		_, offered := m.index[hash]
		if _, coming := m.pending[hash]; offered || coming {
			continue
		}
		m.blocks[b].cached, m.blocks[b].hash = true, hash
		m.pending[hash] = b
		published = append(published, b)
	}
	return published
}

// evict frees an evictable block.
func (m *machine) evict(b int64) {
	delete(m.index, m.blocks[b].hash)
	m.blocks[b].cached = false
}

// giveBack releases a request's blocks, from the last entry of its table on ([ENG-5]).
func (m *machine) giveBack(r *request) {
	for _, b := range slices.Backward(r.table) {
		m.blocks[b].holders--
		if m.blocks[b].holders == 0 && m.blocks[b].cached {
			m.releases++
			m.blocks[b].released = m.releases
		}
	}
	r.table, r.computed = nil, 0
}

// closeStep lets the index offer what the step has published.
func (m *machine) closeStep() {
	for hash, b := range m.pending {
		m.index[hash] = b
	}
	clear(m.pending)
}

// ledger are the numbers A of [ENG-16].
func (m *machine) ledger() []int64 {
	list := []int64{int64(len(m.blocks))}
	for _, b := range m.blocks {
		list = append(list, b.holders, kind.Bit(b.cached), b.written)
	}
	evictable := m.evictable()
	list = append(append(list, int64(len(evictable))), evictable...)
	list = append(list, int64(len(m.requests)))
	for _, r := range m.requests {
		state := int64(slices.Index(m.relation.States, r.state))
		list = append(list, state, r.computed, r.outputs, kind.Bit(r.stopped), int64(len(r.table)))
		list = append(list, r.table...)
	}
	return append(append(list, int64(len(m.queue))), m.queue...)
}

// prefixes is the field of that name of [ENG-16].
func (m *machine) prefixes() []byte {
	var out []byte
	for b := range m.blocks {
		if held := m.blocks[b]; held.cached {
			out = append(append(out, engine.Numbers(int64(b))...), held.hash[:]...)
		}
	}
	return out
}
