package distance

import (
	"fmt"
	"strings"

	"lockstep/conformance/go/lcj"
	"lockstep/conformance/go/refusal"
)

const (
	atTexts = "/predicate/texts"
	atRungs = "/predicate/rungs"
)

// checkForm is step 1.
func checkForm(predicate *lcj.Object) *refusal.Refusal {
	rungs, vocabulary := predicate.Objects("rungs"), predicate.Object("model").Int("vocab_size")
	if predicate.Int("accepts") >= int64(len(rungs)) {
		return refusal.New(badValue, "/predicate/accepts")
	}
	if predicate.Int("support_tokens") > vocabulary {
		return refusal.New(badValue, "/predicate/support_tokens")
	}
	ids, whole := map[string]bool{}, map[string]bool{}
	for i, text := range predicate.Objects("texts") {
		at := refusal.Index(atTexts, i)
		if ids[text.Text("id")] {
			return refusal.New(badValue, at+"/id")
		}
		ids[text.Text("id")] = true
		for _, name := range []string{"prompt", "tokens"} {
			for k, token := range text.Ints(name) {
				if token >= vocabulary {
					return refusal.New(badValue, refusal.Index(at+"/"+name, k))
				}
			}
		}
		if len(text.List("reference")) != len(text.List("tokens")) {
			return refusal.New(badValue, at+"/reference")
		}
		tokens := fmt.Sprint(append(text.Ints("prompt"), text.Ints("tokens")...))
		if whole[tokens] {
			return refusal.New(badValue, at+"/tokens")
		}
		whole[tokens] = true
	}
	names := map[string]bool{}
	for i, rung := range rungs {
		if names[rung.Text("name")] {
			return refusal.New(badValue, refusal.Index(atRungs, i)+"/name")
		}
		names[rung.Text("name")] = true
	}
	return nil
}

// checkSizes is step 2.
func checkSizes(predicate *lcj.Object, pairsMost int64) *refusal.Refusal {
	texts, pairs := predicate.Objects("texts"), 0
	for _, text := range texts {
		for _, written := range text.Texts("reference") {
			pairs += strings.Count(written, ":")
		}
	}
	for i, rung := range predicate.Objects("rungs") {
		at := refusal.Index(atRungs, i) + "/supports"
		supports := rung.List("supports")
		if len(supports) != len(texts) {
			return refusal.New(badValue, at)
		}
		for k, of := range supports {
			if len(of.([]any)) != len(texts[k].List("tokens")) {
				return refusal.New(badValue, refusal.Index(at, k))
			}
			for _, written := range of.([]any) {
				if text, given := written.(string); given {
					pairs += strings.Count(text, ":")
				}
			}
		}
	}
	if int64(pairs) > pairsMost {
		return refusal.New("LIMIT_SIZE", "/predicate")
	}
	return nil
}
