package sampling

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"
)

// The pipeline of this file rounds every number in integers of any size, and is what weights in words
// are compared with: for their values, and for the time that they take.

// exactExponentials is exponentials.
func exactExponentials(support []Logprob, temperature Magnitude) []Rounded {
	scaled := make([]Rounded, len(support))
	for i := range support {
		if !support[i].Value.zero() {
			scaled[i] = exactDivide(support[i].Value, temperature)
		}
	}
	least := slices.MinFunc(scaled, exactOrder)
	for i, s := range scaled {
		scaled[i] = Rounded{}
		if gap := exactSubtract(s, least); exactOrder(gap, gapMost) <= 0 {
			scaled[i] = exactExp(gap)
		}
	}
	return scaled
}

// exactOrder is compare.
func exactOrder(a, b Rounded) int {
	x, y, _ := align(a.wide(), a.q, b.wide(), b.q)
	return x.Cmp(y)
}

// exactWeights is Weights.
func exactWeights(support []Logprob, with Parameters) []Weight {
	powers := exactExponentials(support, with.Temperature)
	sum := Rounded{}
	for _, e := range powers {
		sum = exactAdd(sum, e)
	}
	chances := make([]chance, len(support))
	for i, e := range powers {
		chances[i] = chance{index: i, e: e, p: roundRatio(e.wide(), sum.wide(), e.q-sum.q)}
	}
	ranking := slices.Clone(chances)
	slices.SortFunc(ranking, func(a, b chance) int {
		return cmp.Or(exactOrder(b.p, a.p), cmp.Compare(a.index, b.index))
	})
	if with.TopK > 0 && with.TopK < int64(len(ranking)) {
		ranking = ranking[:with.TopK]
	}
	if with.TopP != nil {
		passed := Rounded{}
		for i := range ranking {
			if passed = exactAdd(passed, ranking[i].p); exactCompare(passed, *with.TopP) >= 0 {
				ranking = ranking[:i+1]
				break
			}
		}
	}
	if with.MinP != nil {
		least := exactMultiply(ranking[0].p, *with.MinP)
		ranking = slices.DeleteFunc(ranking, func(c chance) bool { return exactOrder(c.p, least) < 0 })
	}
	kept := inOrder(ranking)
	weights := make([]Weight, len(kept))
	for i, share := range exactApportion(kept) {
		weights[i] = Weight{support[kept[i].index].Token, share}
	}
	return weights
}

func TestWeightsInWordsAreExact(t *testing.T) {
	from := draws(t)
	shares := []*Magnitude{nil, {small: 95, q: -2}, {small: 5, q: -1}, {small: 1, q: -16}}
	for range 2_000 {
		support := make([]Logprob, 1+from.Below(12))
		for i := range support {
			value := Magnitude{small: from.Below(powers[1+from.Below(14)]), q: -12}
			if i > 0 && from.Below(4) == 0 {
				value = support[i-1].Value
			}
			support[i] = Logprob{fmt.Sprint(i), value}
		}
		if !ValidSupport(support) {
			t.Fatal("no support")
		}
		with := Parameters{
			Temperature: Magnitude{small: 1 + from.Below(20), q: -1},
			TopK:        int64(from.Below(4)),
			TopP:        shares[from.Below(4)],
			MinP:        shares[from.Below(4)],
		}
		if found, want := Weights(support, with), exactWeights(support, with); fmt.Sprint(found) != fmt.Sprint(want) {
			t.Fatalf("%v and not %v, of %v", found, want, support)
		}
	}
}

// replayFloors are how many times as fast as integers words must be, by tokens of a position.
var replayFloors = map[int]float64{5: 5, 64: 20, 256: 20}

// BenchmarkReplay times a position in words and in integers of any size in turn, from log-probabilities
// that are read to a token, and gives the ratio.
func BenchmarkReplay(b *testing.B) {
	for _, n := range []int{5, 64, 256} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			support, share := benchmarkSupport(b, n), Magnitude{small: 95, q: -2}
			with := Parameters{Temperature: Magnitude{small: 7, q: -1}, TopP: &share}
			request := Request{Origin: Origin{}, Parameters: with, Vocabulary: 10_000_000_000}
			words, integers := time.Duration(0), time.Duration(0)
			b.ResetTimer()
			for i := range b.N {
				started := time.Now()
				request.Token(0, int64(i), support)
				between := time.Now()
				drawWithWeights(exactWeights(support, with), request, int64(i))
				words += between.Sub(started)
				integers += time.Since(between)
			}
			ratio := float64(integers) / float64(words)
			b.ReportMetric(ratio, "integers/words")
			b.ReportMetric(float64(words.Nanoseconds())/float64(b.N), "ns/words")
			if b.N > 1 && ratio < replayFloors[n] {
				b.Errorf("%.1f times as fast, at least %g wanted", ratio, replayFloors[n])
			}
		})
	}
}

// drawWithWeights draws as Request.Token does.
func drawWithWeights(weights []Weight, request Request, position int64) string {
	shares := make([]int64, len(weights))
	for i, weight := range weights {
		shares[i] = weight.Weight
	}
	drawn, _ := Draw(NewStream(request.Origin.Seed(0, position), 0), shares)
	return weights[drawn].Token
}

// BenchmarkExpBound counts how often words do not decide an exponential, of arguments up to 64.
func BenchmarkExpBound(b *testing.B) {
	from, undecided := draws(b), 0
	for range b.N {
		gap := randomRounded(from, -15, 8)
		if _, decided := wordExp(gap); !decided && !negligible(gap) && gap.compare(gapMost) <= 0 {
			undecided++
		}
	}
	b.ReportMetric(float64(undecided)/float64(b.N)*1e6, "undecided/million")
}
