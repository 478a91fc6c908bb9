package observation

import (
	"slices"

	"lockstep/conformance/go/layout"
)

// indexMap says where a tensor has its elements ([LAY-7], [LAY-19]).
type indexMap struct {
	tensor string
	// components are the places of the tensor's components in canonical order, K being 0.
	components []int64
	// first is the number of the tensor's first buffer; layered says that it has no other.
	first   int
	layered bool
	// slots are those of one of its buffers.
	slots   int64
	strides []stride
	// block, x, reserve and dims are what coordinates need.
	block, x, reserve, dims int64
}

type stride struct {
	token string
	step  int64
}

// indexMaps are those of a layout's tensors, in order.
func indexMaps(l layout.Layout, g layout.Geometry) []indexMap {
	var maps []indexMap
	buffers := 0
	for _, t := range l.Tensors {
		m := indexMap{
			tensor: t.Name, first: buffers, layered: t.Has("L"), slots: 1,
			block: l.Block, x: t.X, reserve: t.Reserve, dims: g.HeadDim,
		}
		for _, component := range t.Components {
			m.components = append(m.components, int64(slices.Index([]string{"K", "V"}, component.Name)))
		}
		for _, token := range slices.Backward(t.Opened()) {
			m.strides = append(m.strides, stride{token, m.slots})
			m.slots *= l.Extent(g, t, token)
		}
		if buffers++; !m.layered {
			buffers += int(g.Layers) - 1
		}
		maps = append(maps, m)
	}
	return maps
}

// place gives the buffer and the slot of an element of a layer by its canonical index.
func place(maps []indexMap, g layout.Geometry, layer, element int64) (int, int64) {
	d := element % g.HeadDim
	h := element / g.HeadDim % g.KVHeads
	t := element / g.HeadDim / g.KVHeads % g.Tokens
	kv := element / g.HeadDim / g.KVHeads / g.Tokens
	for _, m := range maps {
		component := slices.Index(m.components, kv)
		if component < 0 {
			continue
		}
		slot := int64(0)
		for _, s := range m.strides {
			slot += s.step * m.coordinate(s.token, layer, int64(component), t, h, d)
		}
		if m.layered {
			return m.first, slot
		}
		return m.first + int(layer), slot
	}
	panic("a layout of K and V has no tensor of one of them")
}

// coordinate is that of [LAY-7] for one rank.
func (m *indexMap) coordinate(token string, layer, component, t, h, d int64) int64 {
	switch token {
	case "L":
		return layer
	case "KV":
		return component
	case "C":
		return component*m.dims + d
	case "T":
		return m.reserve + t
	case "Tb":
		return m.reserve + t/m.block
	case "Ti":
		return t % m.block
	case "H":
		return h
	case "D":
		return d
	case "Dg":
		return d / m.x
	case "Dx":
		return d % m.x
	}
	return 0
}
