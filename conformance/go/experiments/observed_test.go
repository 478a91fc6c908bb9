package experiments

import (
	"testing"

	"lockstep/conformance/go/lcj"
)

// What is off is null, and where nothing is drawn nothing can differ.
func TestParametersAreResolvedOnesThatDraw(t *testing.T) {
	for _, one := range []struct {
		temperature      string
		topK, topP, minP any
		ok               bool
	}{
		{"1", nil, nil, nil, true}, {"0.7", int64(1), "0.9", "0.1", true}, {"0", nil, nil, nil, false},
		{"1", int64(0), nil, nil, false}, {"1", int64(-1), nil, nil, false}, {"1", int64(-2), nil, nil, false},
		{"1", nil, "1", nil, false}, {"1", nil, nil, "0", false}, {"1", nil, nil, "2", false},
	} {
		stated := lcj.NewObject().Set("temperature", one.temperature).
			Set("top_k", one.topK).Set("top_p", one.topP).Set("min_p", one.minP)
		if resolved(stated) != one.ok {
			t.Errorf("%v", one)
		}
	}
}
