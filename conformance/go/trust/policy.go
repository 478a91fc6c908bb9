// Package trust reads trust policies and decides by them (certificate.md, TRUST-1 to TRUST-13,
// SIG-3, SIG-4, SIG-6 and TIME-2 to TIME-5).
package trust

import (
	"encoding/hex"

	"lockstep/conformance/go/document"
	"lockstep/conformance/go/ed25519x"
	"lockstep/conformance/go/envelope"
	"lockstep/conformance/go/lcj"
	"lockstep/conformance/go/moment"
	"lockstep/conformance/go/refusal"
	"lockstep/conformance/go/schema"
)

// Key is a key of a policy. Times are those of package moment.
type Key struct {
	Name, Owner, ID     string
	Public              []byte
	Roles               []string
	NotBefore, NotAfter int64
	// RevokedAt is nil for a key that is not revoked.
	RevokedAt *int64
}

// Rule says who may sign one predicate type.
type Rule struct {
	Roles     []string
	Threshold int64
	// MaxAgeDays is nil where age is no matter.
	MaxAgeDays *int64
}

// Floor is the least that a derived count may be.
type Floor struct {
	PredicateType, Count string
	Minimum              int64
}

// Policy is a policy that has passed stage 0.
type Policy struct {
	Version int64
	Keys    []Key
	Rules   map[string]Rule
	Floors  []Floor
	Limits  envelope.Limits
}

// Read is TRUST-3 to TRUST-8 over a policy's bytes. lastVersion is nil where none was seen.
func Read(data []byte, policySchema *schema.Schema, clock int64, lastVersion *int64) (*Policy, *refusal.Refusal) {
	if len(data) > document.PolicyLimit {
		return nil, invalid("", "LIMIT_SIZE")
	}
	object, err := lcj.Document(data, "NONCANONICAL_ENVELOPE", lcj.PayloadMarks)
	if err == nil {
		err = policySchema.Check(object, "")
	}
	if err != nil {
		return nil, invalid(err.Pointer, err.Code)
	}
	r := &policyReader{}
	policy := r.policy(object)
	expires := r.time(object.Text("expires"), "/expires")
	if r.fault == nil {
		r.fault = checkDistinct(object)
	}
	if r.fault != nil {
		return nil, r.fault
	}
	for i, key := range policy.Keys {
		if ed25519x.Weak(key.Public) {
			return nil, refusal.New("WEAK_KEY", refusal.Index("/keys", i)+"/public")
		}
	}
	if lastVersion != nil && policy.Version < *lastVersion {
		return nil, refusal.New("POLICY_ROLLBACK", "/version")
	}
	if clock > expires {
		return nil, refusal.New("POLICY_EXPIRED", "/expires")
	}
	return policy, nil
}

func invalid(pointer, got string) *refusal.Refusal {
	return refusal.Expecting("POLICY_INVALID", pointer, "a policy by TRUST-3 to TRUST-5", got)
}

// policyReader turns a value that matches the schema into a policy and keeps the first breach of
// [TRUST-4].
type policyReader struct {
	fault *refusal.Refusal
}

func (r *policyReader) policy(object *lcj.Object) *Policy {
	limits := object.Object("limits")
	policy := &Policy{
		Version: object.Int("version"),
		Rules:   map[string]Rule{},
		Limits: envelope.Limits{
			EnvelopeBytes: limits.Int("envelope_bytes"),
			PayloadBytes:  limits.Int("payload_bytes"),
		},
	}
	for i, entry := range object.Objects("keys") {
		policy.Keys = append(policy.Keys, r.key(entry, refusal.Index("/keys", i)))
	}
	for _, entry := range object.Objects("rules") {
		rule := Rule{Roles: entry.Texts("roles"), Threshold: entry.Int("threshold")}
		if days, ok := entry.Member("max_age_days").(int64); ok {
			rule.MaxAgeDays = &days
		}
		policy.Rules[entry.Text("predicateType")] = rule
	}
	for _, entry := range object.Objects("floors") {
		policy.Floors = append(policy.Floors, Floor{
			entry.Text("predicateType"), entry.Text("count"), entry.Int("minimum"),
		})
	}
	return policy
}

func (r *policyReader) key(entry *lcj.Object, pointer string) Key {
	public, err := hex.DecodeString(entry.Text("public"))
	if err != nil {
		panic("trust: the schema admitted a key that is no hex")
	}
	key := Key{
		Name: entry.Text("name"), Owner: entry.Text("owner"),
		Public: public, ID: ed25519x.KeyID(public), Roles: entry.Texts("roles"),
		NotBefore: r.time(entry.Text("not_before"), pointer+"/not_before"),
		NotAfter:  r.time(entry.Text("not_after"), pointer+"/not_after"),
	}
	if revoked, ok := entry.Member("revoked_at").(string); ok {
		at := r.time(revoked, pointer+"/revoked_at")
		key.RevokedAt = &at
	}
	if r.fault == nil && key.NotBefore > key.NotAfter {
		r.fault = invalid(pointer+"/not_before", "a time not after not_after")
	}
	return key
}

func (r *policyReader) time(s, pointer string) int64 {
	at, ok := moment.Parse(s)
	if !ok && r.fault == nil {
		r.fault = invalid(pointer, "no time")
	}
	return at
}

// checkDistinct is [TRUST-5].
func checkDistinct(object *lcj.Object) *refusal.Refusal {
	seen := map[string]bool{}
	again := func(kind, value string) bool {
		key := kind + "\x00" + value
		known := seen[key]
		seen[key] = true
		return known
	}
	for i, entry := range object.Objects("keys") {
		for _, name := range []string{"public", "name"} {
			if again(name, entry.Text(name)) {
				return invalid(refusal.Index("/keys", i), "a repeated "+name)
			}
		}
	}
	for i, entry := range object.Objects("rules") {
		if again("rule", entry.Text("predicateType")) {
			return invalid(refusal.Index("/rules", i), "a repeated rule")
		}
	}
	for i, entry := range object.Objects("floors") {
		if again("floor", entry.Text("predicateType")+"\x00"+entry.Text("count")) {
			return invalid(refusal.Index("/floors", i), "a repeated floor")
		}
	}
	return nil
}
