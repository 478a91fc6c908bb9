package sampling

import (
	"math/big"
	"sync"
)

// exactExp is X(d) of [SAMP-14] for d = −gap, in integers of any size.
//
// With n the quotient of the gap and ln 10, rounded down, plus 1, e^d is 10^−n · e^r with r = n · ln 10
// − gap between 0 and ln 10, so that e^r lies between 1 and 10. e^r is enclosed ever more tightly until
// both ends of the enclosure round to one coefficient (Ziv's method). This ends: e^d is transcendental
// for a rational d other than 0, hence no midpoint of two coefficients, and no power of ten.
func exactExp(gap Rounded) Rounded {
	if negligible(gap) {
		return one
	}
	for width := uint(128); ; width *= 2 {
		if found, decided := tryExp(gap, width); decided {
			return found
		}
	}
}

// negligible says whether e^−gap rounds to 1: up to 5 · 10^−11, since e^−gap is then 1, or above
// 1 − gap and so above the midpoint 1 − 5 · 10^−11 of 1 and the number of 10 digits next below it.
func negligible(gap Rounded) bool {
	return gap.c == 0 || gap.compare(Rounded{5 * leastCoefficient, -20}) <= 0
}

// tryExp is exactExp with numbers of so many bits after the point; it may leave the result undecided.
func tryExp(gap Rounded, width uint) (Rounded, bool) {
	x := fixed(gap, width)
	base := ln10(width)
	n := new(big.Int).Quo(x, base).Int64() + 1
	r := new(big.Int).Sub(new(big.Int).Mul(big.NewInt(n), base), x)
	y, radius := fixedExp(r, width)
	// An error of δ in r is one of less than 11 · δ in e^r, for δ below 2^−60. ln 10 was off by less than
	// two units, of which n were taken, and x by less than one.
	radius.Add(radius, big.NewInt(11*(2*n+1)))
	least, most := new(big.Int).Sub(y, radius), new(big.Int).Add(y, radius)
	unit := new(big.Int).Lsh(big.NewInt(1), width)
	if least.Cmp(unit) < 0 || most.Cmp(new(big.Int).Mul(unit, ten)) >= 0 {
		return Rounded{}, false
	}
	c := coefficientOf(least, width)
	if c != coefficientOf(most, width) {
		return Rounded{}, false
	}
	// nearest also takes a coefficient of 10^10 to the next power of ten.
	return nearest(c, -1, int(-n)+1-precision), true
}

// fixed gives gap · 2^width, rounded down.
func fixed(gap Rounded, width uint) *big.Int {
	x := new(big.Int).Lsh(gap.wide(), width)
	if gap.q >= 0 {
		return x.Mul(x, power(gap.q))
	}
	return x.Quo(x, power(-gap.q))
}

// coefficientOf gives y · 10^9 / 2^width, rounded to the nearest integer.
func coefficientOf(y *big.Int, width uint) uint64 {
	c := new(big.Int).Mul(y, big.NewInt(leastCoefficient))
	c.Add(c, new(big.Int).Lsh(big.NewInt(1), width-1))
	return c.Rsh(c, width).Uint64()
}

// halvings is how often an argument is halved before the series.
const halvings = 8

// fixedExp gives e^(r / 2^width) · 2^width for an r of 0 to 2.31 · 2^width, and by how much it may be
// off.
//
// Let a unit be 2^−width and s = r / 256, below 0.0091. Each term of the series is floored twice, an
// error below 2 units that later terms shrink; the K ≤ width terms are off by less than 2 · K + 2 units
// in sum, what was cut off included, and s by one, in all 2 · K + 4. The sum is at least 1, so that this
// bounds its relative error too. Each of 8 squarings doubles the relative error and adds a unit: 256 ·
// (2 · K + 6) units. e^r is below 10.08, hence an absolute error below 11 · 256 · (2 · width + 6) units.
func fixedExp(r *big.Int, width uint) (y, radius *big.Int) {
	s := new(big.Int).Rsh(r, halvings)
	sum := new(big.Int).Lsh(big.NewInt(1), width)
	term := new(big.Int).Set(sum)
	for k := int64(1); ; k++ {
		term.Mul(term, s).Rsh(term, width).Quo(term, big.NewInt(k))
		if term.Sign() == 0 {
			break
		}
		sum.Add(sum, term)
	}
	for range halvings {
		sum.Mul(sum, sum).Rsh(sum, width)
	}
	return sum, new(big.Int).SetUint64(11 << halvings * (2*uint64(width) + 6))
}

var (
	ln10Lock  sync.Mutex
	ln10Known = map[uint]*big.Int{}
)

// ln10 gives ln 10 · 2^width, off by less than two units. The caller must not change it.
func ln10(width uint) *big.Int {
	ln10Lock.Lock()
	defer ln10Lock.Unlock()
	if known, ok := ln10Known[width]; ok {
		return known
	}
	// ln 2 = 2 · artanh(1/3) and ln(5/4) = 2 · artanh(1/9). The terms floored are fewer than width, twice,
	// and each is off by less than two units of 2^−(2 · width), with a weight of at most 6.
	guard := width
	sum := new(big.Int).Mul(big.NewInt(6), artanh(3, width+guard))
	sum.Add(sum, new(big.Int).Lsh(artanh(9, width+guard), 1))
	ln10Known[width] = sum.Rsh(sum, guard)
	return ln10Known[width]
}

// artanh gives artanh(1/n) · 2^width by its series, each term floored.
func artanh(n int64, width uint) *big.Int {
	square := big.NewInt(n * n)
	sum := new(big.Int)
	odd := new(big.Int).Quo(new(big.Int).Lsh(big.NewInt(1), width), big.NewInt(n))
	for k := int64(1); odd.Sign() > 0; k += 2 {
		sum.Add(sum, new(big.Int).Quo(odd, big.NewInt(k)))
		odd.Quo(odd, square)
	}
	return sum
}
