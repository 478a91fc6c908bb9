package trust

import (
	"slices"

	"lockstep/conformance/go/ed25519x"
	"lockstep/conformance/go/envelope"
	"lockstep/conformance/go/moment"
	"lockstep/conformance/go/refusal"
)

// Signers is what stage 4 finds.
type Signers struct {
	// Known are the keys of the verified signatures, in the order of the signatures ([SIG-6]).
	Known []Key
	// Unknown is the number of signatures that were skipped.
	Unknown int64
}

// CheckSignatures is stage 4 (SIG-1 to SIG-5). policy is nil where there is none; then all
// signatures are unknown and the refusal is UNTRUSTED_SIGNER.
func CheckSignatures(signed *envelope.Envelope, policy *Policy) (Signers, *refusal.Refusal) {
	var signers Signers
	var keys []Key
	if policy != nil {
		keys = policy.Keys
	}
	message := ed25519x.PreAuthentication(envelope.PayloadType, signed.Payload)
	for i, signature := range signed.Signatures {
		pointer := refusal.Index("/signatures", i)
		if code := ed25519x.CheckForm(signature.Bytes); code != "" {
			return signers, refusal.New(code, pointer+"/sig")
		}
		named := slices.IndexFunc(keys, func(key Key) bool { return key.ID == signature.KeyID })
		if named < 0 {
			signers.Unknown++
			continue
		}
		if !ed25519x.Verify(keys[named].Public, message, signature.Bytes) {
			for _, other := range keys {
				if ed25519x.Verify(other.Public, message, signature.Bytes) {
					return signers, refusal.New("KEYID_MISMATCH", pointer+"/keyid")
				}
			}
			return signers, refusal.New("SIGNATURE_INVALID", pointer+"/sig")
		}
		signers.Known = append(signers.Known, keys[named])
	}
	if len(signers.Known) == 0 {
		return signers, refusal.New("UNTRUSTED_SIGNER", "/signatures")
	}
	return signers, nil
}

// CheckRule is stage 7 (TRUST-10 to TRUST-12).
func (p *Policy) CheckRule(predicateType string, signers []Key) *refusal.Refusal {
	rule, ok := p.Rules[predicateType]
	if !ok {
		return refusal.New("PREDICATE_NOT_ALLOWED", "/predicateType")
	}
	owners := map[string]bool{}
	for _, key := range signers {
		allowed := func(role string) bool { return slices.Contains(rule.Roles, role) }
		if !slices.ContainsFunc(key.Roles, allowed) {
			return refusal.New("ROLE_NOT_ALLOWED", "")
		}
		owners[key.Owner] = true
	}
	if int64(len(owners)) < rule.Threshold {
		return refusal.New("THRESHOLD_NOT_MET", "")
	}
	return nil
}

// CheckTime is stage 9 (TIME-3 to TIME-5).
func (p *Policy) CheckTime(predicateType string, signers []Key, issuedAt, clock int64) *refusal.Refusal {
	for _, key := range signers {
		if key.RevokedAt != nil && *key.RevokedAt <= clock {
			return refusal.New("TIME_UNPROVEN", "")
		}
		if clock < key.NotBefore || clock > key.NotAfter {
			return refusal.New("KEY_NOT_VALID_NOW", "")
		}
	}
	if issuedAt > clock {
		return refusal.New("ISSUED_IN_FUTURE", "/predicate/issued_at")
	}
	days := p.Rules[predicateType].MaxAgeDays
	if days != nil && clock > issuedAt+*days*moment.Day {
		return refusal.New("CERTIFICATE_TOO_OLD", "/predicate/issued_at")
	}
	return nil
}

// CheckFloors is stage 11 ([TRUST-13]).
func (p *Policy) CheckFloors(predicateType string, counts map[string]int64) *refusal.Refusal {
	for _, floor := range p.Floors {
		if floor.PredicateType != predicateType {
			continue
		}
		if count, ok := counts[floor.Count]; !ok || count < floor.Minimum {
			return refusal.New("FLOOR_NOT_MET", "")
		}
	}
	return nil
}
