package hunt

import (
	"lockstep/conformance/go/refusal"
	"lockstep/conformance/go/statement"
)

// Derive is the order of derivation of hunt.md.
func (k *Kind) Derive(stated *statement.Statement, evidence Evidence, exhaustive bool) (*Derived, *refusal.Refusal) {
	return nil, refusal.New("INTERNAL", "")
}
