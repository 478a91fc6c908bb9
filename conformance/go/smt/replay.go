package smt

import "lockstep/conformance/go/lcj"

// element is component, layer, token, head, copy, dimension ([SMT-11]).
type element [6]int64

// breaks says whether a counterexample breaks the case with a planted stride ([SMT-11]).
func (c oneCase) breaks(kind string, wrong planted, stated *lcj.Object) bool {
	tokens, offset := stated.Int("tokens"), stated.Int("offset")
	if tokens > c.geometry.Tokens || c.mode == "fixed" && tokens != c.geometry.Tokens {
		return false
	}
	here := c.at(tokens)
	var elements []element
	for _, listed := range stated.List("elements") {
		var one element
		for i, value := range listed.([]any) {
			one[i] = value.(int64)
		}
		if !here.exists(one) {
			return false
		}
		elements = append(elements, one)
	}
	if len(elements) != map[bool]int{true: 2, false: 1}[kind == "injective"] {
		return false
	}
	place := here.place(elements[0], wrong)
	inside := offset < here.size()
	switch kind {
	case "in-bounds":
		return place == offset && !inside
	case "injective":
		return elements[0] != elements[1] && place == offset && here.place(elements[1], wrong) == offset
	case "round-trip":
		read, held := here.read(offset)
		return place == offset && !(held && read == elements[0])
	}
	if !inside {
		return false
	}
	read, held := here.read(offset)
	if held {
		return read == elements[0] && place != offset
	}
	return place == offset
}

// exists says whether an element's coordinates are in range.
func (c oneCase) exists(e element) bool {
	dims, layers, heads := c.dims(), int64(1), int64(1)
	if c.has("L") {
		layers = c.geometry.Layers
	}
	if c.has("H", "R") {
		heads = c.heads()
	}
	if e[0] < 0 || e[0] >= int64(len(dims)) {
		return false
	}
	for i, extent := range []int64{int64(len(dims)), layers, c.geometry.Tokens, heads, c.copies(), dims[e[0]]} {
		if e[i] < 0 || e[i] >= extent {
			return false
		}
	}
	return true
}

// place is an element's offset, one stride being planted ([LAY-7]).
func (c oneCase) place(e element, wrong planted) int64 {
	offset := int64(0)
	for _, a := range c.axes {
		stride := a.stride
		if a.name == wrong.axis {
			stride = wrong.stride
		}
		offset = plus(offset, times(stride, c.coordinateOf(e, a.name)))
	}
	return offset
}

// huge stands for every offset from 2^62 on, which no document can state.
const huge = 1 << 62

func times(a, b int64) int64 {
	if a != 0 && b > huge/a {
		return huge
	}
	return a * b
}

func plus(a, b int64) int64 {
	return min(huge, a+b)
}

// coordinateOf is an element's coordinate along an axis ([LAY-7]).
func (c oneCase) coordinateOf(e element, axis string) int64 {
	component, token, head, dim := e[0], e[2], e[3], e[5]
	switch axis {
	case "L":
		return e[1]
	case "KV":
		return component
	case "C":
		if component == 1 {
			dim += c.dims()[0]
		}
		return dim
	case "T":
		return c.tensor.Reserve + token
	case "Tb":
		return c.tensor.Reserve + token/c.layout.Block
	case "Ti":
		return token % c.layout.Block
	case "R":
		if c.layout.RankAxis == "sharded" {
			return head / c.share()
		}
		return head*c.copies() + e[4]
	case "H":
		switch c.layout.RankAxis {
		case "sharded":
			return head % c.share()
		case "replicated":
			return 0
		}
		return head
	case "Dg":
		return dim / c.tensor.X
	case "Dx":
		return dim % c.tensor.X
	}
	return dim
}

// read gives the element that an offset's digits name, and whether they name one ([SMT-8]).
func (c oneCase) read(offset int64) (element, bool) {
	if offset < 0 || offset >= c.size() {
		return element{}, false
	}
	digit := map[string]int64{}
	for _, a := range c.axes {
		digit[a.name] = offset / a.stride
		offset %= a.stride
	}
	e := element{digit["KV"], digit["L"], digit["T"] - c.tensor.Reserve, digit["H"], 0, digit["D"]}
	if first := c.dims()[0]; c.has("C") {
		e[5] = digit["C"]
		if e[5] >= first {
			e[0], e[5] = 1, e[5]-first
		}
	}
	if c.tensor.X > 0 {
		e[5] = digit["Dg"]*c.tensor.X + digit["Dx"]
	}
	if c.layout.Block > 0 {
		e[2] = (digit["Tb"]-c.tensor.Reserve)*c.layout.Block + digit["Ti"]
	}
	switch c.layout.RankAxis {
	case "sharded":
		e[3] += digit["R"] * c.share()
	case "replicated":
		e[3], e[4] = digit["R"]/c.copies(), digit["R"]%c.copies()
	}
	return e, c.exists(e)
}
