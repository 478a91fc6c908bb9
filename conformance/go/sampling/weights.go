package sampling

import (
	"cmp"
	"slices"
	"strings"
)

// Total is what the weights of a position sum to ([SAMP-22]).
const Total = 65536

// mostWeights is the largest support ([SAMP-16]).
const mostWeights = 262_144

// Logprob is a token with the absolute value of its log-probability.
type Logprob struct {
	Token string
	Value Magnitude
}

// Weight is a token with its weight.
type Weight struct {
	Token  string
	Weight int64
}

// gapMost is the largest gap whose exponential is not 0 ([SAMP-17]).
var gapMost = Rounded{6_400_000_000, -8}

// chance is a token with e_i, then p_i of [SAMP-17].
type chance struct {
	index int
	e, p  Rounded
}

// ValidSupport puts a support into string order, and says whether it is one of [SAMP-16].
func ValidSupport(support []Logprob) bool {
	slices.SortFunc(support, func(a, b Logprob) int { return strings.Compare(a.Token, b.Token) })
	for i := range support {
		if !ValidToken(support[i].Token, 10_000_000_000) || i > 0 && support[i].Token == support[i-1].Token {
			return false
		}
	}
	return 1 <= len(support) && len(support) <= mostWeights
}

// Weights are those of a support in string order ([SAMP-17] to [SAMP-22]), in string order. The
// parameters must not be greedy.
func Weights(support []Logprob, with Parameters) []Weight {
	chances := softmax(support, with)
	if with.TopK > 0 && with.TopK < int64(len(chances)) {
		chances = inOrder(ranked(chances)[:with.TopK])
	}
	if with.TopP != nil {
		chances = inOrder(nucleus(ranked(chances), *with.TopP))
	}
	if with.MinP != nil {
		chances = aboveShare(chances, *with.MinP)
	}
	weights := make([]Weight, len(chances))
	for i, share := range apportion(chances) {
		weights[i] = Weight{support[chances[i].index].Token, share}
	}
	return weights
}

// exponentials gives the e_i of [SAMP-17].
func exponentials(support []Logprob, temperature Magnitude) []Rounded {
	scaled := make([]Rounded, len(support))
	least := Rounded{}
	for i := range support {
		scaled[i] = divide(support[i].Value, temperature)
		if i == 0 || scaled[i].compare(least) < 0 {
			least = scaled[i]
		}
	}
	for i, s := range scaled {
		scaled[i] = boundedExp(s.minus(least))
	}
	return scaled
}

// boundedExp is X(−gap), or 0 beyond the largest gap.
func boundedExp(gap Rounded) Rounded {
	if gap.compare(gapMost) > 0 {
		return Rounded{}
	}
	return exp(gap)
}

// softmax is [SAMP-17].
func softmax(support []Logprob, with Parameters) []chance {
	exponentials := exponentials(support, with.Temperature)
	sum := total(exponentials)
	chances := make([]chance, len(support))
	for i, e := range exponentials {
		chances[i] = chance{i, e, e.over(sum)}
	}
	return chances
}

// total is the sum of numbers from 0, rounded after each addition.
func total(values []Rounded) Rounded {
	sum := Rounded{}
	for _, value := range values {
		sum = sum.plus(value)
	}
	return sum
}

// ranked gives the ranking of [SAMP-18].
func ranked(chances []chance) []chance {
	order := slices.Clone(chances)
	slices.SortFunc(order, func(a, b chance) int {
		return cmp.Or(b.p.compare(a.p), cmp.Compare(a.index, b.index))
	})
	return order
}

// inOrder puts tokens back into string order, in place.
func inOrder(chances []chance) []chance {
	slices.SortFunc(chances, func(a, b chance) int { return cmp.Compare(a.index, b.index) })
	return chances
}

// nucleus is [SAMP-20] over the ranking.
func nucleus(ranking []chance, share Magnitude) []chance {
	sum := Rounded{}
	for i := range ranking {
		if sum = sum.plus(ranking[i].p); sum.against(share) >= 0 {
			return ranking[:i+1]
		}
	}
	return ranking
}

// aboveShare is [SAMP-21], in place.
func aboveShare(chances []chance, share Magnitude) []chance {
	largest := Rounded{}
	for i := range chances {
		if chances[i].p.compare(largest) > 0 {
			largest = chances[i].p
		}
	}
	least := largest.times(share)
	return slices.DeleteFunc(chances, func(c chance) bool { return c.p.compare(least) < 0 })
}
