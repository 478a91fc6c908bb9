package smt

import (
	"slices"
	"strings"

	"lockstep/conformance/go/layout"
)

// axis is an axis of a case, in slots of all layers ([SMT-4]).
type axis struct {
	name           string
	extent, stride int64
}

// named is a geometry of smt.json ([SMT-2]).
type named struct {
	name, attention string
	layout.Geometry
}

// combination is a layout at a geometry in a mode ([SMT-2]).
type combination struct {
	layout   layout.Layout
	geometry named
	mode     string
}

// oneCase is one tensor of a combination ([SMT-4]).
type oneCase struct {
	combination
	tensor layout.Tensor
	axes   []axis
}

// reason says why a combination has no case, "" where it has ([SMT-3]).
func (c combination) reason() string {
	switch {
	case c.layout.Quantisation != "none":
		return "lossy"
	case c.layout.Attention != c.geometry.attention:
		return "other_attention"
	case !c.layout.Realisable(c.geometry.Geometry):
		return "not_realisable"
	}
	for _, tensor := range c.layout.Tensors {
		axes := withoutUnits(tensor)
		if c.mode == "any" && axes[0] != "T" && axes[0] != "Tb" {
			return "strides_hold_tokens"
		}
	}
	return ""
}

// cases gives the combination's cases ([SMT-4]).
func (c combination) cases() []oneCase {
	var found []oneCase
	for _, tensor := range c.layout.Tensors {
		names := withoutUnits(tensor)
		if c.mode == "fixed" && !slices.Contains(names, "L") {
			names = append([]string{"L"}, names...)
		}
		axes := make([]axis, len(names))
		stride := int64(1)
		for i := len(names) - 1; i >= 0; i-- {
			extent := c.layout.Extent(c.geometry.Geometry, tensor, names[i])
			axes[i] = axis{names[i], extent, stride}
			stride *= extent
		}
		found = append(found, oneCase{c, tensor, axes})
	}
	return found
}

// withoutUnits gives a tensor's axes, groups opened, without the unit axes.
func withoutUnits(t layout.Tensor) []string {
	return slices.DeleteFunc(slices.Clone(t.Opened()), func(token string) bool { return token == "1" })
}

// path gives the parts of the case's name.
func (c oneCase) path() []string {
	return []string{c.layout.Name, c.tensor.Name, c.geometry.name, c.mode}
}

// name is the case's name.
func (c oneCase) name() string {
	return strings.Join(c.path(), "/")
}

// at gives the case at another token count.
func (c oneCase) at(tokens int64) oneCase {
	moved := c.combination
	moved.geometry.Tokens = tokens
	number := slices.IndexFunc(c.layout.Tensors, func(t layout.Tensor) bool { return t.Name == c.tensor.Name })
	return moved.cases()[number]
}

// size is the tensor's size.
func (c oneCase) size() int64 {
	return c.axes[0].extent * c.axes[0].stride
}

// has says whether one of some axes is part of the case.
func (c oneCase) has(names ...string) bool {
	return slices.ContainsFunc(c.axes, func(a axis) bool { return slices.Contains(names, a.name) })
}

// dims gives the D extents of the tensor's components.
func (c oneCase) dims() []int64 {
	var dims []int64
	for _, component := range c.tensor.Components {
		dims = append(dims, c.geometry.DExtent(component.Name))
	}
	return dims
}

func (c oneCase) heads() int64  { return c.layout.Heads(c.geometry.Geometry) }
func (c oneCase) copies() int64 { return c.layout.Replicas(c.geometry.Geometry) }
func (c oneCase) share() int64  { return c.heads() / c.layout.Ranks }

// planted is a wrong stride of an axis ([SMT-10]).
type planted struct {
	axis   string
	stride int64
}

// plant gives the wrong stride of a kind's guard ([SMT-10]).
func (c oneCase) plant(kind string) planted {
	var wide []axis
	for _, a := range c.axes {
		reached := a.extent
		switch a.name {
		case "T":
			reached = c.geometry.Tokens
		case "Tb":
			reached = (c.geometry.Tokens + c.layout.Block - 1) / c.layout.Block
		case "D":
			reached = c.dims()[0]
		}
		if reached > 1 {
			wide = append(wide, a)
		}
	}
	if kind != "in-bounds" {
		return planted{wide[len(wide)-1].name, 0}
	}
	if c.mode == "fixed" {
		return planted{wide[0].name, c.size()}
	}
	return planted{wide[0].name, 2 * wide[0].stride}
}
