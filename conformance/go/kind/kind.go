// Package kind holds what the kinds of certificates have in common.
package kind

import (
	"slices"

	"lockstep/conformance/go/lcj"
	"lockstep/conformance/go/refusal"
)

// Evidence reads a sidecar of at most limit bytes by its name.
type Evidence func(name string, limit int64) ([]byte, *refusal.Refusal)

// Derived is what a derivation gives.
type Derived struct {
	Verdict string
	// Counts are those that a policy's floors may name.
	Counts map[string]int64
}

// CheckNotRun sees that a predicate's `not_run` begins with what its kind never covers.
func CheckNotRun(predicate *lcj.Object, beginning []string) *refusal.Refusal {
	stated := predicate.Texts("not_run")
	if len(stated) < len(beginning) || !slices.Equal(stated[:len(beginning)], beginning) {
		return refusal.New("BAD_VALUE", "/predicate/not_run")
	}
	return nil
}

// CheckCounts sees that the counts of a predicate are those that follow, in the order of their names.
func CheckCounts(predicate *lcj.Object, names []string, counts map[string]int64) *refusal.Refusal {
	stated := predicate.Object("counts")
	for _, name := range names {
		err := Demand(stated, "/predicate/counts", name, "H10_COUNTS_DO_NOT_RECOMPUTE", counts[name])
		if err != nil {
			return err
		}
	}
	return nil
}

// Bit is 1 for true: what a condition adds to a count, or is in a ledger.
func Bit(condition bool) int64 {
	if condition {
		return 1
	}
	return 0
}

// Member is a member that follows, and the code where another is stated.
type Member struct {
	Name, Code string
	Value      any
}

// DemandAll compares members of an object, in order.
func DemandAll(stated *lcj.Object, pointer string, members []Member) *refusal.Refusal {
	for _, member := range members {
		if err := Demand(stated, pointer, member.Name, member.Code, member.Value); err != nil {
			return err
		}
	}
	return nil
}

// Demand compares one member of an object with what follows.
func Demand(stated *lcj.Object, pointer, name, code string, value any) *refusal.Refusal {
	if got := stated.Member(name); !lcj.Equal(got, value) {
		return refusal.Expecting(code, pointer+"/"+name, string(lcj.Encode(value)), string(lcj.Encode(got)))
	}
	return nil
}
