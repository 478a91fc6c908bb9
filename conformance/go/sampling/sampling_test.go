package sampling

import (
	"fmt"
	"math/big"
	"testing"
)

// draws gives what the random tests draw from; its seed is in the name.
func draws(test testing.TB) *Stream {
	return NewStream(test.Name()+"/1", 0)
}

// randomRounded draws a number of 10 digits, often a short one, whose exponent is among so many from
// least on.
func randomRounded(from *Stream, least int, exponents uint64) Rounded {
	c := leastCoefficient + from.Below(endCoefficient-leastCoefficient)
	if keep := from.Below(12); keep < precision {
		c -= c % powers[keep]
	}
	if from.Below(40) == 0 {
		c = leastCoefficient
	}
	if from.Below(40) == 0 {
		c = endCoefficient - 1
	}
	return Rounded{c, least + int(from.Below(exponents))}
}

func randomMagnitude(from *Stream) Magnitude {
	size := 1 + from.Below(smallDigits)
	return Magnitude{small: 1 + from.Below(powers[size]-1), q: -int(from.Below(24))}
}

// exactAdd is R(a + b).
func exactAdd(a, b Rounded) Rounded {
	x, y, q := align(a.wide(), a.q, b.wide(), b.q)
	return roundRatio(new(big.Int).Add(x, y), big.NewInt(1), q)
}

// exactSubtract is R(a − b) for a not below b.
func exactSubtract(a, b Rounded) Rounded {
	x, y, q := align(a.wide(), a.q, b.wide(), b.q)
	return roundRatio(new(big.Int).Sub(x, y), big.NewInt(1), q)
}

func TestDraws(t *testing.T) {
	stream := NewStream("reference_seed_v1", 0)
	for i, want := range []uint64{4286832458236889005, 12281003819428572724, 12352776571910749143} {
		if got := stream.Uint64(); got != want {
			t.Errorf("draw %d is %d, not %d", i, got, want)
		}
	}
	if last := NewStream("s", 1<<64-1); last.Uint64() == 0 || last.Counter() != 0 {
		t.Error("after draw 2^64 - 1 comes no draw 0")
	}
}

func TestWordsGiveWhatIntegersGive(t *testing.T) {
	from := draws(t)
	for range 100_000 {
		a, b := randomRounded(from, -30, 25), randomRounded(from, -30, 25)
		if a.compare(b) < 0 {
			a, b = b, a
		}
		m, n := randomMagnitude(from), randomMagnitude(from)
		for _, pair := range [][2]Rounded{
			{a.plus(b), exactAdd(a, b)},
			{a.minus(b), exactSubtract(a, b)},
			{b.over(a), roundRatio(b.wide(), a.wide(), b.q-a.q)},
			{a.times(m), exactMultiply(a, m)},
			{divide(m, n), exactDivide(m, n)},
		} {
			if pair[0] != pair[1] {
				t.Fatalf("%v and %v, of %v, %v, %v, %v", pair[0], pair[1], a, b, m, n)
			}
		}
		if a.against(m) != exactCompare(a, m) {
			t.Fatalf("%v against %v", a, m)
		}
	}
}

func TestTiesGoToTheEvenDigit(t *testing.T) {
	for _, c := range []struct{ a, b, want Rounded }{
		{Rounded{1_000_000_000, 1}, Rounded{5_000_000_000, -9}, Rounded{1_000_000_000, 1}},
		{Rounded{1_000_000_001, 1}, Rounded{5_000_000_000, -9}, Rounded{1_000_000_002, 1}},
		{Rounded{9_999_999_999, 1}, Rounded{5_000_000_000, -9}, Rounded{1_000_000_000, 2}},
		{Rounded{1_000_000_001, 10}, Rounded{5_000_000_000, 0}, Rounded{1_000_000_002, 10}},
		{Rounded{1_000_000_000, 10}, Rounded{5_000_000_000, 0}, Rounded{1_000_000_000, 10}},
	} {
		if got := c.a.plus(c.b); got != c.want || exactAdd(c.a, c.b) != c.want {
			t.Errorf("%v + %v is %v, not %v", c.a, c.b, got, c.want)
		}
	}
}

func TestExp(t *testing.T) {
	for _, c := range []struct {
		d, coefficient string
		exponent       int
	}{
		{"0", "1", 0},
		{"-0.6403554005", "5271050573", -10},
		{"-0.00000000005", "1", 0},
		{"-0.000000000050000001", "9999999999", -10},
		{"-0.00000000015", "9999999999", -10},
		{"-2.302585093", "1", -1},
		{"-1", "3678794412", -10},
	} {
		coefficient, exponent, ok := Exp(c.d)
		if !ok || coefficient != c.coefficient || exponent != c.exponent {
			t.Errorf("e^%s is %s e%d", c.d, coefficient, exponent)
		}
	}
	for _, d := range []string{"", "1", "-0", "-0.0", "-1.0", "-01", "-12345678901", "-1.0000000001"} {
		if _, _, ok := Exp(d); ok {
			t.Errorf("%q was taken", d)
		}
	}
}

func TestWordExpIsExact(t *testing.T) {
	from := draws(t)
	for range 20_000 {
		if gap := randomRounded(from, -15, 8); !decidedRightly(t, gap) {
			t.Errorf("%v is undecided", gap)
		}
	}
}

// decidedRightly says whether words decide an exponential, and fails where they decide it wrongly.
func decidedRightly(t *testing.T, gap Rounded) bool {
	found, decided := wordExp(gap)
	if want := exactExp(gap); decided && found != want {
		t.Fatalf("e^-%v is %v, and not %v", gap, want, found)
	}
	return decided
}

// TestWordExpNearMidpoints takes gaps around (k + 1/2) · 10^−10, whose exponentials lie about as far
// from a midpoint as k² · 10^−20 and the last digits of the gap say: some too near for words, some not.
func TestWordExpNearMidpoints(t *testing.T) {
	decided, undecided := 0, 0
	for k := uint64(1); k < 4_000; k++ {
		middle := roundRatio(new(big.Int).SetUint64(10*k+5), big.NewInt(1), -11)
		for _, digits := range []uint64{0, 1, 2, 5, 10, 50, 1000} {
			for _, c := range []uint64{middle.c + digits, middle.c - digits} {
				gap := roundRatio(new(big.Int).SetUint64(c), big.NewInt(1), middle.q)
				if decidedRightly(t, gap) {
					decided++
				} else {
					undecided++
				}
			}
		}
	}
	if decided < 10_000 || undecided < 100 {
		t.Errorf("%d decided and %d not", decided, undecided)
	}
}

func TestApportionInWordsIsExact(t *testing.T) {
	from := draws(t)
	taken := 0
	for range 5_000 {
		chances := make([]chance, 1+from.Below(40))
		values := make([]Rounded, len(chances))
		for i := range values {
			values[i] = randomRounded(from, -21+int(from.Below(9)), 3)
			if i > 0 && from.Below(3) == 0 {
				values[i] = values[i-1]
			}
		}
		sum := total(values)
		for i := range chances {
			chances[i] = chance{index: i, p: values[i].over(sum)}
		}
		found, done := wordApportion(chances)
		if !done {
			continue
		}
		taken++
		if want := exactApportion(chances); fmt.Sprint(found) != fmt.Sprint(want) {
			t.Fatalf("%v and %v", found, want)
		}
		all := int64(0)
		for _, weight := range found {
			all += weight
		}
		if all != Total {
			t.Fatalf("weights sum to %d", all)
		}
	}
	if taken < 3_000 {
		t.Errorf("words took %d", taken)
	}
}

func TestUniformSupportsHaveNoNegativeWeight(t *testing.T) {
	for _, n := range []int{1, 2, 3, 416, 65536, 65537} {
		support := make([]Logprob, n)
		for i := range support {
			support[i] = Logprob{fmt.Sprint(i), Magnitude{small: 5, q: -1}}
		}
		if !ValidSupport(support) {
			t.Fatal("no support")
		}
		least, most := int64(Total), int64(0)
		for _, weight := range Weights(support, Parameters{Temperature: unity}) {
			least, most = min(least, weight.Weight), max(most, weight.Weight)
		}
		if least != int64(Total/n) || most > least+1 {
			t.Errorf("%d: %d to %d", n, least, most)
		}
	}
}

func TestGrammarOfLogprobs(t *testing.T) {
	for text, want := range map[string]bool{
		"0": true, "-0.5": true, "-99999": true, "-99999.000000000000000000000001": true,
		"-0": false, "0.0": false, "-0.0": false, "-1.0": false, "-01": false, "1": false, "-.5": false,
		"-5.": false, "-1e3": false, " -1": false, "-1\n": false, "-100000": false, "": false, "-": false,
		"-0.0000000000000000000000001": false, "-\u0661": false, "--1": false, "+0": false,
	} {
		if _, ok := ParseLogprob(text); ok != want {
			t.Errorf("%q: %v", text, ok)
		}
	}
}

func TestNumbersOfTheProfile(t *testing.T) {
	for text, want := range map[string]string{
		" 1_0\t": "10", "1e2": "100", ".5E1": "5", "5.": "5", "+0e999999999999": "0", "1e400000": "",
		"1e400001": "-", "nan": "-", "": "-", "e5": "-", "1e": "-", "--1": "-", "0x1": "-", ".": "-",
		"\u00a01": "-", "\u0130nf": "-", "1e-400001": "-", "0.1e-400000": "-",
	} {
		read, ok := parseReal(text)
		switch {
		case ok != (want != "-"):
			t.Errorf("%q: %v", text, ok)
		case ok && want != "":
			number, _ := new(big.Int).SetString(want, 10)
			if read.compare(real{c: number}) != 0 {
				t.Errorf("%q is %v", text, read)
			}
		}
	}
}

// benchmarkSupport is like a position of a language model: so many tokens, 12 digits after the point.
func benchmarkSupport(b *testing.B, n int) []Logprob {
	from := draws(b)
	support := make([]Logprob, n)
	for i := range support {
		c := from.Below(20 * powers[12])
		support[i] = Logprob{fmt.Sprint(from.Below(100_000) + uint64(i)*100_000), Magnitude{small: c, q: -12}}
	}
	ValidSupport(support)
	return support
}

func BenchmarkWeights(b *testing.B) {
	for _, n := range []int{5, 20, 64, 1024} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			support, share := benchmarkSupport(b, n), Magnitude{small: 95, q: -2}
			with := Parameters{Temperature: Magnitude{small: 7, q: -1}, TopP: &share}
			b.ResetTimer()
			for range b.N {
				Weights(support, with)
			}
		})
	}
}

func BenchmarkExp(b *testing.B) {
	from := draws(b)
	gaps := make([]Rounded, 1024)
	for i := range gaps {
		gaps[i] = randomRounded(from, -10, 2)
	}
	b.Run("words", func(b *testing.B) {
		for i := range b.N {
			wordExp(gaps[i%len(gaps)])
		}
	})
	b.Run("integers", func(b *testing.B) {
		for i := range b.N {
			exactExp(gaps[i%len(gaps)])
		}
	})
}
