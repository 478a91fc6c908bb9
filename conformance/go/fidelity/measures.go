package fidelity

import (
	"math/big"
	"slices"

	"lockstep/conformance/go/lcj"
)

// largest is the number that stands for all above it ([FID-3]).
const largest = 1<<53 - 1

// relativeUnit is that of a relative error and of a near tie's comparison ([FID-5]).
const relativeUnit = 1_000_000_000_000

// countNames are in the order of [FID-9].
var countNames = []string{
	"prompts", "prompts_past_split", "logit_rows", "logit_rows_past_split", "near_ties",
	"top_agreements", "bounds",
}

// measures are those of [FID-6], and the counts of [FID-9].
type measures struct {
	values map[string]*big.Int
	counts map[string]int64
}

func product(a, b int64) *big.Int {
	return new(big.Int).Mul(big.NewInt(a), big.NewInt(b))
}

// ceiling gives the quotient rounded up; a is at least 0 and b above 0.
func ceiling(a, b *big.Int) *big.Int {
	quotient, rest := new(big.Int).QuoRem(a, b, new(big.Int))
	if rest.Sign() > 0 {
		quotient.Add(quotient, big.NewInt(1))
	}
	return quotient
}

// Bounds of [FID-4], clause 7: the largest scale of a tiny model, untied and tied.
const (
	tinyScale     = 80_000_000_000_000
	tinyTiedScale = 320_000_000_000_000
)

// consistent is [FID-4].
func consistent(record, model *lcj.Object) bool {
	kl, lost, scale, margin := record.Int("kl"), record.Int("error"), record.Int("scale"), record.Int("margin")
	agree := record.Int("top") == record.Int("reference_top")
	switch {
	case scale < 1 || margin > 2*scale+1:
		return false
	case lost == 0 && (kl != 0 || !agree):
		return false
	case product(kl-1, 2_000_000).Cmp(product(lost, lost)) > 0:
		return false
	case !agree && 2*lost < margin:
		return false
	case !agree && kl != largest && !diverges(kl, margin, model.Int("vocab_size")):
		return false
	}
	recipe, tiny := model.Member("recipe").(*lcj.Object)
	if !tiny {
		return true
	}
	if recipe.Bool("tied") {
		return scale <= tinyTiedScale
	}
	return scale <= tinyScale
}

// diverges is clause 6 of [FID-4].
func diverges(kl, margin, vocabulary int64) bool {
	left := product(vocabulary, relativeUnit+margin)
	left.Mul(left, left).Mul(left, product(2, kl+1))
	right := product(margin, margin)
	right.Mul(right, big.NewInt(1_000_000_000_000_000_000))
	return left.Cmp(right) >= 0
}

// measure is [FID-6] over the records of all prompts.
func (k *Kind) measure(prompts []*lcj.Object, dtype string) measures {
	admitted := k.admitted(dtype)
	var relative []*big.Int
	kl, klMax := new(big.Int), int64(0)
	disagreements := int64(0)
	counts := map[string]int64{"prompts": int64(len(prompts)), "bounds": int64(len(k.bounds))}
	for _, stated := range prompts {
		if stated.Int("tokens") > k.split {
			counts["prompts_past_split"]++
		}
		for _, record := range stated.Objects("records") {
			counts["logit_rows"]++
			if record.Int("position") >= k.split {
				counts["logit_rows_past_split"]++
			}
			kl.Add(kl, big.NewInt(record.Int("kl")))
			klMax = max(klMax, record.Int("kl"))
			scale := big.NewInt(record.Int("scale"))
			relative = append(relative, ceiling(product(relativeUnit, record.Int("error")), scale))
			tie := product(record.Int("margin"), relativeUnit).Cmp(new(big.Int).Mul(product(2, record.Int("scale")), big.NewInt(admitted))) <= 0
			agree := record.Int("top") == record.Int("reference_top")
			switch {
			case tie:
				counts["near_ties"]++
			case !agree:
				disagreements++
			}
			if agree {
				counts["top_agreements"]++
			}
		}
	}
	n := counts["logit_rows"]
	slices.SortFunc(relative, func(a, b *big.Int) int { return a.Cmp(b) })
	return measures{map[string]*big.Int{
		"kl_max":            big.NewInt(klMax),
		"kl_mean":           ceiling(kl, big.NewInt(n)),
		"error_max":         relative[n-1],
		"error_median":      relative[(n+1)/2-1],
		"near_ties":         ceiling(big.NewInt(1000*counts["near_ties"]), big.NewInt(n)),
		"top_disagreements": big.NewInt(disagreements),
		"top_agreement":     big.NewInt(1000 * counts["top_agreements"] / n),
	}, counts}
}

// admitted is the bound error_max.
func (k *Kind) admitted(dtype string) int64 {
	for _, bound := range k.bounds {
		if bound.Text("name") == "error_max" {
			return bound.Int(dtype)
		}
	}
	panic("fidelity.json has no bound error_max")
}
