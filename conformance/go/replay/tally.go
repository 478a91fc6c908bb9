package replay

import (
	"slices"

	"lockstep/conformance/go/kind"
	"lockstep/conformance/go/lcj"
	"lockstep/conformance/go/refusal"
	"lockstep/conformance/go/relation"
)

// splitPositions is where the second split of attention begins ([ENG-22]).
const splitPositions = 512

// countNames are in the order of [RPL-6].
var countNames = []string{
	"steps", "batches", "requests", "events", "rows", "tokens", "hit_blocks", "evictions",
	"preemptions", "stopped", "split_rows",
}

// tally counts what an execution shows ([RPL-5], [RPL-6]).
type tally struct {
	counts map[string]int64
	cells  map[relation.Cell]bool
}

func newTally(requests int) *tally {
	counts := map[string]int64{}
	for _, name := range countNames {
		counts[name] = 0
	}
	counts["requests"] = int64(requests)
	return &tally{counts, map[relation.Cell]bool{}}
}

// event counts an event of a request that is still in the state before it.
func (t *tally) event(r *request, done event) {
	t.counts["events"]++
	t.cells[relation.Cell{State: r.state, Event: done.event}] = true
	r.events = append(r.events, done.event)
	switch done.event {
	case "cache_hit":
		t.counts["hit_blocks"] += int64(len(done.blocks))
	case "evict":
		t.counts["evictions"]++
	case "preempt_rc":
		t.counts["preemptions"]++
	case "decode":
		t.counts["tokens"]++
	}
}

// rows counts the rows from a position up to an end.
func (t *tally) rows(start, end int64) {
	t.counts["rows"] += end - start
	t.counts["split_rows"] += max(0, end-max(start, splitPositions))
}

func (t *tally) step(hasBatch bool) {
	t.counts["steps"]++
	t.counts["batches"] += kind.Bit(hasBatch)
}

// seen counts how often the requests show each n-gram, in the order of [RPL-5].
func seen(requests []*request, n int) ([]relation.Gram, map[relation.Gram]int64) {
	counts := map[relation.Gram]int64{}
	var grams []relation.Gram
	for _, r := range requests {
		for i := 0; i+n <= len(r.events); i++ {
			gram := relation.Join(r.events[i : i+n])
			if counts[gram] == 0 {
				grams = append(grams, gram)
			}
			counts[gram]++
		}
	}
	slices.Sort(grams)
	return grams, counts
}

// checkCoverage is the first half of step 7.
func (t *tally) checkCoverage(coverage *lcj.Object, rel *relation.Relation, requests []*request) *refusal.Refusal {
	const pointer = "/predicate/coverage/covered"
	shown := []int64{int64(len(t.cells))}
	legal := []int64{int64(len(rel.Cells))}
	wanted := []any{}
	for n := 2; n <= 3; n++ {
		grams, counts := seen(requests, n)
		shown, legal = append(shown, int64(len(grams))), append(legal, int64(len(rel.Legal(n))))
		for _, gram := range grams {
			wanted = append(wanted, lcj.NewObject().Set("events", gram.List()).Set("count", counts[gram]))
		}
	}
	for i, stated := range coverage.Objects("covered") {
		at := refusal.Index(pointer, i)
		switch {
		case stated.Int("n") != int64(i)+1:
			return refusal.New(recount, at+"/n")
		case stated.Int("legal") != legal[i]:
			return refusal.New(underived, at+"/legal")
		case stated.Int("shown") != shown[i]:
			return refusal.New(recount, at+"/shown")
		}
	}
	if !lcj.Equal(coverage.List("n_grams"), wanted) {
		return refusal.New(recount, "/predicate/coverage/n_grams")
	}
	return nil
}
