// Package envelope reads DSSE envelopes (certificate.md, ENV-1 to ENV-7).
package envelope

import (
	"encoding/base64"

	"lockstep/conformance/go/document"
	"lockstep/conformance/go/ed25519x"
	"lockstep/conformance/go/lcj"
	"lockstep/conformance/go/refusal"
)

// PayloadType is the one type that [ENV-2] admits.
const PayloadType = "application/vnd.in-toto+json"

const maxSignatures = 16

// Signature is a signature of an envelope, decoded.
type Signature struct {
	KeyID string
	Bytes []byte
}

// Envelope is an envelope, decoded.
type Envelope struct {
	Payload    []byte
	Signatures []Signature
}

// Limits are the sizes of [BYTES-2], as the policy may have lowered them.
type Limits struct {
	EnvelopeBytes, PayloadBytes int64
}

// DefaultLimits are those without a policy.
var DefaultLimits = Limits{document.EnvelopeLimit, document.PayloadLimit}

// Read is stages 1 (its size) to 3 of [ORDER-1].
func Read(data []byte, limits Limits) (*Envelope, *refusal.Refusal) {
	if int64(len(data)) > limits.EnvelopeBytes {
		return nil, refusal.New("LIMIT_SIZE", "")
	}
	object, err := lcj.Document(data, "NONCANONICAL_ENVELOPE", lcj.EnvelopeMarks)
	if err != nil {
		return nil, err
	}
	if err := checkShape(object); err != nil {
		return nil, err
	}
	if object.Text("payloadType") != PayloadType {
		return nil, refusal.New("PAYLOAD_TYPE", "/payloadType")
	}
	entries := object.Objects("signatures")
	if err := checkKeyIDs(entries); err != nil {
		return nil, err
	}
	payload, ok := Base64(object.Text("payload"))
	if !ok {
		return nil, refusal.New("BASE64_NONCANONICAL", "/payload")
	}
	if int64(len(payload)) > limits.PayloadBytes {
		return nil, refusal.New("LIMIT_SIZE", "/payload")
	}
	result := &Envelope{Payload: payload}
	for i, entry := range entries {
		pointer := refusal.Index("/signatures", i) + "/sig"
		signature, ok := Base64(entry.Text("sig"))
		if !ok {
			return nil, refusal.New("BASE64_NONCANONICAL", pointer)
		}
		if len(signature) != ed25519x.SignatureSize {
			return nil, refusal.New("SIGNATURE_SHAPE", pointer)
		}
		result.Signatures = append(result.Signatures, Signature{entry.Text("keyid"), signature})
	}
	return result, nil
}

// Base64 decodes text by [ENV-5].
func Base64(text string) ([]byte, bool) {
	decoded, err := base64.StdEncoding.Strict().DecodeString(text)
	// The decoder passes over line ends, which the comparison finds.
	if err != nil || base64.StdEncoding.EncodeToString(decoded) != text {
		return nil, false
	}
	return decoded, true
}

// checkShape is [ENV-1].
func checkShape(object *lcj.Object) *refusal.Refusal {
	if !hasExactly(object, "payload", "payloadType", "signatures") {
		return refusal.New("ENVELOPE_SHAPE", "")
	}
	for _, name := range []string{"payload", "payloadType"} {
		if _, ok := object.Member(name).(string); !ok {
			return refusal.New("ENVELOPE_SHAPE", "/"+name)
		}
	}
	list, ok := object.Member("signatures").([]any)
	if !ok || len(list) < 1 || len(list) > maxSignatures {
		return refusal.New("ENVELOPE_SHAPE", "/signatures")
	}
	for i, element := range list {
		pointer := refusal.Index("/signatures", i)
		entry, ok := element.(*lcj.Object)
		if !ok || !hasExactly(entry, "keyid", "sig") {
			return refusal.New("ENVELOPE_SHAPE", pointer)
		}
		for _, name := range []string{"keyid", "sig"} {
			if _, ok := entry.Member(name).(string); !ok {
				return refusal.New("ENVELOPE_SHAPE", pointer+"/"+name)
			}
		}
	}
	return nil
}

// checkKeyIDs is [ENV-3], then [ENV-4].
func checkKeyIDs(entries []*lcj.Object) *refusal.Refusal {
	pointer := func(i int) string { return refusal.Index("/signatures", i) + "/keyid" }
	for i, entry := range entries {
		if !IsHex(entry.Text("keyid"), 64, 64) {
			return refusal.New("KEYID_SHAPE", pointer(i))
		}
	}
	for i := 1; i < len(entries); i++ {
		before, here := entries[i-1].Text("keyid"), entries[i].Text("keyid")
		if here == before {
			return refusal.New("DUPLICATE_SIGNATURE", pointer(i))
		}
		if here < before {
			return refusal.New("SIGNATURE_ORDER", pointer(i))
		}
	}
	return nil
}

// IsHex says whether s consists of least to most lower-case hexadecimal digits.
func IsHex(s string, least, most int) bool {
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return len(s) >= least && len(s) <= most
}

func hasExactly(object *lcj.Object, names ...string) bool {
	for _, name := range names {
		if _, ok := object.Get(name); !ok {
			return false
		}
	}
	return object.Len() == len(names)
}
