package certification

import (
	"slices"
	"strings"

	"lockstep/conformance/go/lcj"
	"lockstep/conformance/go/refusal"
	"lockstep/conformance/go/specification"
)

// Kinds of differences, in their order.
const (
	inTokens = iota
	inShape
	inLogprobs
	kindsNumber
)

var kindNames = [kindsNumber]string{"tokens", "shape", "logprobs"}

// unknown is a number that is not known.
const unknown = -1

// output is an entry of the table ([CERT-9]); lists are nil where they are null.
type output struct {
	tokens, texts, logprobs, promptLogprobs []any
	// top are lists of objects.
	top []any
	// text and finish are texts or nil.
	text, finish any
}

func listOr(o *lcj.Object, name string) []any {
	if list, ok := o.Member(name).([]any); ok {
		return append([]any{}, list...)
	}
	return nil
}

// readOutputs reads the table; no entry equals an earlier one (step 3).
func readOutputs(stated []*lcj.Object) ([]*output, *refusal.Refusal) {
	outputs := make([]*output, len(stated))
	known := map[string]bool{}
	for i, o := range stated {
		digest := specification.Sha256(lcj.Encode(o))
		if known[digest] {
			return nil, refusal.New(badValue, refusal.Index("/predicate/outputs", i))
		}
		known[digest] = true
		outputs[i] = &output{
			tokens: listOr(o, "tokens"), texts: listOr(o, "token_texts"),
			logprobs: listOr(o, "logprobs"), promptLogprobs: listOr(o, "prompt_logprobs"),
			top: listOr(o, "top"), text: o.Member("text_sha256"), finish: o.Member("finish"),
		}
	}
	return outputs, nil
}

// checkUse sees that entries are used in their order, and all of them (step 3).
func checkUse(entries int, held ...[]*round) *refusal.Refusal {
	used := int64(0)
	for _, rounds := range held {
		for _, r := range rounds {
			for _, entry := range r.outputs {
				if entry > used || entry >= int64(entries) {
					return refusal.New(badValue, refusal.Index("/predicate/outputs", int(used)))
				}
				if entry == used {
					used++
				}
			}
		}
	}
	if used != int64(entries) {
		return refusal.New(badValue, refusal.Index("/predicate/outputs", int(used)))
	}
	return nil
}

// said are the ids of tokens, else their texts, else nil.
func (o *output) said() []any {
	if o.tokens != nil {
		return o.tokens
	}
	return o.texts
}

// size is the number of tokens, or unknown.
func (o *output) size() int64 {
	if said := o.said(); said != nil {
		return int64(len(said))
	}
	return unknown
}

// finite says it of numbers as texts.
func finite(numbers []any) bool {
	return !slices.ContainsFunc(numbers, func(n any) bool {
		text, ok := n.(string)
		return ok && (strings.HasSuffix(text, "Infinity") || text == "NaN")
	})
}

// malformed is [CERT-10]. top (or nil) is what the request asks for in the round; prompt is the length of
// `prompt_logprobs`, or unknown.
func (o *output) malformed(maxNew int64, top any, prompt int64) bool {
	n := o.size()
	if n != unknown {
		if o.texts != nil && int64(len(o.texts)) != n || n > maxNew || o.finish == "length" && n != maxNew {
			return true
		}
		if o.logprobs != nil && int64(len(o.logprobs)) != n || o.top != nil && int64(len(o.top)) != n {
			return true
		}
	}
	if slices.Contains(o.logprobs, nil) || !finite(o.logprobs) || !finite(o.promptLogprobs) {
		return true
	}
	most, _ := top.(int64)
	for _, position := range o.top {
		several := position.([]any)
		if len(several) == 0 || int64(len(several)) > most+1 {
			return true
		}
		for _, one := range several {
			if !finite([]any{one.(*lcj.Object).Text("logprob")}) {
				return true
			}
		}
	}
	if o.promptLogprobs == nil {
		return false
	}
	if prompt != unknown && int64(len(o.promptLogprobs)) != prompt {
		return true
	}
	return len(o.promptLogprobs) > 1 && slices.Contains(o.promptLogprobs[1:], nil)
}

// lacks says whether the answer to a probe or filler lacks what the observable needs ([CERT-16]).
func (o *output) lacks(observable string, rescores bool) bool {
	switch observable {
	case "text":
		return o.text == nil
	case "tokens":
		return o.said() == nil
	}
	return o.said() == nil || o.logprobs == nil || rescores && o.promptLogprobs == nil
}

// noText is the digest of the empty text.
var noText = specification.Sha256(nil)

// empty says whether nothing stands in an answer that could be compared ([CERT-16]).
func (o *output) empty() bool {
	return o.size() == 0 || o.size() == unknown && o.text == noText
}

// kindOf is the kind of the difference of two entries that are not one.
func kindOf(a, b *output) int {
	switch {
	case a.tokensDiffer(b):
		return inTokens
	case a.shapeDiffers(b):
		return inShape
	}
	return inLogprobs
}

// tokensDiffer says it of ids (else token texts, else neither) or of the whole texts.
func (o *output) tokensDiffer(other *output) bool {
	own, others := o.said(), other.said()
	return o.text != other.text || (own == nil) != (others == nil) || !lcj.Equal(own, others)
}

func (o *output) shapeDiffers(other *output) bool {
	if o.finish != other.finish {
		return true
	}
	for _, pair := range [][2][]any{
		{o.tokens, other.tokens}, {o.texts, other.texts}, {o.logprobs, other.logprobs},
		{o.top, other.top}, {o.promptLogprobs, other.promptLogprobs},
	} {
		if (pair[0] == nil) != (pair[1] == nil) {
			return true
		}
	}
	if len(o.logprobs) != len(other.logprobs) || len(o.promptLogprobs) != len(other.promptLogprobs) ||
		len(o.top) != len(other.top) {
		return true
	}
	for i := range o.top {
		if len(o.top[i].([]any)) != len(other.top[i].([]any)) {
			return true
		}
	}
	return false
}

// agreeing is the number of leading positions that agree.
func agreeing(a, b []any) int64 {
	n := 0
	for n < len(a) && n < len(b) && lcj.Equal(a[n], b[n]) {
		n++
	}
	return int64(n)
}

// position is that of [CERT-17] for a pair of a kind; nil where there is none.
func position(a, b *output, kind int) any {
	switch kind {
	case inTokens:
		return tokensAgreeing(a, b)
	case inShape:
		return nil
	}
	at := any(nil)
	for _, pair := range [][2][]any{{a.logprobs, b.logprobs}, {a.top, b.top}} {
		if lcj.Equal(pair[0], pair[1]) {
			continue
		}
		n := agreeing(pair[0], pair[1])
		if before, ok := at.(int64); !ok || n < before {
			at = n
		}
	}
	return at
}

// tokensAgreeing is the number of leading ids that agree, else of token texts, else nil.
func tokensAgreeing(a, b *output) any {
	for _, pair := range [][2][]any{{a.tokens, b.tokens}, {a.texts, b.texts}} {
		if pair[0] != nil && pair[1] != nil {
			return agreeing(pair[0], pair[1])
		}
	}
	return nil
}
