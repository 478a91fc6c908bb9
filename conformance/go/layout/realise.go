package layout

import "math"

// Realised is what follows from a realisable layout at a geometry (LAY-11 to LAY-18).
type Realised struct {
	// Shapes are the native shapes, in the order of the tensors.
	Shapes [][]int64
	// Positions is N ([LAY-13]).
	Positions, Padding, Replicas, NativeBytes int64
	// Identity is [LAY-16].
	Identity bool
	// Placements are the components' index maps, in canonical order.
	Placements []Placement
}

// Placement is a component's index map within a layer. Every position is the base plus what each
// logical coordinate contributes on its own.
type Placement struct {
	Component string
	// Tokens, Heads and Dims are the extents of the logical axes; Heads is 1 for latent parts.
	Tokens, Heads, Dims int64
	// Base is the position of element (0, 0, 0) in its first replica.
	Base    int64
	T, H, D Digit
	// Width is the number of slots of an element ([LAY-11]).
	Width int64
	// Replicas lie ReplicaStride slots apart.
	Replicas, ReplicaStride int64
}

// Digit gives the contribution of a coordinate v as Outer·⌊v/Divisor⌋ + Inner·(v mod Divisor).
type Digit struct {
	Outer, Divisor, Inner int64
}

// At gives the contribution of a coordinate.
func (d Digit) At(v int64) int64 {
	return d.Outer*(v/d.Divisor) + d.Inner*(v%d.Divisor)
}

// normal gives the one Digit that is equal as a function on 0 to extent - 1.
func (d Digit) normal(extent int64) Digit {
	if extent == 1 {
		return Digit{0, 1, 0}
	}
	if d.Divisor == 1 {
		return Digit{d.Outer, 1, 0}
	}
	if d.Divisor >= extent || d.Inner*d.Divisor == d.Outer {
		return Digit{d.Inner, 1, 0}
	}
	return d
}

// huge stands for every number from 2^62 on: products of extents are cut off there.
const huge = math.MaxInt64 / 2

func times(a, b int64) int64 {
	if a != 0 && b > huge/a {
		return huge
	}
	return a * b
}

func plus(a, b int64) int64 {
	return min(huge, a+b)
}

func roundUp(n, multiple int64) int64 {
	if multiple == 0 {
		return n
	}
	return (n + multiple - 1) / multiple * multiple
}

func greatestCommonDivisor(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// SlotBits is the width of a tensor's slot ([LAY-11]).
func (t Tensor) SlotBits() int64 {
	bits := int64(0)
	for _, component := range t.Components {
		bits = greatestCommonDivisor(bits, component.Bits)
	}
	return bits
}

// heads is the number of heads that rank axes share out ([LAY-10]).
func (l Layout) heads(g Geometry) int64 {
	if !l.IsKV() {
		return 1
	}
	return l.EffectiveHeads(g)
}

// Realisable is [LAY-10] for a well-formed layout.
func (l Layout) Realisable(g Geometry) bool {
	if l.IsKV() && l.EffectiveHeads(g) != g.KVHeads {
		return false
	}
	heads := l.heads(g)
	if l.RankAxis == "sharded" && heads%l.Ranks != 0 || l.RankAxis == "replicated" && l.Ranks%heads != 0 {
		return false
	}
	for _, tensor := range l.Tensors {
		first := g.DExtent(tensor.Components[0].Name)
		for _, component := range tensor.Components {
			extent := g.DExtent(component.Name)
			if extent == 0 || tensor.X > 0 && extent%tensor.X != 0 ||
				component.Name == "scale" && g.LatentDim%128 != 0 ||
				tensor.Has("KV") && extent != first {
				return false
			}
		}
	}
	return true
}

// Heads is the number of heads that rank axes share out ([LAY-10]).
func (l Layout) Heads(g Geometry) int64 {
	return l.heads(g)
}

// Replicas is [LAY-14]'s.
func (l Layout) Replicas(g Geometry) int64 {
	return l.replicas(g)
}

// Extent is the extent of a token of [LAY-7] in a realisable layout.
func (l Layout) Extent(g Geometry, t Tensor, token string) int64 {
	return l.extent(g, t, token)
}

// replicas is [LAY-14]'s.
func (l Layout) replicas(g Geometry) int64 {
	if l.RankAxis == "replicated" {
		return l.Ranks / l.heads(g)
	}
	return 1
}

// extent is the extent of a token of [LAY-7].
func (l Layout) extent(g Geometry, t Tensor, token string) int64 {
	dims := g.DExtent(t.Components[0].Name)
	switch token {
	case "L":
		return g.Layers
	case "KV":
		return int64(len(t.Components))
	case "C":
		sum := int64(0)
		for _, component := range t.Components {
			sum += g.DExtent(component.Name) * (component.Bits / t.SlotBits())
		}
		return sum
	case "T":
		return t.Reserve + roundUp(g.Tokens, t.PadTokens)
	case "Tb":
		return t.Reserve + (g.Tokens+l.Block-1)/l.Block
	case "Ti":
		return l.Block
	case "R":
		return l.Ranks
	case "H":
		switch l.RankAxis {
		case "sharded":
			return l.heads(g) / l.Ranks
		case "replicated":
			return 1
		}
		return l.heads(g)
	case "D":
		return roundUp(dims, t.PadHeadDim)
	case "Dg":
		return dims / t.X
	case "Dx":
		return t.X
	}
	return 1
}

// Realise derives a well-formed, realisable layout. Where its positions are too many for exact
// arithmetic, Positions is at least 2^62 and nothing else is of use.
func (l Layout) Realise(g Geometry) *Realised {
	r := &Realised{Replicas: l.replicas(g)}
	covered, canonical := int64(0), int64(0)
	byName := map[string]Placement{}
	for _, tensor := range l.Tensors {
		var shape []int64
		for _, axis := range tensor.Axes {
			extent := int64(1)
			for _, token := range axis {
				extent = times(extent, l.extent(g, tensor, token))
			}
			shape = append(shape, extent)
		}
		r.Shapes = append(r.Shapes, shape)
		strides, positions := l.strides(g, tensor)
		l.place(g, tensor, strides, r.Positions, byName)
		r.Positions = plus(r.Positions, positions)
		r.NativeBytes = plus(r.NativeBytes, plus(times(positions, tensor.SlotBits()), 7)/8)
	}
	for _, name := range componentOrder {
		placement, held := byName[name]
		if !held {
			continue
		}
		elements := placement.Elements()
		covered = plus(covered, times(times(elements, placement.Width), r.Replicas))
		r.Placements = append(r.Placements, placement)
	}
	r.Padding = r.Positions - covered
	r.Identity = r.Replicas == 1
	for _, placement := range r.Placements {
		r.Identity = r.Identity && placement.startsAt(canonical)
		canonical += placement.Elements()
	}
	return r
}

// Elements is the number of a component's elements in a layer.
func (p Placement) Elements() int64 {
	return p.Tokens * p.Heads * p.Dims
}

// startsAt says whether each element lies at start plus its row-major index.
func (p Placement) startsAt(start int64) bool {
	return p.Base == start &&
		p.T.normal(p.Tokens) == Digit{p.Heads * p.Dims, 1, 0}.normal(p.Tokens) &&
		p.H.normal(p.Heads) == Digit{p.Dims, 1, 0}.normal(p.Heads) &&
		p.D.normal(p.Dims) == Digit{1, 1, 0}.normal(p.Dims)
}

// strides gives the strides of a tensor's tokens but L in slots, and its positions in one layer.
func (l Layout) strides(g Geometry, t Tensor) (map[string]int64, int64) {
	strides := map[string]int64{}
	stride := int64(1)
	tokens := t.Opened()
	for i := len(tokens) - 1; i >= 0; i-- {
		if tokens[i] == "L" {
			continue
		}
		strides[tokens[i]] = stride
		stride = times(stride, l.extent(g, t, tokens[i]))
	}
	return strides, stride
}

// place derives the placements of a tensor's components. A stride of a token that does not stand
// in the tensor is 0 and contributes nothing.
func (l Layout) place(g Geometry, t Tensor, stride map[string]int64, origin int64, into map[string]Placement) {
	heads := l.heads(g)
	joined := int64(0)
	for i, component := range t.Components {
		p := Placement{
			Component: component.Name,
			Tokens:    g.Tokens, Heads: heads, Dims: g.DExtent(component.Name),
			Width: component.Bits / t.SlotBits(), Replicas: l.replicas(g), ReplicaStride: stride["R"],
			T: Digit{stride["T"], 1, 0}, H: Digit{stride["H"], 1, 0}, D: Digit{stride["D"], 1, 0},
			Base: origin + int64(i)*stride["KV"],
		}
		if l.Block > 0 {
			p.T = Digit{stride["Tb"], l.Block, stride["Ti"]}
		}
		p.Base += t.Reserve * p.T.Outer
		switch l.RankAxis {
		case "sharded":
			p.H = Digit{stride["R"], heads / l.Ranks, stride["H"]}
		case "replicated":
			p.H = Digit{stride["R"] * p.Replicas, 1, 0}
		}
		switch {
		case t.X > 0:
			p.D = Digit{stride["Dg"], t.X, stride["Dx"]}
		case t.Has("C"):
			p.D = Digit{stride["C"] * p.Width, 1, 0}
			p.Base += joined * stride["C"]
			joined += p.Dims * p.Width
		}
		into[component.Name] = p
	}
}
