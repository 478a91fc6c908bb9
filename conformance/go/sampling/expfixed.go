package sampling

import (
	"math/big"
	"math/bits"
	"sync"
)

// exp is X(−gap) of [SAMP-14]: in words where they decide it, else exactly.
func exp(gap Rounded) Rounded {
	if negligible(gap) {
		return one
	}
	if found, decided := wordExp(gap); decided {
		return found
	}
	return exactExp(gap)
}

const (
	// tableBits is how many bits after the point of an argument the table is indexed by.
	tableBits = 8
	// tableSize covers all arguments up to ln 10, which is 589.46 / 256.
	tableSize = 590
	// resultBits is how many bits after the point e^r has, which is below 16.
	resultBits = 60
	// longestGap is the largest gap that wordExp takes.
	longestGap = 1 << 21
)

// tables are what wordExp needs, made once by the exact functions.
type tables struct {
	// ln10 is ln 10 · 2^64 less 2 · 2^64, rounded down.
	ln10 uint64
	// exp has e^(j/256) · 2^60, off by less than 1.01.
	exp [tableSize]uint64
}

var makeTables = sync.OnceValue(func() *tables {
	const width = 128
	made := &tables{}
	low := new(big.Int).Rsh(ln10(width), width-64)
	made.ln10 = low.Sub(low, new(big.Int).Lsh(big.NewInt(2), 64)).Uint64()
	for j := range made.exp {
		y, _ := fixedExp(new(big.Int).Lsh(big.NewInt(int64(j)), width-tableBits), width)
		made.exp[j] = y.Rsh(y, width-resultBits).Uint64()
	}
	return made
})

// wordExp is X(−gap) in words of 64 bits, where they decide it.
//
// As in exactExp, e^−gap = 10^−n · e^r with r = n · ln 10 − gap between 0 and ln 10. Here r = j/256 + s
// with s below 2^−8, and e^r = e^(j/256) · (1 + (e^s − 1)). Let u be 2^−64 and v be 2^−60; y is e^r as
// computed, in v. Its error is bounded by that of:
//
//   - r: the gap is floored to u, and ln 10 is off by less than 1.01 u, of which n are taken: less than
//     1.01 · n + 1 u. As e^r is at most 10, times a factor below 1.01 for the error itself, that is less
//     than 0.65 · n + 0.65 v.
//   - e^s − 1: the terms s^k/k! for k up to 6, each made of the one before by two floors: with t_1 = 0 and
//     t_k < (t_(k−1) · 2^−8 + 1)/k + 1 their errors are below 1.51, 1.34, 1.26, 1.21 and 1.17 u; what is
//     cut off is below 1.01 · 2^−56/5040 < 0.06 u. In all below 7 u, all in one direction. Times
//     e^(j/256) ≤ 10 that is 70 u < 4.4 v.
//   - e^(j/256): below 1.01 v; times e^s < 1.004, below 1.02 v.
//   - the last product: one floor, below 1 v.
//
// The sum is below 0.65 · n + 7.1 v, and so below n + 8 v. The coefficient is y · 10^9 rounded; it is
// undecided where y · 10^9 lies within (n + 8) · 10^9 v of a midpoint, and where e^r might be below 1 or
// not below 10. For a gap of up to 64, n is at most 28, and about one argument in 16 million is.
func wordExp(gap Rounded) (Rounded, bool) {
	if gap.q >= 0 || gap.q < -smallDigits {
		return Rounded{}, false
	}
	// The gap, floored to 64 bits after the point.
	unit := powers[-gap.q]
	xHi := gap.c / unit
	xLo, _ := bits.Div64(gap.c%unit, 0, unit)
	if xHi >= longestGap {
		return Rounded{}, false
	}
	known := makeTables()
	// The first guess is at most the quotient, as 2.302586 is above ln 10.
	n := xHi * 1_000_000 / 2_302_586
	var rHi, rLo uint64
	for {
		n++
		carry, low := bits.Mul64(n, known.ln10)
		var borrow uint64
		rLo, borrow = bits.Sub64(low, xLo, 0)
		rHi, borrow = bits.Sub64(2*n+carry, xHi, borrow)
		if borrow == 0 {
			break
		}
	}
	j := rHi<<tableBits | rLo>>(64-tableBits)
	if j >= tableSize {
		return Rounded{}, false
	}
	base := known.exp[j]
	growth, _ := bits.Mul64(base, lessOne(rLo&(1<<(64-tableBits)-1)))
	y := base + growth
	radius := n + 8
	if y < 1<<resultBits+radius || y+radius >= 10<<resultBits {
		return Rounded{}, false
	}
	hi, lo := bits.Mul64(y, leastCoefficient)
	c := hi<<(64-resultBits) | lo>>resultBits
	rest := lo & (1<<resultBits - 1)
	distance, half := rest-1<<(resultBits-1), 1
	if rest < 1<<(resultBits-1) {
		distance, half = -distance, -1
	}
	if distance <= radius*leastCoefficient {
		return Rounded{}, false
	}
	return nearest(c, half, -int(n)+1-precision), true
}

// lessOne gives (e^s − 1) · 2^64 for s · 2^64 below 2^56, less than 7 too small.
func lessOne(s uint64) uint64 {
	sum, term := s, s
	for k := uint64(2); k <= 6; k++ {
		term, _ = bits.Mul64(term, s)
		term /= k
		sum += term
	}
	return sum
}
