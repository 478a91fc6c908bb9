package sampling

import (
	"slices"

	"lockstep/conformance/go/lcj"
)

// Version is that of the sampler.
const Version = "sampling/v1"

// Outcome is what is derived of a sequence ([SAMP-34], [SAMP-35]).
type Outcome struct {
	Reason string
	// Position is -1 where there is none.
	Position                           int64
	Positions, Covered, Fraud, Invalid int64
	// Tokens are the pairs of the covered positions.
	Tokens int64
}

// Judge is [SAMP-34] over a request and an artifact that their schema admits.
func Judge(request *lcj.Object, choice int64, artifact *lcj.Object) Outcome {
	positions := artifact.Objects("positions")
	outcome := Outcome{Position: -1, Positions: int64(len(positions))}
	read := ReadRequest(request)
	if outcome.Reason = notReplayed(request, read); outcome.Reason != "" {
		return outcome
	}
	outcome.Covered = outcome.Positions
	firstFraud, firstInvalid, invalid := int64(-1), int64(-1), ""
	for i, stated := range positions {
		signed, at := readPosition(stated), int64(i)
		outcome.Tokens += int64(len(signed.Support))
		switch reason := read.Reason(choice, at, signed); reason {
		case "":
		case "token_differs":
			if outcome.Fraud++; outcome.Fraud == 1 {
				firstFraud = at
			}
		default:
			if outcome.Invalid++; outcome.Invalid == 1 {
				firstInvalid, invalid = at, reason
			}
		}
	}
	switch {
	case firstFraud >= 0:
		outcome.Reason, outcome.Position = "token_differs", firstFraud
	case copyDiffers(request, read, choice, artifact):
		outcome.Reason = "copy_differs"
	case invalid != "":
		outcome.Reason, outcome.Position = invalid, firstInvalid
	default:
		outcome.Reason, outcome.Position = read.ending(request, artifact, positions)
	}
	return outcome
}

// notReplayed is step 1 of [SAMP-34].
func notReplayed(request *lcj.Object, read *Request) string {
	switch {
	case request.Text("version") != Version:
		return "version_unknown"
	case request.Text("seed_domain") != Domain:
		return "seed_domain_unknown"
	case len(request.List("features")) > 0:
		return "feature"
	case read.Parameters.Greedy():
		return "greedy"
	case read.Rule() == byNone:
		return "support_unbounded"
	}
	return ""
}

// copyDiffers is step 3.
func copyDiffers(request *lcj.Object, read *Request, choice int64, artifact *lcj.Object) bool {
	resolved := lcj.NewObject().Set("choice", choice).Set("support", read.Rule()).
		Set("top_k", nil).Set("top_p", nil).Set("min_p", nil)
	for _, name := range []string{
		"version", "seed_domain", "inference_id", "user_seed", "beacon", "temperature",
		"model_sha256", "tokenizer_sha256",
	} {
		resolved.Set(name, request.Member(name))
	}
	if read.Parameters.TopK > 0 {
		resolved.Set("top_k", read.Parameters.TopK)
	}
	if read.Parameters.TopP != nil {
		resolved.Set("top_p", request.Member("top_p"))
	}
	if read.Parameters.MinP != nil {
		resolved.Set("min_p", request.Member("min_p"))
	}
	return slices.ContainsFunc(resolved.Names(), func(name string) bool {
		return !lcj.Equal(resolved.Member(name), artifact.Member(name))
	})
}

// ending is steps 5 to 8; the position is -1 where there is none.
func (r *Request) ending(request, artifact *lcj.Object, positions []*lcj.Object) (string, int64) {
	n, most := int64(len(positions)), request.Int("max_tokens")
	if n == 0 || n > most || artifact.Int("length") != n {
		return "length", -1
	}
	for p := r.MinTokens; p < n-1; p++ {
		if r.stops(positions[p].Text("token")) {
			return "past_stop", p
		}
	}
	stopped := r.stops(positions[n-1].Text("token"))
	switch artifact.Text("finish") {
	case "stop":
		if stopped {
			return "", -1
		}
	case "length":
		if !stopped && n == most {
			return "", -1
		}
	}
	return "finish", -1
}

// ReadRequest reads a request that its schema admits.
func ReadRequest(request *lcj.Object) *Request {
	parameters, ok := Resolve(request.Text("temperature"), lcj.Optional[int64](request, "top_k"),
		lcj.Optional[string](request, "top_p"), lcj.Optional[string](request, "min_p"))
	if !ok {
		panic("sampling: parameters that the schema does not admit")
	}
	return &Request{
		Origin: Origin{
			UserSeed: request.Text("user_seed"), InferenceID: request.Text("inference_id"),
			Beacon: request.Text("beacon"),
		},
		Parameters: parameters,
		Vocabulary: request.Int("vocab_size"), MinTokens: request.Int("min_tokens"),
		StopTokens: request.Ints("stop_tokens"),
	}
}

func readPosition(stated *lcj.Object) Position {
	signed := Position{Token: stated.Text("token")}
	list, given := stated.Member("support").([]any)
	if given {
		signed.Support = make([][2]string, 0, len(list))
	}
	for _, element := range list {
		pair := element.([]any)
		signed.Support = append(signed.Support, [2]string{pair[0].(string), pair[1].(string)})
	}
	return signed
}
