package main

import (
	"slices"
	"strconv"
	"strings"

	"lockstep/conformance/go/lcj"
	"lockstep/conformance/go/refusal"
	"lockstep/conformance/go/sampling"
	"lockstep/conformance/go/specification"
)

// samplingOps are the ops over single rules of sampling.md. Each gives false for what its rules refuse.
var samplingOps = map[string]func(*specification.Specification, *lcj.Object) (*lcj.Object, bool){
	"sampling_draws":    samplingDraws,
	"sampling_seed":     samplingSeed,
	"sampling_exp":      samplingExp,
	"sampling_weights":  samplingWeights,
	"sampling_scan":     samplingScan,
	"sampling_token":    samplingToken,
	"sampling_position": samplingPosition,
	"sampling_sequence": samplingSequence,
}

// runSampling runs one of them; a refusal is BAD_VALUE, with no place.
func runSampling(spec *specification.Specification, request *lcj.Object) (*lcj.Object, error) {
	op, known := samplingOps[request.Text("op")]
	if !known {
		return nil, errUnsupported
	}
	values, ok := op(spec, request)
	if !ok {
		return nil, refusal.New("BAD_VALUE", "")
	}
	return values, nil
}

// parseWord reads an integer below 2^64 in its one spelling.
func parseWord(text string) (uint64, bool) {
	value, err := strconv.ParseUint(text, 10, 64)
	return value, err == nil && strconv.FormatUint(value, 10) == text
}

// upstream says whether a request is about profile upstream-1.0.0.
func upstream(request *lcj.Object) bool {
	return request.Text("profile") != sampling.Version
}

func samplingDraws(_ *specification.Specification, request *lcj.Object) (*lcj.Object, bool) {
	counter, ok := parseWord(request.Text("counter"))
	if !ok {
		return nil, false
	}
	below := uint64(0)
	// A limit of 2^64 takes each draw as it is, as none does.
	if text, given := request.Member("below").(string); given && text != "18446744073709551616" {
		if below, ok = parseWord(text); !ok || below == 0 {
			return nil, false
		}
	}
	stream := sampling.NewStream(request.Text("seed"), counter)
	values := []any{}
	for range request.Int("count") {
		values = append(values, strconv.FormatUint(stream.Below(below), 10))
	}
	after := strconv.FormatUint(stream.Counter(), 10)
	return lcj.NewObject().Set("values", values).Set("counter", after), true
}

func samplingSeed(_ *specification.Specification, request *lcj.Object) (*lcj.Object, bool) {
	seed, ok := seedOf(request)
	return lcj.NewObject().Set("seed", seed), ok
}

// seedOf gives the seed of a position in either profile.
func seedOf(request *lcj.Object) (string, bool) {
	origin := sampling.Origin{UserSeed: request.Text("user_seed"), InferenceID: request.Text("inference_id")}
	position := request.Int("position")
	if upstream(request) {
		base := sampling.UpstreamSeed(origin.UserSeed, origin.InferenceID)
		return sampling.UpstreamPositionSeed(base, int(position)), origin.Valid() && position >= 0
	}
	origin.Beacon = request.Text("beacon")
	choice := request.Int("choice")
	return origin.Seed(choice, position), origin.Valid() && sampling.ValidPlace(choice, position)
}

func samplingExp(_ *specification.Specification, request *lcj.Object) (*lcj.Object, bool) {
	mantissa, exponent, ok := sampling.Exp(request.Text("d"))
	return lcj.NewObject().Set("mantissa", mantissa).Set("exponent", int64(exponent)), ok
}

func samplingWeights(_ *specification.Specification, request *lcj.Object) (*lcj.Object, bool) {
	weights, ok := weightsOf(request)
	return lcj.NewObject().Set("weights", weightPairs(weights)), ok
}

func samplingScan(_ *specification.Specification, request *lcj.Object) (*lcj.Object, bool) {
	counter, ok := parseWord(request.Text("counter"))
	if !ok {
		return nil, false
	}
	weights := []sampling.Weight{}
	for _, element := range request.List("weights") {
		pair := element.([]any)
		weights = append(weights, sampling.Weight{Token: pair[0].(string), Weight: pair[1].(int64)})
	}
	slices.SortFunc(weights, func(a, b sampling.Weight) int { return strings.Compare(a.Token, b.Token) })
	for i := 1; i < len(weights); i++ {
		if weights[i].Token == weights[i-1].Token {
			return nil, false
		}
	}
	return drawn(weights, request.Text("seed"), counter)
}

// drawn makes the answer of one draw.
func drawn(weights []sampling.Weight, seed string, counter uint64) (*lcj.Object, bool) {
	plain := make([]int64, len(weights))
	for i, weight := range weights {
		plain[i] = weight.Weight
	}
	at, ok := sampling.Draw(sampling.NewStream(seed, counter), plain)
	if !ok {
		return nil, false
	}
	return lcj.NewObject().Set("token", weights[at].Token), true
}

// samplingToken replays a position whose support need not be the whole one: weights, then the token.
func samplingToken(_ *specification.Specification, request *lcj.Object) (*lcj.Object, bool) {
	weights, ok := weightsOf(request)
	if !ok {
		return nil, false
	}
	seed, ok := seedOf(request)
	if !ok {
		return nil, false
	}
	token := any(nil)
	if found, ok := drawn(weights, seed, 0); ok {
		token = found.Member("token")
	}
	return lcj.NewObject().Set("token", token).Set("weights", weightPairs(weights)), true
}

// weightsOf gives the weights of a support in either profile.
func weightsOf(request *lcj.Object) ([]sampling.Weight, bool) {
	pairs, given := pairsOf(request, "support")
	if !given {
		return nil, false
	}
	if upstream(request) {
		return sampling.UpstreamWeights(pairs, upstreamParameters(request))
	}
	support := make([]sampling.Logprob, len(pairs))
	for i, pair := range pairs {
		value, ok := sampling.ParseLogprob(pair[1])
		if !ok {
			return nil, false
		}
		support[i] = sampling.Logprob{Token: pair[0], Value: value}
	}
	with, ok := sampling.Resolve(request.Text("temperature"), lcj.Optional[int64](request, "top_k"),
		lcj.Optional[string](request, "top_p"), lcj.Optional[string](request, "min_p"))
	if !ok || with.Greedy() || !sampling.ValidSupport(support) {
		return nil, false
	}
	return sampling.Weights(support, with), true
}

func weightPairs(weights []sampling.Weight) []any {
	pairs := []any{}
	for _, weight := range weights {
		pairs = append(pairs, []any{weight.Token, weight.Weight})
	}
	return pairs
}

// pairsOf gives pairs of texts, nil and false where they are null.
func pairsOf(object *lcj.Object, name string) ([][2]string, bool) {
	list, given := object.Member(name).([]any)
	if !given {
		return nil, false
	}
	pairs := make([][2]string, 0, len(list))
	for _, element := range list {
		pair := element.([]any)
		pairs = append(pairs, [2]string{pair[0].(string), pair[1].(string)})
	}
	return pairs, true
}

// upstreamParameters reads parameters; what a request does not have is empty.
func upstreamParameters(request *lcj.Object) sampling.UpstreamParameters {
	with := sampling.UpstreamParameters{
		TopK: lcj.Optional[int64](request, "top_k"), TopP: lcj.Optional[string](request, "top_p"),
		MinP: lcj.Optional[string](request, "min_p"),
	}
	with.Temperature, _ = request.Member("temperature").(string)
	with.ContractVersion, _ = request.Member("contract_version").(string)
	with.SeedDomain, _ = request.Member("seed_domain").(string)
	with.Greedy, _ = request.Member("greedy").(bool)
	return with
}

func samplingPosition(_ *specification.Specification, request *lcj.Object) (*lcj.Object, bool) {
	if upstream(request) {
		support, _ := pairsOf(request, "logprobs")
		seed := sampling.UpstreamPositionSeed(request.Text("base_seed"), int(request.Int("index")))
		verdict := sampling.UpstreamPosition(upstreamParameters(request), seed, support, request.Text("token"))
		return lcj.NewObject().Set("verdict", verdict), true
	}
	support, _ := pairsOf(request, "support")
	signed := sampling.Position{Token: request.Text("token"), Support: support}
	read := sampling.ReadRequest(request.Object("request"))
	reason := read.Reason(request.Int("choice"), request.Int("position"), signed)
	return lcj.NewObject().Set("reason", reason), true
}

func samplingSequence(spec *specification.Specification, request *lcj.Object) (*lcj.Object, bool) {
	if upstream(request) {
		return upstreamSequence(request), true
	}
	data, err := spec.Object("sampling.json")
	if err != nil {
		panic(err)
	}
	found := sampling.Judge(request.Object("request"), request.Int("choice"), request.Object("artifact"))
	return lcj.NewObject().Set("verdict", sampling.Verdicts(data)[found.Reason]).
		Set("reason", found.Reason).Set("position", placeOrNull(found.Position)).
		Set("positions", found.Positions).Set("covered", found.Covered).
		Set("fraud_positions", found.Fraud).Set("invalid_positions", found.Invalid), true
}

func upstreamSequence(request *lcj.Object) *lcj.Object {
	positions := []sampling.Position{}
	for _, stated := range request.Objects("positions") {
		support, _ := pairsOf(stated, "logprobs")
		positions = append(positions, sampling.Position{Token: stated.Text("token"), Support: support})
	}
	found := sampling.UpstreamSequence(upstreamParameters(request), request.Text("base_seed"), positions)
	return lcj.NewObject().Set("verdict", found.Verdict).Set("position", placeOrNull(found.Position)).
		Set("honest", found.Honest).Set("inconclusive", found.Inconclusive)
}

func placeOrNull(position int64) any {
	if position < 0 {
		return nil
	}
	return position
}
