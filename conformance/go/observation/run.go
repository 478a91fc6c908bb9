package observation

import (
	"slices"

	"lockstep/conformance/go/layout"
	"lockstep/conformance/go/lcj"
	"lockstep/conformance/go/refusal"
)

// run is what was read of one element type ([OBS-2]).
type run struct {
	dtype    string
	bits     int64
	geometry layout.Geometry
	buffers  []buffer
}

// buffer has the number that each slot holds, or nothing.
type buffer struct {
	tensor string
	layer  any
	held   []int64
}

// readBuffers sees to the lengths of a run's buffers, and reads what they hold.
func (r *run) readBuffers(stated []*lcj.Object, pointer string) *refusal.Refusal {
	n, bound := newNumbers(r.dtype), numbersWritten(r.geometry)
	for i, o := range stated {
		low, whole := n.values(o.Text("low"))
		high, also := n.values(o.Text("high"))
		extents := int64(1)
		for _, extent := range o.Ints("extents") {
			// More than a buffer can have is too many, whatever comes after.
			extents = min(extents*extent, 1<<32)
		}
		if !whole || !also || len(low) != len(high) || int64(len(low)) != extents {
			return refusal.New(badValue, refusal.Index(pointer, i))
		}
		held := make([]int64, len(low))
		for slot := range low {
			held[slot] = n.held(low[slot], high[slot], bound)
		}
		r.buffers = append(r.buffers, buffer{o.Text("tensor"), o.Member("layer"), held})
	}
	return nil
}

// numbersWritten is layers · C ([OBS-1]).
func numbersWritten(g layout.Geometry) int64 {
	return g.Layers * 2 * g.Tokens * g.KVHeads * g.HeadDim
}

// compared is what a comparison gives ([OBS-4]).
type compared struct {
	wrong, stray int64
	// first is an object, or nil.
	first any
}

// compare gives nil where the declaration is not representable.
func (r *run) compare(declared layout.Layout) *compared {
	declared = withBits(declared, r.bits)
	if !declared.Realisable(r.geometry) || !declared.IsKV() || declared.Ranks != 1 || declared.Quantisation != "none" {
		return nil
	}
	maps := indexMaps(declared, r.geometry)
	if !r.fits(maps) {
		return nil
	}
	found, own := &compared{}, make([][]bool, len(r.buffers))
	for i := range r.buffers {
		own[i] = make([]bool, len(r.buffers[i].held))
	}
	realised, perLayer := declared.Realise(r.geometry), numbersWritten(r.geometry)/r.geometry.Layers
	for layer := range r.geometry.Layers {
		element := int64(0)
		realised.Walk(0, perLayer, func(_ *layout.Placement, position int64) {
			at, slot := place(maps, layer, position)
			own[at][slot] = true
			if held := r.buffers[at].held[slot]; held != layer*perLayer+element {
				if found.wrong++; found.first == nil {
					found.first = lcj.NewObject().Set("layer", layer).Set("element", element).
						Set("buffer", int64(at)).Set("slot", slot).Set("held", orNull(held))
				}
			}
			element++
		})
	}
	for i, buffer := range r.buffers {
		for slot, held := range buffer.held {
			if held != nothing && !own[i][slot] {
				found.stray++
			}
		}
	}
	return found
}

func orNull(held int64) any {
	if held == nothing {
		return nil
	}
	return held
}

// fits says whether the buffers are those of [OBS-3].
func (r *run) fits(maps []indexMap) bool {
	at := 0
	for _, m := range maps {
		layers := []any{nil}
		if !m.layered {
			layers = nil
			for layer := range r.geometry.Layers {
				layers = append(layers, layer)
			}
		}
		for _, layer := range layers {
			if at == len(r.buffers) {
				return false
			}
			one := r.buffers[at]
			if one.tensor != m.tensor || one.layer != layer || int64(len(one.held)) != m.slots() {
				return false
			}
			at++
		}
	}
	return at == len(r.buffers)
}

// withBits gives a declaration all of whose components have one width.
func withBits(declared layout.Layout, bits int64) layout.Layout {
	declared.Tensors = slices.Clone(declared.Tensors)
	for i := range declared.Tensors {
		components := slices.Clone(declared.Tensors[i].Components)
		for k := range components {
			components[k].Bits = bits
		}
		declared.Tensors[i].Components = components
	}
	return declared
}
