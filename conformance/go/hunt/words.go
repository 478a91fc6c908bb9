package hunt

import (
	"slices"
	"sort"

	"lockstep/conformance/go/layout"
)

// frontier is [HUNT-2]: a code, or "" for null.
func frontier(a, b *declared, g layout.Geometry) string {
	switch {
	case a.Attention != b.Attention:
		return "X1_LATENT_KV"
	case a.EffectiveHeads(g) != b.EffectiveHeads(g):
		return "X2_HEAD_GATHER"
	case a.realised == nil || b.realised == nil || a.IsKV() != b.IsKV():
		return "X4_GEOMETRY_UNREPRESENTABLE"
	}
	return ""
}

// words is [HUNT-4]: the sorted words that fire for a pair.
func words(src, dst *declared, g layout.Geometry) []string {
	fired := map[string]bool{}
	fire := func(word string, condition bool) {
		if condition {
			fired[word] = true
		}
	}
	fire("reblock", src.Block != dst.Block)
	fire("requantize", src.Quantisation != dst.Quantisation)
	fire("rank_reshard", src.Ranks != dst.Ranks || src.RankAxis != dst.RankAxis)
	var shared []string
	for _, name := range []string{"K", "V", "latent", "scale", "rope"} {
		if src.Tensor(name) != nil && dst.Tensor(name) != nil {
			shared = append(shared, name)
		}
	}
	for i, a := range shared {
		for _, b := range shared[:i] {
			together, apart := src.Tensor(a) == src.Tensor(b), dst.Tensor(a) == dst.Tensor(b)
			fire("kv_split", together && !apart)
			fire("kv_merge", !together && apart)
		}
	}
	for _, name := range shared {
		componentWords(side{src, src.Tensor(name), name}, side{dst, dst.Tensor(name), name}, g, fire)
	}
	sorted := []string{}
	for word := range fired {
		sorted = append(sorted, word)
	}
	sort.Strings(sorted)
	return sorted
}

// side is a component X on one side of a pair.
type side struct {
	layout    *declared
	tensor    *layout.Tensor
	component string
}

// componentWords fires the words that speak of some X.
func componentWords(src, dst side, g layout.Geometry, fire func(string, bool)) {
	differ := src.tensor.X != dst.tensor.X
	fire("head_dim_vectorize", differ && dst.tensor.X > 0)
	fire("head_dim_devectorize", differ && src.tensor.X > 0)
	fire("requantize", src.bits() != dst.bits())
	heads := !slices.Equal(src.coarse("T", "H"), dst.coarse("T", "H"))
	dims := src.component == "V" && !slices.Equal(src.coarse("T", "D"), dst.coarse("T", "D"))
	fire("head_order_transpose", heads)
	fire("v_dim_transpose", dims)
	oneShared := (len(src.tensor.Components) > 1) != (len(dst.tensor.Components) > 1)
	oneRanked := (src.layout.Ranks > 1) != (dst.layout.Ranks > 1)
	fire("axis_permute", !heads && !dims &&
		!slices.Equal(src.fine(oneShared, oneRanked), dst.fine(oneShared, oneRanked)))
	fire("layer_axis", !slices.Equal(src.beforeLayer(), dst.beforeLayer()))
	fire("reserve", src.reserve() != dst.reserve())
	if src.layout.realised != nil && dst.layout.realised != nil {
		fire("pitch", src.tokenPitch(g) != dst.tokenPitch(g) || src.dimPitch(g) != dst.dimPitch(g))
	}
}

func (s side) bits() int64 {
	for _, component := range s.tensor.Components {
		if component.Name == s.component {
			return component.Bits
		}
	}
	return 0
}

// axes is A(X), save that L is kept.
func (s side) axes() []string {
	var axes []string
	for _, token := range s.tensor.Opened() {
		switch {
		case token == "1":
		case token == "C" && s.layout.IsKV():
			axes = append(axes, "KV", "D")
		case token == "C":
			axes = append(axes, "D")
		default:
			axes = append(axes, token)
		}
	}
	return axes
}

// coarse gives those of the coarse axes that are asked for, in their order.
func (s side) coarse(wanted ...string) []string {
	var out []string
	for _, token := range s.axes() {
		if token = coarseToken(token); slices.Contains(wanted, token) {
			out = append(out, token)
		}
	}
	return out
}

func coarseToken(token string) string {
	switch token {
	case "Tb":
		return "T"
	case "Dg":
		return "D"
	}
	return token
}

// fine gives the fine axes.
func (s side) fine(withoutKV, withoutRanks bool) []string {
	axes := slices.DeleteFunc(s.axes(), func(token string) bool { return token == "L" })
	var out []string
	for i := 0; i < len(axes); i++ {
		token := axes[i]
		if i+1 < len(axes) && (token == "Tb" && axes[i+1] == "Ti" || token == "Dg" && axes[i+1] == "Dx") {
			token = token[:1]
			i++
		}
		if withoutKV && token == "KV" || withoutRanks && token == "R" {
			continue
		}
		out = append(out, token)
	}
	return out
}

// beforeLayer gives the set of coarse axes and KV that stand before L.
func (s side) beforeLayer() []string {
	set := []string{}
	axes := s.axes()
	end := slices.Index(axes, "L")
	for i := 0; i < end; i++ {
		token := coarseToken(axes[i])
		if slices.Contains([]string{"T", "H", "D", "KV"}, token) {
			set = append(set, token)
		}
	}
	sort.Strings(set)
	return set
}

// reserve is the reserve in slots of tokens.
func (s side) reserve() int64 {
	if s.layout.Block > 0 {
		return s.tensor.Reserve * s.layout.Block
	}
	return s.tensor.Reserve
}

// tokenPitch is the extent to which T is padded.
func (s side) tokenPitch(g layout.Geometry) int64 {
	return padded(g.Tokens, s.tensor.PadTokens)
}

// dimPitch is the extent to which D is padded.
func (s side) dimPitch(g layout.Geometry) int64 {
	return padded(g.DExtent(s.component), s.tensor.PadHeadDim)
}

func padded(n, multiple int64) int64 {
	if multiple == 0 {
		return n
	}
	return (n + multiple - 1) / multiple * multiple
}
