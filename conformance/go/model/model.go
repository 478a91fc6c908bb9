// Package model judges what a predicate says of its model (model.md).
package model

import (
	"slices"

	"lockstep/conformance/go/engine"
	"lockstep/conformance/go/environment"
	"lockstep/conformance/go/lcj"
	"lockstep/conformance/go/refusal"
)

const pointer = "/predicate/model"

// What is true of every tiny model ([MODEL-14]).
const (
	tinyVocabulary = 256
	tinyPositions  = 4096
)

// Check is [MODEL-16] for the dtype of the resolved environment.
func Check(model *lcj.Object, dtype string) *refusal.Refusal {
	if stated := model.Text("dtype"); stated != dtype {
		return refusal.Expecting("BAD_VALUE", pointer+"/dtype", dtype, stated)
	}
	recipe, has := model.Member("recipe").(*lcj.Object)
	if !has {
		return nil
	}
	stops, stopping := model.Get("stop_tokens")
	positions, bounded := model.Get("max_positions")
	for _, one := range []struct {
		name string
		fits bool
	}{
		{"recipe/head_dim", recipe.Int("head_dim")%2 == 0},
		{"stored_dtype", model.Text("stored_dtype") == recipe.Text("dtype")},
		{"vocab_size", model.Int("vocab_size") == tinyVocabulary},
		{"stop_tokens", !stopping || slices.Equal(stops.([]any), []any{int64(0)})},
		{"max_positions", !bounded || positions == int64(tinyPositions)},
	} {
		if !one.fits {
			return refusal.New("BAD_VALUE", pointer+"/"+one.name)
		}
	}
	return nil
}

// CheckStated judges the members environment, model and model_digest of a predicate ([TUPLE-6],
// [MODEL-16], [INV-1]).
func CheckStated(predicate *lcj.Object, environments *environment.Data) (environment.Effective, *refusal.Refusal) {
	effective, err := environments.Check(predicate.Object("environment"), "/predicate/environment")
	if err != nil {
		return effective, err
	}
	stored := predicate.Object("model")
	if err := Check(stored, effective.Dtype); err != nil {
		return effective, err
	}
	digest := engine.ModelDigest(stored.Text("sha256"), stored.Text("dtype")).Hex()
	if stated := predicate.Text("model_digest"); stated != digest {
		return effective, refusal.Expecting("BAD_VALUE", "/predicate/model_digest", digest, stated)
	}
	return effective, nil
}
