package rate

import (
	"math/big"
	"testing"
)

// rareByIntegers is P(X ≤ k) ≤ 25/1000 by the definition alone.
func rareByIntegers(k, n, rate int64) bool {
	left, right := newTail(k, n).exact(rate), power(million, n)
	return left.Mul(left, big.NewInt(1000)).Cmp(right.Mul(right, big.NewInt(25))) <= 0
}

func TestBoundsAreThoseOfTheirDefinition(t *testing.T) {
	for n := int64(0); n <= 40; n++ {
		for k := int64(0); k <= n; k++ {
			low, high := New(950).Bounds(k, n)
			if k == 0 && low != 0 || k == n && high != million {
				t.Fatalf("%d of %d: %d to %d", k, n, low, high)
			}
			if k > 0 && (!rareByIntegers(n-k, n, million-low) || rareByIntegers(n-k, n, million-low-1)) {
				t.Errorf("%d of %d: low %d", k, n, low)
			}
			if k < n && (!rareByIntegers(k, n, high) || rareByIntegers(k, n, high-1)) {
				t.Errorf("%d of %d: high %d", k, n, high)
			}
		}
	}
}

// One of one at a rate of 0.025 has the chance that the confidence leaves, exactly.
func TestATieIsDecidedByIntegers(t *testing.T) {
	if low, high := New(950).Bounds(1, 1); low != 25_000 || high != million {
		t.Errorf("%d to %d", low, high)
	}
	if low, high := New(950).Bounds(0, 1); low != 0 || high != 975_000 {
		t.Errorf("%d to %d", low, high)
	}
}

func TestAnEnclosureHoldsTheChance(t *testing.T) {
	for _, one := range []struct{ k, n, rate int64 }{
		{0, 1, 1}, {3, 10, 999_999}, {150, 300, 400_000}, {299, 300, 1}, {150, 300, 700_000}, {10, 300, 1},
	} {
		of := newTail(one.k, one.n)
		exact := new(big.Rat).SetFrac(of.exact(one.rate), power(million, one.n))
		low, _ := of.enclosed(one.rate, big.ToNegativeInf).Rat(nil)
		high, _ := of.enclosed(one.rate, big.ToPositiveInf).Rat(nil)
		if low.Cmp(exact) > 0 || high.Cmp(exact) < 0 {
			t.Errorf("%v: %v is not in %v to %v", one, exact, low, high)
		}
		if apart := new(big.Rat).Quo(high, low); apart.Cmp(big.NewRat(1<<60+1, 1<<60)) > 0 {
			t.Errorf("%v: wide", one)
		}
	}
}

func BenchmarkBoundsOfManyPositions(b *testing.B) {
	for range b.N {
		New(950).Bounds(8_192, 16_384)
	}
}
