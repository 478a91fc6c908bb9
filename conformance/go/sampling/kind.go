package sampling

import (
	"lockstep/conformance/go/kind"
	"lockstep/conformance/go/lcj"
	"lockstep/conformance/go/refusal"
	"lockstep/conformance/go/schema"
	"lockstep/conformance/go/specification"
	"lockstep/conformance/go/statement"
)

// PredicateType is the kind's predicate type.
const PredicateType = "urn:lockstep:certificate:sampling:v1"

const (
	badValue   = "BAD_VALUE"
	recount    = "H10_COUNTS_DO_NOT_RECOMPUTE"
	notDerived = "OUTCOME_NOT_DERIVED"
)

// countNames are in the order of [SAMP-39].
var countNames = []string{
	"sequences", "honest", "fraud", "invalid_artifact", "inconclusive", "not_covered", "positions",
	"positions_covered", "covered_permille", "fraud_positions", "invalid_positions",
	"support_tokens", "beacons", "requests", "choices_missing",
}

// Kind is the kind with its data.
type Kind struct {
	Schema     *schema.Schema
	SpecDigest string

	verdictOf             map[string]string
	notRun                []string
	pairsMost, coverLeast int64
	lemmas                []lemma
}

// lemma is one that the rules rest on ([SAMP-38]).
type lemma struct{ name, statement string }

// NewKind reads the kind's data.
func NewKind(spec *specification.Specification) (*Kind, error) {
	k := &Kind{}
	var err error
	if k.Schema, err = spec.Schema("sampling"); err != nil {
		return nil, err
	}
	data, err := spec.Object("sampling.json")
	if err != nil {
		return nil, err
	}
	k.verdictOf = Verdicts(data)
	k.notRun, k.pairsMost = data.Texts("not_run"), data.Int("pairs_most")
	k.coverLeast = data.Int("coverage_least_permille")
	registered, err := spec.Object("lemmas.json")
	if err != nil {
		return nil, err
	}
	k.lemmas = restedOn(data, registered)
	k.SpecDigest, err = spec.Digest("schemas/sampling.schema.json", "sampling.json", "lemmas.json")
	return k, err
}

// restedOn gives the lemmas of the kind's data, each once, with their registered statements.
func restedOn(data, registered *lcj.Object) []lemma {
	statements := map[string]string{}
	for _, row := range registered.Objects("lemmas") {
		statements[row.Text("name")] = row.Text("statement_sha256")
	}
	var found []lemma
	seen := map[string]bool{}
	for _, row := range data.Objects("lemmas") {
		if name := row.Text("name"); !seen[name] {
			seen[name] = true
			found = append(found, lemma{name, statements[name]})
		}
	}
	return found
}

// checkLemmas compares the lemmas that a certificate names: all names, then each statement.
func (k *Kind) checkLemmas(stated []*lcj.Object) *refusal.Refusal {
	const pointer = "/predicate/lemmas"
	if len(stated) != len(k.lemmas) {
		return refusal.New("H3_PROOF_MISSING", pointer)
	}
	for i, held := range stated {
		if held.Text("name") != k.lemmas[i].name {
			return refusal.New("H3_PROOF_MISSING", pointer)
		}
	}
	for i, held := range stated {
		if held.Text("statement_sha256") != k.lemmas[i].statement {
			return refusal.New("LEMMA_STATEMENT_MISMATCH", refusal.Index(pointer, i)+"/statement_sha256")
		}
	}
	return nil
}

// Verdicts gives the verdict of each reason ([SAMP-34]) of `sampling.json`.
func Verdicts(data *lcj.Object) map[string]string {
	verdicts := map[string]string{}
	for _, row := range data.Objects("reasons") {
		verdicts[row.Text("reason")] = row.Text("verdict")
	}
	return verdicts
}

// Derive is the order of derivation.
func (k *Kind) Derive(stated *statement.Statement, _ kind.Evidence, _ bool) (*kind.Derived, *refusal.Refusal) {
	predicate := stated.Predicate
	sequences := predicate.Objects("sequences")
	requests, err := k.checkRequests(sequences)
	if err != nil {
		return nil, err
	}
	counts := map[string]int64{}
	for _, name := range countNames {
		counts[name] = 0
	}
	for i, sequence := range sequences {
		outcome := Judge(sequence.Object("request"), sequence.Int("choice"), sequence.Object("artifact"))
		verdict := k.verdictOf[outcome.Reason]
		at := refusal.Index("/predicate/sequences", i)
		if err := checkOutcome(sequence, outcome, verdict, at); err != nil {
			return nil, err
		}
		count(counts, sequence, outcome, verdict)
	}
	counts["requests"] = int64(len(requests))
	counts["choices_missing"] = asked(requests) - int64(len(sequences))
	if counts["positions"] > 0 {
		counts["covered_permille"] = 1000 * counts["positions_covered"] / counts["positions"]
	}
	if err := kind.CheckCounts(predicate, countNames, counts); err != nil {
		return nil, err
	}
	verdict := k.total(counts)
	if predicate.Text("verdict") != verdict {
		return nil, refusal.Expecting(notDerived, "/predicate/verdict", verdict, predicate.Text("verdict"))
	}
	if err := kind.CheckNotRun(predicate, k.notRun); err != nil {
		return nil, err
	}
	if err := k.checkLemmas(predicate.Objects("lemmas")); err != nil {
		return nil, err
	}
	if err := stated.CheckSubject("requests", specification.Sha256(lcj.Encode(requests))); err != nil {
		return nil, err
	}
	return &kind.Derived{Verdict: verdict, Counts: counts}, nil
}

// checkRequests is step 1; it gives the requests of [SAMP-40].
func (k *Kind) checkRequests(sequences []*lcj.Object) ([]any, *refusal.Refusal) {
	const pointer = "/predicate/sequences"
	pairs := int64(0)
	for _, sequence := range sequences {
		for _, position := range sequence.Object("artifact").Objects("positions") {
			support, _ := position.Member("support").([]any)
			pairs += int64(len(support))
		}
	}
	if pairs > k.pairsMost {
		return nil, refusal.New("LIMIT_SIZE", pointer)
	}
	requests := []any{}
	known := map[string]*lcj.Object{}
	type place struct {
		id     string
		choice int64
	}
	taken := map[place]bool{}
	for i, sequence := range sequences {
		at, request, choice := refusal.Index(pointer, i), sequence.Object("request"), sequence.Int("choice")
		if err := checkRequest(request, at+"/request"); err != nil {
			return nil, err
		}
		if choice >= request.Int("choices") {
			return nil, refusal.New(badValue, at+"/choice")
		}
		id := request.Text("inference_id")
		if earlier, again := known[id]; !again {
			known[id] = request
			requests = append(requests, request)
		} else if !lcj.Equal(earlier, request) {
			return nil, refusal.New(badValue, at+"/request")
		}
		if taken[place{id, choice}] {
			return nil, refusal.New(badValue, at+"/choice")
		}
		taken[place{id, choice}] = true
	}
	return requests, nil
}

// asked is how many sequences the requests ask for ([SAMP-47]).
func asked(requests []any) int64 {
	total := int64(0)
	for _, request := range requests {
		total += request.(*lcj.Object).Int("choices")
	}
	return total
}

// checkRequest sees what the schema does not.
func checkRequest(request *lcj.Object, pointer string) *refusal.Refusal {
	if !ValidUserSeed(request.Text("user_seed")) {
		return refusal.New(badValue, pointer+"/user_seed")
	}
	if request.Int("min_tokens") > request.Int("max_tokens") {
		return refusal.New(badValue, pointer+"/min_tokens")
	}
	before := int64(-1)
	for i, stop := range request.Ints("stop_tokens") {
		if stop <= before || stop >= request.Int("vocab_size") {
			return refusal.New(badValue, refusal.Index(pointer+"/stop_tokens", i))
		}
		before = stop
	}
	features := request.Texts("features")
	for i := 1; i < len(features); i++ {
		if features[i] <= features[i-1] {
			return refusal.New(badValue, refusal.Index(pointer+"/features", i))
		}
	}
	return nil
}

// checkOutcome is step 2 for one sequence.
func checkOutcome(sequence *lcj.Object, outcome Outcome, verdict, at string) *refusal.Refusal {
	for _, number := range []struct {
		name  string
		value int64
	}{
		{"positions", outcome.Positions}, {"covered", outcome.Covered},
		{"fraud_positions", outcome.Fraud}, {"invalid_positions", outcome.Invalid},
	} {
		if sequence.Int(number.name) != number.value {
			return refusal.New(recount, at+"/"+number.name)
		}
	}
	position := any(nil)
	if outcome.Position >= 0 {
		position = outcome.Position
	}
	switch {
	case sequence.Text("reason") != outcome.Reason:
		return refusal.Expecting(notDerived, at+"/reason", outcome.Reason, sequence.Text("reason"))
	case sequence.Member("position") != position:
		return refusal.New(notDerived, at+"/position")
	case sequence.Text("verdict") != verdict:
		return refusal.Expecting(notDerived, at+"/verdict", verdict, sequence.Text("verdict"))
	}
	return nil
}

// count adds a sequence to the counts of [SAMP-39].
func count(counts map[string]int64, sequence *lcj.Object, outcome Outcome, verdict string) {
	counts["sequences"]++
	counts[verdict]++
	counts["positions"] += outcome.Positions
	counts["positions_covered"] += outcome.Covered
	counts["fraud_positions"] += outcome.Fraud
	counts["invalid_positions"] += outcome.Invalid
	counts["support_tokens"] += outcome.Tokens
	if sequence.Object("request").Text("beacon") != "" {
		counts["beacons"]++
	}
}

// total is [SAMP-36].
func (k *Kind) total(counts map[string]int64) string {
	for _, verdict := range []string{"fraud", "invalid_artifact", "inconclusive"} {
		if counts[verdict] > 0 {
			return verdict
		}
	}
	covered := counts["positions_covered"]
	if counts["choices_missing"] > 0 || covered == 0 || 1000*covered < k.coverLeast*counts["positions"] {
		return "not_covered"
	}
	return "honest"
}
