package campaign

import "lockstep/conformance/go/lcj"

// repeats are the first records of each case and of each trajectory, by digest ([FUZZ-16]).
type repeats struct {
	cases, trajectories map[string]*record
}

func newRepeats() repeats {
	return repeats{map[string]*record{}, map[string]*record{}}
}

// contradicts takes a record, and gives the first member in which it is not as one before it of the
// same case or the same trajectory, or nothing.
func (s repeats) contradicts(r *record) string {
	if r.outcome == failed || r.outcome == notRun {
		return ""
	}
	member := compare(s.cases, r.stated.Text("case_sha256"), r, []string{
		"outcome", "trajectory_sha256", "requests", "steps", "events", "cells", "n_grams", "predicates",
	})
	if member == "" && r.outcome == clean {
		member = compare(s.trajectories, r.stated.Text("trajectory_sha256"), r, []string{"requests", "steps"})
	}
	return member
}

// compare compares members with the first record of a digest, which a record is where there is none.
func compare(held map[string]*record, digest string, r *record, members []string) string {
	before, known := held[digest]
	if !known {
		held[digest] = r
		return ""
	}
	for _, name := range members {
		if !lcj.Equal(before.stated.Member(name), r.stated.Member(name)) {
			return name
		}
	}
	return ""
}
