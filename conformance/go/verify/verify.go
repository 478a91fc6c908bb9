// Package verify runs the stages of certificate.md, [ORDER-1], over one certificate.
package verify

import (
	"lockstep/conformance/go/campaign"
	"lockstep/conformance/go/certification"
	"lockstep/conformance/go/distance"
	"lockstep/conformance/go/envelope"
	"lockstep/conformance/go/experiments"
	"lockstep/conformance/go/fidelity"
	"lockstep/conformance/go/finding"
	"lockstep/conformance/go/hunt"
	"lockstep/conformance/go/invariance"
	"lockstep/conformance/go/kind"
	"lockstep/conformance/go/lean"
	"lockstep/conformance/go/lemmas"
	"lockstep/conformance/go/measurement"
	"lockstep/conformance/go/mutation"
	"lockstep/conformance/go/observation"
	"lockstep/conformance/go/refusal"
	"lockstep/conformance/go/replay"
	"lockstep/conformance/go/sampling"
	"lockstep/conformance/go/schema"
	"lockstep/conformance/go/smt"
	"lockstep/conformance/go/specification"
	"lockstep/conformance/go/statement"
	"lockstep/conformance/go/throughput"
	"lockstep/conformance/go/trust"
	"lockstep/conformance/go/withdrawal"
)

// Verifier holds what all certificates share.
type Verifier struct {
	Spec *specification.Specification

	kinds    map[string]statement.Kind
	derivers map[string]deriver
}

// deriver is stage 10 of a kind.
type deriver interface {
	Derive(stated *statement.Statement, evidence kind.Evidence, exhaustive bool) (*kind.Derived, *refusal.Refusal)
}

// New makes a verifier of a specification.
func New(spec *specification.Specification) (*Verifier, error) {
	registry, err := lemmas.Read(spec)
	if err != nil {
		return nil, err
	}
	hunts, err := hunt.NewKind(spec, registry)
	if err != nil {
		return nil, err
	}
	leans, err := lean.NewKind(spec, registry)
	if err != nil {
		return nil, err
	}
	smts, err := smt.NewKind(spec)
	if err != nil {
		return nil, err
	}
	fidelities, err := fidelity.NewKind(spec)
	if err != nil {
		return nil, err
	}
	replays, err := replay.NewKind(spec)
	if err != nil {
		return nil, err
	}
	invariances, err := invariance.NewKind(spec)
	if err != nil {
		return nil, err
	}
	mutations, err := mutation.NewKind(spec, registry)
	if err != nil {
		return nil, err
	}
	campaigns, err := campaign.NewKind(spec)
	if err != nil {
		return nil, err
	}
	findings, err := finding.NewKind(spec)
	if err != nil {
		return nil, err
	}
	samplings, err := sampling.NewKind(spec)
	if err != nil {
		return nil, err
	}
	certifications, err := certification.NewKind(spec)
	if err != nil {
		return nil, err
	}
	distances, err := distance.NewKind(spec)
	if err != nil {
		return nil, err
	}
	questions, err := experiments.NewKind(spec)
	if err != nil {
		return nil, err
	}
	detections, err := certification.NewDetection(spec, certifications)
	if err != nil {
		return nil, err
	}
	throughputs, err := throughput.NewKind(spec)
	if err != nil {
		return nil, err
	}
	withdrawals, err := withdrawal.NewKind(spec)
	if err != nil {
		return nil, err
	}
	measurements, err := measurement.NewKind(spec)
	if err != nil {
		return nil, err
	}
	observations, err := observation.NewKind(spec)
	if err != nil {
		return nil, err
	}
	return &Verifier{
		Spec: spec,
		kinds: map[string]statement.Kind{
			finding.PredicateType:    {Schema: findings.Schema, SpecDigest: findings.SpecDigest},
			hunt.PredicateType:       {Schema: hunts.Schema, SpecDigest: hunts.SpecDigest},
			lean.PredicateType:       {Schema: leans.Schema, SpecDigest: leans.SpecDigest},
			smt.PredicateType:        {Schema: smts.Schema, SpecDigest: smts.SpecDigest},
			campaign.PredicateType:   {Schema: campaigns.Schema, SpecDigest: campaigns.SpecDigest},
			fidelity.PredicateType:   {Schema: fidelities.Schema, SpecDigest: fidelities.SpecDigest},
			invariance.PredicateType: {Schema: invariances.Schema, SpecDigest: invariances.SpecDigest},
			mutation.PredicateType:   {Schema: mutations.Schema, SpecDigest: mutations.SpecDigest},
			replay.PredicateType:     {Schema: replays.Schema, SpecDigest: replays.SpecDigest},
			sampling.PredicateType:   {Schema: samplings.Schema, SpecDigest: samplings.SpecDigest},
			throughput.PredicateType: {Schema: throughputs.Schema, SpecDigest: throughputs.SpecDigest},
			withdrawal.PredicateType: {Schema: withdrawals.Schema, SpecDigest: withdrawals.SpecDigest},
			distance.PredicateType:   {Schema: distances.Schema, SpecDigest: distances.SpecDigest},
			observation.PredicateType: {
				Schema: observations.Schema, SpecDigest: observations.SpecDigest,
			},
			measurement.PredicateType: {
				Schema: measurements.Schema, SpecDigest: measurements.SpecDigest,
			},
			experiments.PredicateType: {Schema: questions.Schema, SpecDigest: questions.SpecDigest},
			certification.DetectionType: {
				Schema: detections.Schema, SpecDigest: detections.SpecDigest,
			},
			certification.PredicateType: {
				Schema: certifications.Schema, SpecDigest: certifications.SpecDigest,
			},
		},
		derivers: map[string]deriver{
			hunt.PredicateType: hunts, lean.PredicateType: leans, smt.PredicateType: smts,
			campaign.PredicateType: campaigns, finding.PredicateType: findings,
			fidelity.PredicateType: fidelities, invariance.PredicateType: invariances, mutation.PredicateType: mutations, replay.PredicateType: replays,
			sampling.PredicateType: samplings, certification.PredicateType: certifications,
			certification.DetectionType: detections, experiments.PredicateType: questions,
			distance.PredicateType: distances, throughput.PredicateType: throughputs,
			withdrawal.PredicateType: withdrawals, measurement.PredicateType: measurements,
			observation.PredicateType: observations,
		},
	}, nil
}

// Request says how a certificate is to be judged.
type Request struct {
	// Policy is nil where there is none ([SIG-5]).
	Policy *trust.Policy
	// Clock is a time of package moment.
	Clock int64
	// SubjectDigest is the sha256 of the user's subject file, or empty.
	SubjectDigest string
	// Evidence reads sidecars; nil where no folder was given.
	Evidence kind.Evidence
	// Withdrawals are those that were verified, in order ([WDR-3]).
	Withdrawals []withdrawal.Verified
	// Exhaustive asks for a walk over every position ([HUNT-17]).
	Exhaustive bool
}

// Result is what is found out about a certificate ([OUT-2]).
type Result struct {
	// Refusal is nil for a certificate that is verified.
	Refusal *refusal.Refusal
	// Rederivation is `OK` or a code under [SIG-5], and empty otherwise.
	Rederivation  string
	Verdict       string
	Counts        map[string]int64
	Ledger        *schema.Ledger
	Signers       []string
	Unknown       int64
	PayloadSha256 string
	// Withdrawal is the certificate as a withdrawal of others, nil for any that is none.
	Withdrawal *withdrawal.Verified
	// Told are lines for people on what withdraws claims of the certificate.
	Told []string
}

// Limits gives the sizes that hold under a policy, or without one.
func Limits(policy *trust.Policy) envelope.Limits {
	if policy == nil {
		return envelope.DefaultLimits
	}
	return policy.Limits
}

// Certificate judges the bytes of a certificate in all stages after the reading of its file.
func (v *Verifier) Certificate(data []byte, request Request) Result {
	result := Result{}
	stated, signers := v.admit(data, request, &result)
	if stated == nil || result.Refusal != nil {
		return result
	}
	result.Refusal = v.derive(stated, request, &result)
	if result.Refusal == nil {
		result.Refusal = request.Policy.CheckFloors(stated.PredicateType, result.Counts)
	}
	if result.Refusal != nil {
		return result
	}
	if stated.PredicateType == withdrawal.PredicateType {
		result.Withdrawal = &withdrawal.Verified{Predicate: stated.Predicate, Signers: signers}
	}
	result.Told, result.Refusal = withdrawal.Apply(request.Withdrawals, stated, result.PayloadSha256, request.Policy)
	return result
}

// Admit is stages 1 to 9.
func (v *Verifier) Admit(data []byte, request Request) Result {
	result := Result{}
	v.admit(data, request, &result)
	return result
}

// admit gives the statement where stage 6 was passed under a policy, with its known signers, and the
// first refusal in the result.
func (v *Verifier) admit(data []byte, request Request, result *Result) (*statement.Statement, []trust.Key) {
	signed, err := envelope.Read(data, Limits(request.Policy))
	if err != nil {
		result.Refusal = err
		return nil, nil
	}
	result.PayloadSha256 = specification.Sha256(signed.Payload)
	signers, err := trust.CheckSignatures(signed, request.Policy)
	result.Unknown = signers.Unknown
	for _, key := range signers.Known {
		result.Signers = append(result.Signers, key.ID)
	}
	if err != nil {
		result.Refusal = err
		if request.Policy == nil && err.Code == "UNTRUSTED_SIGNER" {
			result.Rederivation = v.rederive(signed.Payload, request, result)
		}
		return nil, nil
	}
	stated, err := statement.Read(signed.Payload, v.kinds)
	if err == nil {
		err = request.Policy.CheckRule(stated.PredicateType, signers.Known)
	}
	if err == nil {
		err = stated.CheckSubjects(v.kinds[stated.PredicateType].SpecDigest, request.SubjectDigest)
	}
	if err == nil {
		err = request.Policy.CheckTime(stated.PredicateType, signers.Known, stated.IssuedAt, request.Clock)
	}
	result.Refusal = err
	return stated, signers.Known
}

// Statement is stages 5, 6 and 8 over a payload.
func (v *Verifier) Statement(payload []byte, subjectDigest string) (*statement.Statement, *refusal.Refusal) {
	stated, err := statement.Read(payload, v.kinds)
	if err != nil {
		return nil, err
	}
	return stated, stated.CheckSubjects(v.kinds[stated.PredicateType].SpecDigest, subjectDigest)
}

// rederive is what [SIG-5] runs for information.
func (v *Verifier) rederive(payload []byte, request Request, result *Result) string {
	stated, err := v.Statement(payload, request.SubjectDigest)
	if err == nil {
		err = v.derive(stated, request, result)
	}
	if err != nil {
		return err.Code
	}
	return "OK"
}

// derive is stage 10.
func (v *Verifier) derive(stated *statement.Statement, request Request, result *Result) *refusal.Refusal {
	ledger := v.kinds[stated.PredicateType].Schema.Ledger(stated.Predicate)
	result.Ledger = &ledger
	derived, err := v.derivers[stated.PredicateType].Derive(stated, request.Evidence, request.Exhaustive)
	if err != nil {
		return err
	}
	result.Verdict, result.Counts = derived.Verdict, derived.Counts
	return nil
}
