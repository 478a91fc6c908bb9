package sampling

import (
	"cmp"
	"math/big"
	"slices"
	"strings"
)

// UpstreamVersion is that of the contract of profile upstream-1.0.0.
const UpstreamVersion = "1.0.0"

// upstreamGapLeast is the least d_i of that profile whose exponential is not 0 ([SAMP-43]).
const upstreamGapLeast = -2_302_000

// UpstreamParameters are those of that profile, as texts; nil is null.
type UpstreamParameters struct {
	ContractVersion, SeedDomain string
	Greedy                      bool
	Temperature                 string
	TopK                        *int64
	TopP, MinP                  *string
}

// upstreamChance is a token's index in string order, and its p_i.
type upstreamChance struct {
	index int
	p     real
}

// UpstreamWeights are the weights of that profile in string order ([SAMP-43]); false is an error. The
// support's pairs of token and number may be in any order.
func UpstreamWeights(support [][2]string, with UpstreamParameters) ([]Weight, bool) {
	support = slices.Clone(support)
	slices.SortFunc(support, func(a, b [2]string) int { return strings.Compare(a[0], b[0]) })
	for i := 1; i < len(support); i++ {
		if support[i][0] == support[i-1][0] {
			return nil, false
		}
	}
	chances, ok := upstreamSoftmax(support, with.Temperature)
	if !ok {
		return nil, false
	}
	if with.TopK != nil && *with.TopK < int64(len(chances)) {
		kept := *with.TopK
		if kept < 0 {
			kept = max(0, int64(len(chances))+kept)
		}
		chances = upstreamOrder(upstreamRanked(chances)[:kept])
	}
	if with.TopP != nil {
		if chances, ok = upstreamNucleus(upstreamRanked(chances), *with.TopP); !ok {
			return nil, false
		}
		chances = upstreamOrder(chances)
	}
	if with.MinP != nil {
		if chances, ok = upstreamAboveShare(chances, *with.MinP); !ok {
			return nil, false
		}
	}
	return upstreamQuantised(support, chances)
}

// upstreamSoftmax is the part of [SAMP-17].
func upstreamSoftmax(support [][2]string, temperature string) ([]upstreamChance, bool) {
	divisor, ok := parseReal(temperature)
	if !ok || len(support) == 0 {
		return nil, false
	}
	values := make([]real, len(support))
	for i, pair := range support {
		value, ok := parseReal(pair[1])
		if !ok {
			return nil, false
		}
		if values[i], ok = value.over(divisor); !ok {
			return nil, false
		}
	}
	largest := slices.MaxFunc(values, real.compare)
	sum := realOf(0)
	for i, value := range values {
		gap, ok := value.plus(largest.negated())
		if !ok {
			return nil, false
		}
		values[i] = upstreamExp(gap)
		sum, _ = sum.plus(values[i])
	}
	chances := make([]upstreamChance, len(values))
	for i, value := range values {
		p, ok := value.over(sum)
		if !ok {
			return nil, false
		}
		chances[i] = upstreamChance{i, p}
	}
	return chances, true
}

// upstreamExp is e_i for a d_i of at most 10 digits.
func upstreamExp(d real) real {
	if d.compare(realOf(upstreamGapLeast)) < 0 {
		return realOf(0)
	}
	return signed(exp(roundRatio(new(big.Int).Abs(d.c), big.NewInt(1), d.q)), 1)
}

func upstreamRanked(chances []upstreamChance) []upstreamChance {
	order := slices.Clone(chances)
	slices.SortFunc(order, func(a, b upstreamChance) int {
		return cmp.Or(b.p.compare(a.p), cmp.Compare(a.index, b.index))
	})
	return order
}

func upstreamOrder(chances []upstreamChance) []upstreamChance {
	slices.SortFunc(chances, func(a, b upstreamChance) int { return cmp.Compare(a.index, b.index) })
	return chances
}

func upstreamNucleus(ranking []upstreamChance, text string) ([]upstreamChance, bool) {
	share, ok := parseReal(text)
	if !ok {
		return nil, false
	}
	sum := realOf(0)
	for i, chance := range ranking {
		if sum, _ = sum.plus(chance.p); sum.compare(share) >= 0 {
			return ranking[:i+1], true
		}
	}
	return ranking, true
}

func upstreamAboveShare(chances []upstreamChance, text string) ([]upstreamChance, bool) {
	share, ok := parseReal(text)
	if !ok || len(chances) == 0 {
		return nil, false
	}
	largest := chances[0]
	for _, chance := range chances {
		if chance.p.compare(largest.p) > 0 {
			largest = chance
		}
	}
	least, ok := largest.p.times(share)
	if !ok {
		return nil, false
	}
	kept := slices.DeleteFunc(chances, func(c upstreamChance) bool { return c.p.compare(least) < 0 })
	if len(kept) == 0 {
		kept = []upstreamChance{largest}
	}
	return kept, true
}

// upstreamQuantised makes weights, the rest going to the largest.
func upstreamQuantised(support [][2]string, chances []upstreamChance) ([]Weight, bool) {
	sum := realOf(0)
	for _, chance := range chances {
		sum, _ = sum.plus(chance.p)
	}
	weights := make([]Weight, len(chances))
	rest, largest := int64(Total), 0
	for i, chance := range chances {
		share, ok := chance.p.over(sum)
		if !ok {
			return nil, false
		}
		scaled, _ := share.times(realOf(Total))
		weights[i] = Weight{support[chance.index][0], scaled.nearest()}
		rest -= weights[i].Weight
		if weights[i].Weight >= weights[largest].Weight {
			largest = i
		}
	}
	if len(weights) == 0 {
		return nil, false
	}
	weights[largest].Weight += rest
	return weights, true
}

// nearest rounds a finite number from 0 to 2^62 to an integer, a tie to the even one.
func (x real) nearest() int64 {
	if x.q >= 0 {
		return new(big.Int).Mul(x.c, power(x.q)).Int64()
	}
	if x.c.Sign() == 0 || x.leading() < 0 {
		return 0
	}
	unit := power(-x.q)
	quotient, rest := new(big.Int).QuoRem(x.c, unit, new(big.Int))
	whole := quotient.Int64()
	if half := rest.Lsh(rest, 1).Cmp(unit); half > 0 || half == 0 && whole&1 == 1 {
		whole++
	}
	return whole
}

// UpstreamPosition is the verdict on a position ([SAMP-45]); a nil support is null.
func UpstreamPosition(with UpstreamParameters, seed string, support [][2]string, token string) string {
	if with.ContractVersion != UpstreamVersion || with.SeedDomain != UpstreamDomain || with.Greedy ||
		!aboveZero(&with.Temperature) || support == nil {
		return "inconclusive"
	}
	weights, ok := UpstreamWeights(support, with)
	if !ok {
		return "inconclusive"
	}
	plain := make([]int64, len(weights))
	for i, weight := range weights {
		plain[i] = weight.Weight
	}
	drawn, ok := Draw(NewStream(seed, 0), plain)
	switch {
	case !ok:
		return "inconclusive"
	case weights[drawn].Token != token:
		return "fraud"
	}
	return "honest"
}

// aboveZero says whether a text is a number above 0.
func aboveZero(text *string) bool {
	if text == nil {
		return false
	}
	value, ok := parseReal(*text)
	return ok && value.c.Sign() > 0
}

// UpstreamOutcome is what that profile says of a sequence.
type UpstreamOutcome struct {
	Verdict string
	// Position is the index of the fraud, or -1.
	Position, Honest, Inconclusive int64
}

// UpstreamSequence is the verdict on a sequence ([SAMP-46]).
func UpstreamSequence(with UpstreamParameters, base string, positions []Position) UpstreamOutcome {
	outcome := UpstreamOutcome{Verdict: "inconclusive", Position: -1}
	bounded := with.TopK != nil && *with.TopK > 0 || aboveZero(with.MinP)
	if with.ContractVersion != UpstreamVersion || with.SeedDomain != UpstreamDomain || with.Greedy || !bounded {
		return outcome
	}
	for i, position := range positions {
		seed := UpstreamPositionSeed(base, i)
		switch UpstreamPosition(with, seed, position.Support, position.Token) {
		case "fraud":
			outcome.Verdict, outcome.Position = "fraud", int64(i)
			return outcome
		case "honest":
			outcome.Honest++
		default:
			outcome.Inconclusive++
		}
	}
	if outcome.Honest > 0 {
		outcome.Verdict = "honest"
	}
	return outcome
}
