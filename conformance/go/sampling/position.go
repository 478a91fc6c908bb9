package sampling

import (
	"slices"
	"strconv"
)

// supportMost is M of [SAMP-28].
const supportMost = 1024

// Bounds of the mass that a support stands for ([SAMP-31]).
var (
	massMost  = Magnitude{small: 101, q: -2}
	massLeast = Magnitude{small: 99, q: -2}
)

// The rules of [SAMP-28].
const (
	byTopK  = "top_k"
	byWhole = "whole"
	byMinP  = "min_p"
	byNone  = "unbounded"
)

// Request is what a request fixes for the replay of its positions.
type Request struct {
	Origin     Origin
	Parameters Parameters
	Vocabulary int64
	MinTokens  int64
	StopTokens []int64
}

// Rule is [SAMP-28].
func (r *Request) Rule() string {
	switch k := r.Parameters.TopK; {
	case k > 0 && k <= supportMost && k < r.Vocabulary:
		return byTopK
	case r.Vocabulary <= supportMost:
		return byWhole
	case r.Parameters.MinP != nil:
		return byMinP
	}
	return byNone
}

// available is [SAMP-29].
func (r *Request) available(position int64) int64 {
	if position < r.MinTokens {
		return r.Vocabulary - int64(len(r.StopTokens))
	}
	return r.Vocabulary
}

// most is how many tokens a support has, or under min_p may have at most ([SAMP-30]).
func (r *Request) most(rule string, available int64) int64 {
	switch rule {
	case byTopK:
		return min(r.Parameters.TopK, available)
	case byWhole:
		return available
	}
	return min(supportMost, available)
}

// Position is a position as its executor signed it.
type Position struct {
	Token string
	// Support is nil where it is null.
	Support [][2]string
}

// Reason is that of a position ([SAMP-33]), or empty.
func (r *Request) Reason(choice, position int64, signed Position) string {
	support, reason := r.read(position, signed)
	if reason != "" {
		return reason
	}
	rule, available := r.Rule(), r.available(position)
	n, most := int64(len(support)), r.most(rule, available)
	if n > most || rule != byMinP && n != most {
		return "support_size"
	}
	if reason := checkMass(support, available); reason != "" {
		return reason
	}
	if rule == byMinP {
		below := int64(0)
		for _, e := range exponentials(support, r.Parameters.Temperature) {
			if e.against(*r.Parameters.MinP) < 0 {
				below++
			}
		}
		if below >= 2 || below == 0 && n != most {
			return "support_cut"
		}
	}
	if r.Token(choice, position, support) != signed.Token {
		return "token_differs"
	}
	return ""
}

// Token is [SAMP-24] over a support in string order.
func (r *Request) Token(choice, position int64, support []Logprob) string {
	weights := Weights(support, r.Parameters)
	point := NewStream(r.Origin.Seed(choice, position), 0).Below(Total)
	for _, weight := range weights {
		if point < uint64(weight.Weight) {
			return weight.Token
		}
		point -= uint64(weight.Weight)
	}
	panic("sampling: weights that do not sum to their total")
}

// read is steps 1 to 6 of [SAMP-33].
func (r *Request) read(position int64, signed Position) ([]Logprob, string) {
	if signed.Support == nil {
		return nil, "support_missing"
	}
	if len(signed.Support) == 0 || len(signed.Support) > supportMost {
		return nil, "support_size"
	}
	if !ValidToken(signed.Token, r.Vocabulary) {
		return nil, "token_id"
	}
	for _, pair := range signed.Support {
		if !ValidToken(pair[0], r.Vocabulary) {
			return nil, "token_id"
		}
	}
	support := make([]Logprob, len(signed.Support))
	for i, pair := range signed.Support {
		value, ok := ParseLogprob(pair[1])
		if !ok {
			return nil, "logprob"
		}
		support[i] = Logprob{pair[0], value}
	}
	for i := 1; i < len(support); i++ {
		if support[i].Token <= support[i-1].Token {
			return nil, "support_order"
		}
	}
	if position < r.MinTokens && slices.ContainsFunc(support, func(l Logprob) bool { return r.stops(l.Token) }) {
		return nil, "stop_not_masked"
	}
	return support, ""
}

// stops says whether a token is a stop token.
func (r *Request) stops(token string) bool {
	for _, stop := range r.StopTokens {
		if strconv.FormatInt(stop, 10) == token {
			return true
		}
	}
	return false
}

// checkMass is [SAMP-31].
func checkMass(support []Logprob, available int64) string {
	sum, least := Rounded{}, Rounded{}
	for i := range support {
		x := Rounded{}
		if support[i].Value.compare(Magnitude{small: 64}) <= 0 {
			x = exp(divide(support[i].Value, unity))
		}
		if i == 0 || x.compare(least) < 0 {
			least = x
		}
		sum = sum.plus(x)
	}
	if sum.against(massMost) > 0 {
		return "mass_above"
	}
	unsigned := Magnitude{small: uint64(available - int64(len(support)))}
	if sum.plus(least.times(unsigned)).against(massLeast) < 0 {
		return "mass_below"
	}
	return ""
}
