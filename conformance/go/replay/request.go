package replay

import (
	"lockstep/conformance/go/engine"
	"slices"
	"strings"

	"lockstep/conformance/go/lcj"
	"lockstep/conformance/go/refusal"
)

// request is a request of the workload with what the machine and the ledger know of it
// ([LIFE-6], [ENG-3]).
type request struct {
	id, salt        string
	prompt, arrival int64
	maxNew          int64
	ignoresEnds     bool
	// place is that in the workload.
	place int
	// greedy says that it draws no token.
	greedy bool
	// emits are the tokens of its output in the certificate, logits the digests beside them.
	emits  []int64
	logits []string

	// number is that of [SCHED-8].
	number  int64
	state   string
	stopped bool
	// known are its known tokens, and computed and outputs are counted in them.
	known             []int64
	computed, outputs int64
	table             []int64
	// chain begins with the root of its prefixes; entry i + 1 is the hash of its block i ([ENG-8]).
	chain []engine.Digest
	// ends is which of its outputs a rehearsal takes for an end of sequence, or 0 ([SCHED-19]).
	ends int64
	// busy is the last step in which it has computed, or -1.
	busy   int64
	events []string
}

func (r *request) active() bool {
	return r.state == "ADMITTED" || r.state == "PREFILLING" || r.state == "DECODING"
}

// ended is [SCHED-15].
func (r *request) ended() bool { return r.stopped || r.outputs == r.maxNew }

// hash gives the hash of its block i, whose tokens are known ([ENG-8]).
func (r *request) hash(i, size int64) engine.Digest {
	for int64(len(r.chain)) <= i+1 {
		block := int64(len(r.chain)) - 1
		before := r.chain[block]
		tokens := engine.Numbers(r.known[block*size : (block+1)*size]...)
		r.chain = append(r.chain, engine.Framed("lockstep/prefix-block/1", before[:], tokens))
	}
	return r.chain[i+1]
}

// billionths gives the value of a decimal fraction of [ENG-12] in units of 10^-9.
func billionths(text string) int64 {
	whole, fraction, _ := strings.Cut(text, ".")
	value := int64(0)
	for _, digit := range whole + (fraction + "000000000")[:9] {
		value = 10*value + int64(digit-'0')
	}
	return value
}

const (
	one = 1_000_000_000
	// greedyBelow is the least temperature at which a token is drawn ([SAMP-12]).
	greedyBelow = 10_000
)

// misset names the first sampling parameter outside [SCHED-7], if there is one.
func misset(sampling *lcj.Object) string {
	topP := billionths(sampling.Text("top_p"))
	switch {
	case billionths(sampling.Text("temperature")) > 100*one:
		return "temperature"
	case topP <= 0 || topP > one:
		return "top_p"
	case billionths(sampling.Text("min_p")) > one:
		return "min_p"
	}
	return ""
}

// readRequest reads the request at a place of a workload.
func readRequest(stated *lcj.Object, place int) *request {
	prompt := stated.Ints("prompt")
	return &request{
		id: stated.Text("id"), salt: stated.Text("salt"), arrival: stated.Int("arrival"),
		maxNew: stated.Int("max_new"), ignoresEnds: stated.Bool("ignore_eos"),
		greedy: billionths(stated.Object("sampling").Text("temperature")) < greedyBelow,
		place:  place, known: prompt, prompt: int64(len(prompt)), busy: -1,
	}
}

// checkWorkload is what step 2 says of each request; it gives the requests in the order of the
// workload.
func checkWorkload(workload, model *lcj.Object, at string) ([]*request, *refusal.Refusal) {
	var requests []*request
	ids := map[string]bool{}
	for i, stated := range workload.Objects("requests") {
		pointer := refusal.Index(at+"/requests", i)
		r := readRequest(stated, i)
		if ids[r.id] {
			return nil, refusal.New("DUPLICATE_REQUEST", pointer+"/id")
		}
		ids[r.id] = true
		for j, token := range r.known {
			if token >= model.Int("vocab_size") {
				return nil, refusal.New("TOKEN_OUT_OF_RANGE", refusal.Index(pointer+"/prompt", j))
			}
		}
		if r.prompt+r.maxNew > model.Int("max_positions") {
			return nil, refusal.New("SEQUENCE_TOO_LONG", pointer)
		}
		if name := misset(stated.Object("sampling")); name != "" {
			return nil, refusal.New(badValue, pointer+"/sampling/"+name)
		}
		requests = append(requests, r)
	}
	return requests, nil
}

// submissionOrder gives the requests in the order of submission, numbered ([SCHED-8]).
func submissionOrder(requests []*request) []*request {
	ordered := slices.Clone(requests)
	slices.SortStableFunc(ordered, func(a, b *request) int { return int(a.arrival - b.arrival) })
	for number, r := range ordered {
		r.number = int64(number)
	}
	return ordered
}

// checkOutputs is step 3.
func checkOutputs(stated []*lcj.Object, requests []*request, vocabulary int64) *refusal.Refusal {
	const pointer = "/predicate/outputs"
	if len(stated) != len(requests) {
		return refusal.New(badValue, pointer)
	}
	for i, output := range stated {
		r, at := requests[i], refusal.Index(pointer, i)
		if output.Text("request") != r.id {
			return refusal.New(badValue, at+"/request")
		}
		r.emits, r.logits = output.Ints("tokens"), output.Texts("logit_digests")
		outside := slices.ContainsFunc(r.emits, func(token int64) bool { return token >= vocabulary })
		if outside || int64(len(r.emits)) > r.maxNew || len(r.logits) != len(r.emits) {
			return refusal.New(badValue, at)
		}
	}
	return nil
}

// checkGreedy is the end of step 3: greedy tokens of equal logits are equal.
func checkGreedy(requests []*request) *refusal.Refusal {
	chosen := map[string]int64{}
	for i, r := range requests {
		if !r.greedy {
			continue
		}
		for j, token := range r.emits {
			if before, known := chosen[r.logits[j]]; known && before != token {
				return refusal.New(badValue, refusal.Index(refusal.Index("/predicate/outputs", i)+"/tokens", j))
			}
			chosen[r.logits[j]] = token
		}
	}
	return nil
}
