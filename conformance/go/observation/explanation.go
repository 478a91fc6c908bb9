package observation

import (
	"slices"

	"lockstep/conformance/go/layout"
	"lockstep/conformance/go/lcj"
)

// mostAxes is the number of axes up to which an explanation is looked for ([OBS-6]).
const mostAxes = 6

// explain gives the axes of each tensor in another order under which a layout matches all runs, or nil.
func explain(declared layout.Layout, runs []*run) any {
	axes := declared.Tensors[0].Axes
	for _, t := range declared.Tensors {
		grouped := slices.ContainsFunc(t.Axes, func(axis []string) bool { return len(axis) != 1 })
		if grouped || len(t.Axes) > mostAxes || !slices.EqualFunc(t.Axes, axes, slices.Equal) {
			return nil
		}
	}
	var found any
	permutations(len(axes), nil, func(places []int) bool {
		permuted, order, told := declared, [][]string{}, []any{}
		permuted.Tensors = slices.Clone(declared.Tensors)
		for _, place := range places {
			order = append(order, axes[place])
		}
		for i := range permuted.Tensors {
			permuted.Tensors[i].Axes = order
			told = append(told, lcj.Array(slices.Concat(order...)))
		}
		if slices.IsSorted(places) || !matchesAll(permuted, runs) {
			return false
		}
		found = told
		return true
	})
	return found
}

// matchesAll is asked of a well-formed declaration, as one stays in any order of axes ([LAY-8]).
func matchesAll(declared layout.Layout, runs []*run) bool {
	return !slices.ContainsFunc(runs, func(r *run) bool {
		found := r.compare(declared)
		return found == nil || found.wrong > 0 || found.stray > 0
	})
}

// permutations visits those of the places 0 to n - 1 in lexicographic order, until a visit says that it
// is enough.
func permutations(n int, begun []int, visit func([]int) bool) bool {
	if len(begun) == n {
		return visit(begun)
	}
	for place := range n {
		if !slices.Contains(begun, place) && permutations(n, append(slices.Clone(begun), place), visit) {
			return true
		}
	}
	return false
}
