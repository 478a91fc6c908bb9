package layout

import (
	"slices"
	"strconv"

	"lockstep/conformance/go/refusal"
)

// axisTokens are the tokens of [LAY-7].
var axisTokens = []string{"1", "L", "KV", "C", "T", "Tb", "Ti", "R", "H", "D", "Dg", "Dx"}

// componentOrder is that of [LAY-2].
var componentOrder = []string{"K", "V", "latent", "scale", "rope"}

// caches are the sets of components that a layout may have ([LAY-8]).
var caches = [][]string{{"K", "V"}, {"latent", "rope"}, {"latent", "scale", "rope"}}

// CheckDeclaration is [LAY-8], then [LAY-9]; pointer is the layout's.
func (l Layout) CheckDeclaration(g Geometry, pointer string) *refusal.Refusal {
	for i, tensor := range l.Tensors {
		if !l.tensorWellFormed(tensor) {
			at := refusal.Index(pointer+"/tensors", i)
			return refusal.New("BIJECTION_NOT_DERIVED", at)
		}
	}
	if !l.wholeWellFormed() {
		return refusal.New("BIJECTION_NOT_DERIVED", pointer)
	}
	if l.Quantisation != "none" {
		return nil
	}
	for i, tensor := range l.Tensors {
		for j, component := range tensor.Components {
			if component.Bits != g.Bits {
				at := refusal.Index(refusal.Index(pointer+"/tensors", i)+"/components", j) + "/bits"
				return refusal.Expecting("COVERAGE_DENOMINATOR_NOT_DERIVED", at,
					strconv.FormatInt(g.Bits, 10), strconv.FormatInt(component.Bits, 10))
			}
		}
	}
	return nil
}

// tensorWellFormed is the part of [LAY-8] that concerns one tensor.
func (l Layout) tensorWellFormed(t Tensor) bool {
	count := map[string]int{}
	for _, token := range t.Opened() {
		count[token]++
		if !slices.Contains(axisTokens, token) || token != "1" && count[token] > 1 {
			return false
		}
	}
	has := func(token string) bool { return count[token] > 0 }
	all, rising, oneWidth := true, true, true
	for i, component := range t.Components {
		all = all && isKV(component.Name)
		oneWidth = oneWidth && component.Bits == t.Components[0].Bits
		rising = rising && (i == 0 ||
			slices.Index(componentOrder, t.Components[i-1].Name) < slices.Index(componentOrder, component.Name))
	}
	blocked := l.Block > 0
	vectors := t.X > 0
	several := len(t.Components) > 1
	joined := has("C")
	return rising &&
		has("T") == !blocked && has("Tb") == blocked && has("Ti") == blocked &&
		has("Dg") == vectors && has("Dx") == vectors &&
		exactlyOne(has("D"), vectors, joined) &&
		has("H") == all &&
		has("R") == (l.Ranks > 1) &&
		has("KV") == (several && !joined) &&
		(several || !joined) &&
		(oneWidth || joined) &&
		(t.PadTokens == 0 || has("T")) &&
		(t.PadHeadDim == 0 || has("D"))
}

func exactlyOne(conditions ...bool) bool {
	n := 0
	for _, condition := range conditions {
		if condition {
			n++
		}
	}
	return n == 1
}

// wholeWellFormed is the part of [LAY-8] that concerns the layout.
func (l Layout) wholeWellFormed() bool {
	var names []string
	var firsts []int
	layered := 0
	distinct, tensorNames := true, map[string]bool{}
	for _, tensor := range l.Tensors {
		firsts = append(firsts, slices.Index(componentOrder, tensor.Components[0].Name))
		for _, component := range tensor.Components {
			names = append(names, component.Name)
		}
		if tensor.Has("L") {
			layered++
		}
		distinct = distinct && !tensorNames[tensor.Name]
		tensorNames[tensor.Name] = true
	}
	slices.SortFunc(names, func(a, b string) int {
		return slices.Index(componentOrder, a) - slices.Index(componentOrder, b)
	})
	known := slices.ContainsFunc(caches, func(cache []string) bool { return slices.Equal(cache, names) })
	return known && slices.IsSorted(firsts) && distinct &&
		(l.Quantisation != "none" || !slices.Contains(names, "scale")) &&
		(layered == 0 || layered == len(l.Tensors)) &&
		(l.RankAxis == "none") == (l.Ranks == 1)
}
