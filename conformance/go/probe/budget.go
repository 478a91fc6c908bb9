package probe

import (
	"lockstep/conformance/go/kind"
	"lockstep/conformance/go/lcj"
	"lockstep/conformance/go/refusal"
)

// checkBudgets is the end of step 4 ([PROBE-17]).
func (r *Run) checkBudgets(stated []*lcj.Object, pointer string) *refusal.Refusal {
	if !InOrder(stated, r.Arms) {
		return refusal.New(underived, pointer)
	}
	for i, arm := range r.Arms {
		overhead, least, greatest := r.budget(arm)
		err := kind.DemandAll(stated[i], refusal.Index(pointer, i), []kind.Member{
			{Name: "overhead", Code: notRate, Value: overhead},
			{Name: "least", Code: notRate, Value: least},
			{Name: "greatest", Code: notRate, Value: greatest},
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Budget is that of an arm where one alone fits, else nil.
func (r *Run) Budget(arm *Arm) any {
	if _, least, greatest := r.budget(arm); least == greatest {
		return least
	}
	return nil
}

// budget gives integers, or nil for what is not known.
func (r *Run) budget(arm *Arm) (overhead, least, greatest any) {
	type known struct{ tokens, steps int64 }
	var all []known
	for _, s := range r.prefills(arm) {
		tokens, told := s.PromptTokens()
		steps, counted := s.rise(r.data, "steps")
		if !told || !counted {
			continue
		}
		all = append(all, known{tokens, steps})
		if before, found := overhead.(int64); tokens == 1 && (!found || steps-1 < before) {
			overhead = steps - 1
		}
	}
	besides, found := overhead.(int64)
	if !found {
		return nil, nil, nil
	}
	for _, one := range all {
		chunks := one.steps - besides
		if chunks < 1 {
			continue
		}
		if up := (one.tokens + chunks - 1) / chunks; least == nil || up > least.(int64) {
			least = up
		}
		if chunks < 2 {
			continue
		}
		if down := floor(one.tokens-1, chunks-1); greatest == nil || down < greatest.(int64) {
			greatest = down
		}
	}
	return overhead, least, greatest
}

// floor is ⌊a ÷ b⌋ for b above 0.
func floor(a, b int64) int64 {
	if a < 0 {
		return -((b - 1 - a) / b)
	}
	return a / b
}
