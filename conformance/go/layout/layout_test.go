package layout

import (
	"strings"
	"testing"
)

var geometry = Geometry{Tokens: 10, Layers: 3, KVHeads: 4, HeadDim: 8, LatentDim: 256, RopeDim: 64, Bits: 16}

func tensor(axes string, components ...string) Tensor {
	t := Tensor{Name: components[0]}
	for _, name := range components {
		t.Components = append(t.Components, Component{name, 16})
	}
	for _, axis := range strings.Split(axes, ",") {
		t.Axes = append(t.Axes, strings.Fields(axis))
	}
	return t
}

func whole(tensors ...Tensor) Layout {
	return Layout{Ranks: 1, RankAxis: "none", Quantisation: "none", Tensors: tensors}
}

func TestEnumerationAgreesWithTheAlgebra(t *testing.T) {
	blocked := whole(tensor("L,KV,Tb,H,Dg,Ti,Dx", "K", "V"))
	blocked.Block = 4
	blocked.Tensors[0].X, blocked.Tensors[0].Reserve = 4, 1
	sharded := whole(tensor("R,KV,T,H,D", "K", "V"))
	sharded.Ranks, sharded.RankAxis = 2, "sharded"
	replicated := whole(tensor("T,R,H,D", "K"), tensor("T,R,H,D", "V"))
	replicated.Ranks, replicated.RankAxis = 8, "replicated"
	replicated.Tensors[1].PadHeadDim = 16
	joined := whole(tensor("T,C", "latent", "rope"))
	joined.Tensors[0].Components[1].Bits = 8
	joined.Quantisation = "int8"
	for name, l := range map[string]Layout{
		"blocked": blocked, "sharded": sharded, "replicated": replicated, "joined": joined,
	} {
		if err := l.CheckDeclaration(geometry, ""); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !l.Realisable(geometry) {
			t.Fatalf("%s is not realisable", name)
		}
		if _, err := l.Realise(geometry).Enumerate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestIdentity(t *testing.T) {
	if canonical := whole(tensor("KV,T,H,D", "K", "V")).Realise(geometry); !canonical.Identity {
		t.Error("the canonical layout is no identity")
	}
	if exchanged := whole(tensor("KV,H,T,D", "K", "V")).Realise(geometry); exchanged.Identity {
		t.Error("exchanged axes are an identity")
	}
}

func TestMalformedDeclarations(t *testing.T) {
	for _, axes := range []string{
		"KV,T,H", "KV,T,T,H,D", "KV,T,H,D,Dx", "T,H,D", "KV,Tb,H,D", "KV,T,D", "KV,T,H,D,R", "KV,T,H,D,Q",
	} {
		if err := whole(tensor(axes, "K", "V")).CheckDeclaration(geometry, ""); err == nil {
			t.Errorf("%s was admitted", axes)
		}
	}
}

func BenchmarkEnumerate(b *testing.B) {
	wide := Geometry{Tokens: 1 << 14, Layers: 1, KVHeads: 8, HeadDim: 128, Bits: 16}
	paged := whole(tensor("KV,Tb,H,Dg,Ti,Dx", "K", "V"))
	paged.Block = 16
	paged.Tensors[0].X = 8
	realised := paged.Realise(wide)
	b.ResetTimer()
	for range b.N {
		if _, err := realised.Enumerate(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(realised.Positions)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mpositions/s")
}
