// Package layout derives shapes, positions and index maps from declared layouts (layout.md).
package layout

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"lockstep/conformance/go/lcj"
)

// Geometry is the geometry of [LAY-1].
type Geometry struct {
	Tokens, Layers, KVHeads, HeadDim, LatentDim, RopeDim int64
	// Bits is the width of the dtype.
	Bits int64
}

// Component is a part of a tensor ([LAY-2], [LAY-6]).
type Component struct {
	Name string
	Bits int64
}

// Tensor is a native tensor of a declaration ([LAY-6]).
type Tensor struct {
	Name       string
	Components []Component
	// Axes are as written; each holds the tokens of its group.
	Axes                              [][]string
	X, PadTokens, PadHeadDim, Reserve int64
}

// Layout is a declaration ([LAY-5]).
type Layout struct {
	Name, Attention          string
	KVHeads, Ranks, Block    int64
	RankAxis, Quantisation   string
	Tensors                  []Tensor
	SourcePath, SourceSha256 string
	HasCommit                bool
	declaration              *lcj.Object
}

// ReadGeometry reads a geometry that matches the schema. dtypes is `hunt.json#/dtypes`.
func ReadGeometry(object, dtypes *lcj.Object) Geometry {
	return Geometry{
		Tokens: object.Int("tokens"), Layers: object.Int("layers"),
		KVHeads: object.Int("kv_heads"), HeadDim: object.Int("head_dim"),
		LatentDim: object.Int("latent_dim"), RopeDim: object.Int("rope_dim"),
		Bits: dtypes.Int(object.Text("dtype")),
	}
}

// Read reads a declaration with its source and citation that matches the schema.
func Read(object *lcj.Object) Layout {
	layout := ReadDeclaration(object)
	source := object.Object("source")
	layout.SourcePath, layout.SourceSha256 = source.Text("path"), source.Text("sha256")
	layout.HasCommit = object.Object("citation").Member("commit") != nil
	return layout
}

// ReadDeclaration reads a declaration alone that matches the schema.
func ReadDeclaration(object *lcj.Object) Layout {
	layout := Layout{
		Name: object.Text("name"), Attention: object.Text("attention"),
		KVHeads: object.Int("kv_heads"), Ranks: object.Int("ranks"), Block: object.Int("block"),
		RankAxis: object.Text("rank_axis"), Quantisation: object.Text("quantisation"),
		declaration: object,
	}
	for _, entry := range object.Objects("tensors") {
		tensor := Tensor{
			Name: entry.Text("name"), X: entry.Int("x"), PadTokens: entry.Int("pad_tokens"),
			PadHeadDim: entry.Int("pad_head_dim"), Reserve: entry.Int("reserve"),
		}
		for _, component := range entry.Objects("components") {
			tensor.Components = append(tensor.Components,
				Component{component.Text("name"), component.Int("bits")})
		}
		for _, axis := range entry.Texts("axes") {
			tensor.Axes = append(tensor.Axes, strings.Fields(strings.Trim(axis, "()")))
		}
		layout.Tensors = append(layout.Tensors, tensor)
	}
	return layout
}

// declaring are the members that tell declarations apart: all but name, engine, citation, source
// and what is derived.
var declaring = []string{
	"attention", "block", "kv_heads", "quantisation", "rank_axis", "ranks", "tensors",
}

// DeclarationSha256 is the digest under which a declaration's lemma is registered ([HUNT-18]).
func (l Layout) DeclarationSha256() string {
	told := lcj.NewObject()
	for _, name := range declaring {
		told.Set(name, l.declaration.Member(name))
	}
	sum := sha256.Sum256(lcj.Encode(told))
	return hex.EncodeToString(sum[:])
}

// SameDeclaration says whether two declarations agree in all but name, engine, citation and
// source ([HUNT-13]).
func (l Layout) SameDeclaration(other Layout) bool {
	for _, name := range declaring {
		if !lcj.Equal(l.declaration.Member(name), other.declaration.Member(name)) {
			return false
		}
	}
	return true
}

// Opened gives a tensor's tokens with groups opened.
func (t Tensor) Opened() []string {
	var tokens []string
	for _, axis := range t.Axes {
		tokens = append(tokens, axis...)
	}
	return tokens
}

// Has says whether a token stands in a tensor.
func (t Tensor) Has(token string) bool {
	for _, found := range t.Opened() {
		if found == token {
			return true
		}
	}
	return false
}

// IsKV says whether the layout's components are K and V.
func (l Layout) IsKV() bool {
	return isKV(l.Tensors[0].Components[0].Name)
}

func isKV(component string) bool {
	return component == "K" || component == "V"
}

// Tensor gives the tensor that holds a component, or nil.
func (l Layout) Tensor(component string) *Tensor {
	for i, tensor := range l.Tensors {
		for _, held := range tensor.Components {
			if held.Name == component {
				return &l.Tensors[i]
			}
		}
	}
	return nil
}

// EffectiveHeads is [LAY-10]'s.
func (l Layout) EffectiveHeads(g Geometry) int64 {
	if l.KVHeads == 0 {
		return g.KVHeads
	}
	return l.KVHeads
}

// DExtent is the extent of a component's logical axis D ([LAY-2]).
func (g Geometry) DExtent(component string) int64 {
	switch component {
	case "latent":
		return g.LatentDim
	case "rope":
		return g.RopeDim
	case "scale":
		return g.LatentDim / 128
	}
	return g.HeadDim
}

// CanonicalElements is the larger C of the two kinds of cache that a geometry has ([LAY-4]).
func (g Geometry) CanonicalElements() int64 {
	perToken := max(2*g.KVHeads*g.HeadDim, g.LatentDim+g.LatentDim/128+g.RopeDim)
	return g.Tokens * perToken
}
