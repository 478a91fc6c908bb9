package distance

import (
	"math/big"
	"sync"
)

// places is how many digits after the point of an exponential count ([DIST-4]).
const places = 40

// leastExponent is the exponent below which no digit is left.
const leastExponent = 93

var wholeUnits = power(places)

func power(n int) *big.Int {
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil)
}

// digits is ⌊10^40 · e^−gap⌋, gap in units of 10^−24 and not negative.
//
// With n = ⌊gap ÷ ln 2⌋ + 1, e^−gap is e^r ÷ 2^n with r = n · ln 2 − gap between 0 and ln 2. e^r is
// enclosed ever more tightly until both ends have the same digits. This ends: e^−gap is transcendental
// for a rational gap other than 0.
func digits(gap *big.Int) *big.Int {
	if gap.Sign() == 0 {
		return wholeUnits
	}
	if gap.Cmp(new(big.Int).Mul(big.NewInt(leastExponent), power(unitPlaces))) > 0 {
		return new(big.Int)
	}
	for width := uint(192); ; width *= 2 {
		x := new(big.Int).Lsh(gap, width)
		x.Quo(x, power(unitPlaces))
		base := ln2(width)
		n := new(big.Int).Quo(x, base).Int64() + 1
		y := fixedExp(new(big.Int).Sub(new(big.Int).Mul(big.NewInt(n), base), x), width)
		// r is off by at most 2 · n + 1 units, e^r by at most 3 times that, and by what the series leaves.
		radius := big.NewInt(3*(2*n+1) + 4*int64(width) + 64)
		least := scaled(new(big.Int).Sub(y, radius), width+uint(n))
		if most := scaled(y.Add(y, radius), width+uint(n)); least.Cmp(most) == 0 {
			return least
		}
	}
}

// scaled is ⌊10^40 · y ÷ 2^shift⌋.
func scaled(y *big.Int, shift uint) *big.Int {
	return y.Mul(y, wholeUnits).Rsh(y, shift)
}

// fixedExp gives e^(r ÷ 2^width) · 2^width for an r of 0 to 0.7 · 2^width. Each term is floored twice,
// an error below 2 units, and there are fewer than width; what is cut off is less than one.
func fixedExp(r *big.Int, width uint) *big.Int {
	sum := new(big.Int).Lsh(big.NewInt(1), width)
	term := new(big.Int).Set(sum)
	for k := int64(1); ; k++ {
		term.Mul(term, r).Rsh(term, width).Quo(term, big.NewInt(k))
		if term.Sign() == 0 {
			return sum
		}
		sum.Add(sum, term)
	}
}

var (
	ln2Lock  sync.Mutex
	ln2Known = map[uint]*big.Int{}
)

// ln2 gives ln 2 · 2^width, off by less than two units: 2 · artanh(1/3) by its series, with as many
// bits again for the terms' floors. The caller must not change it.
func ln2(width uint) *big.Int {
	ln2Lock.Lock()
	defer ln2Lock.Unlock()
	if known, ok := ln2Known[width]; ok {
		return known
	}
	sum, nine := new(big.Int), big.NewInt(9)
	odd := new(big.Int).Quo(new(big.Int).Lsh(big.NewInt(1), 2*width+1), big.NewInt(3))
	for k := int64(1); odd.Sign() > 0; k += 2 {
		sum.Add(sum, new(big.Int).Quo(odd, big.NewInt(k)))
		odd.Quo(odd, nine)
	}
	ln2Known[width] = sum.Rsh(sum, width)
	return ln2Known[width]
}
