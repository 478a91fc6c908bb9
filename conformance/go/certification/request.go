package certification

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"

	"lockstep/conformance/go/lcj"
)

// request is one of a cell's ([CERT-2]).
type request struct {
	role   string
	wave   int
	prompt []int64
	// rescores is the place of the request whose output it rescores, or -1.
	rescores int
	maxNew   int64
	sampling string
	seeded   bool
	// seed and top are integers or nil.
	seed, top any
	// field and values are what changes from round to round, if varying is not nil.
	varying *lcj.Object
	field   string
	values  []any
	// likeness is the document without `wave` and `varying`.
	likeness string
}

// document is a request as its digest has it.
func (r *request) document() *lcj.Object {
	rescores, varying := any(nil), any(nil)
	if r.rescores >= 0 {
		rescores = int64(r.rescores)
	}
	if r.varying != nil {
		varying = r.varying
	}
	prompt := make([]any, len(r.prompt))
	for i, unit := range r.prompt {
		prompt[i] = unit
	}
	return lcj.NewObject().Set("role", r.role).Set("wave", int64(r.wave)).Set("prompt", prompt).
		Set("rescores", rescores).Set("max_new", r.maxNew).Set("sampling", r.sampling).
		Set("seed", r.seed).Set("top", r.top).Set("echo", r.rescores >= 0).Set("varying", varying)
}

// in is the value of the varying field in a round.
func (r *request) in(round int64) any {
	return r.values[round%int64(len(r.values))]
}

// topIn is how many log-probabilities it asks for in a round; nil for none.
func (r *request) topIn(round int64) any {
	if r.field == "top" {
		return r.in(round)
	}
	return r.top
}

// signature is what requests that are alike have in common; empty where it is like none
// ([CERT-14]).
func (r *request) signature(round int64) string {
	seed := r.seed
	if r.field == "seed" {
		seed = r.in(round)
	}
	if r.role == "cancelled" || r.seeded && seed == nil {
		return ""
	}
	if r.varying == nil {
		return r.likeness
	}
	return r.likeness + r.field + string(lcj.Encode(r.in(round)))
}

// finish sets the likeness of a request that is complete.
func (r *request) finish() {
	alike := r.document().Set("wave", int64(0)).Set("varying", nil)
	sum := sha256.Sum256(lcj.Encode(alike))
	r.likeness = string(sum[:])
}

// units gives the first units of a stream of a case ([CERT-1]).
func (p *plan) units(c, stream string, count int64) []int64 {
	var out []int64
	for block := int64(0); int64(len(out)) < count; block++ {
		sum := sha256.Sum256(fmt.Appendf(nil, "lockstep/certification/1/%d/%s/%s/%d", p.seed, c, stream, block))
		for i := 0; i < len(sum) && int64(len(out)) < count; i += 4 {
			out = append(out, p.low+int64(binary.BigEndian.Uint32(sum[i:]))%p.span)
		}
	}
	return out
}

// asked is the number of log-probabilities that requests ask for, or nil.
func (p *plan) asked() any {
	if p.observable == "logprobs" {
		return p.top
	}
	return nil
}

// caseRequests are those of a case, by their places.
func (p *plan) caseRequests(d *data, c *caseOf) []request {
	var out []request
	for _, group := range c.groups {
		for range group.Int("count") {
			place := int64(len(out))
			r := request{
				role: group.Text("role"), wave: int(group.Int("wave")), rescores: -1,
				maxNew: p.maxNew, sampling: group.Text("sampling"), top: p.asked(),
			}
			if r.seeded = d.seeded[r.sampling]; r.seeded {
				r.seed = d.seedBase + place
			}
			if k, ok := group.Member("rescores").(int64); ok {
				r.rescores, r.maxNew = int(k), 1
			}
			if varying, ok := group.Member("varying").(*lcj.Object); ok {
				r.varying, r.field, r.values = varying, varying.Text("field"), varying.List("values")
			}
			for _, piece := range group.Objects("pieces") {
				stream := piece.Text("stream")
				if stream == "own" {
					stream = fmt.Sprintf("own/%d", place)
				}
				count := piece.Int("blocks")*p.blockSize + piece.Int("chunks")*p.chunk + piece.Int("units")
				r.prompt = append(r.prompt, p.units(c.name, stream, count)...)
			}
			r.finish()
			out = append(out, r)
		}
	}
	return out
}

// fillers are as many fillers of a case as the widest round has ([CERT-5]).
func (p *plan) fillers(d *data, c *caseOf, widths []int64) []request {
	var out []request
	for i := range slices.Max(widths) {
		r := request{
			role: "filler", wave: len(c.waves) - 1, rescores: -1, maxNew: p.maxNew, sampling: "greedy",
			top: p.asked(), prompt: p.units(c.name, fmt.Sprintf("filler/%d", i), d.fillerUnits),
		}
		r.finish()
		out = append(out, r)
	}
	return out
}
