// Package kind holds what the kinds of certificates have in common.
package kind

import "lockstep/conformance/go/refusal"

// Evidence reads a sidecar of at most limit bytes by its name.
type Evidence func(name string, limit int64) ([]byte, *refusal.Refusal)

// Derived is what a derivation gives.
type Derived struct {
	Verdict string
	// Counts are those that a policy's floors may name.
	Counts map[string]int64
}
