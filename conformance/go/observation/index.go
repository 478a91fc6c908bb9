package observation

import (
	"slices"

	"lockstep/conformance/go/layout"
)

// indexMap says where a tensor has the positions of a layer ([LAY-13], [LAY-19]).
type indexMap struct {
	tensor string
	// base is the tensor's first position in a layer, end the one behind its last.
	base, end int64
	// first is the number of the tensor's first buffer; layered says that it has no other.
	first   int
	layered bool
	// layers are those of one of its buffers, inner the slots that stand together there for each.
	layers, inner int64
}

// indexMaps are those of a layout's tensors, in order.
func indexMaps(l layout.Layout, g layout.Geometry) []indexMap {
	var maps []indexMap
	base, buffers := int64(0), 0
	for _, t := range l.Tensors {
		m := indexMap{tensor: t.Name, base: base, first: buffers, layered: t.Has("L"), layers: 1, inner: 1}
		size := int64(1)
		for _, token := range slices.Backward(t.Opened()) {
			if token == "L" {
				m.layers, m.inner = g.Layers, size
			} else {
				size *= l.Extent(g, t, token)
			}
		}
		m.end = base + size
		base = m.end
		if buffers++; !m.layered {
			buffers += int(g.Layers) - 1
		}
		maps = append(maps, m)
	}
	return maps
}

// slots are those of one of the tensor's buffers.
func (m *indexMap) slots() int64 {
	return (m.end - m.base) * m.layers
}

// place gives the buffer and the slot of a position of a layer.
func place(maps []indexMap, layer, position int64) (int, int64) {
	m := maps[slices.IndexFunc(maps, func(m indexMap) bool { return position < m.end })]
	slot := position - m.base
	if !m.layered {
		return m.first + int(layer), slot
	}
	return m.first, (slot/m.inner*m.layers+layer)*m.inner + slot%m.inner
}
