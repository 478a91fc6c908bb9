package sampling

import (
	"cmp"
	"math/big"
	"math/bits"
	"slices"
)

// scaleDigits makes every p_i an integer ([SAMP-22]).
const scaleDigits = 48

// double is an integer below 2^128.
type double struct {
	hi, lo uint64
}

func (a double) plus(b double) double {
	lo, carry := bits.Add64(a.lo, b.lo, 0)
	hi, _ := bits.Add64(a.hi, b.hi, carry)
	return double{hi, lo}
}

func (a double) minus(b double) double {
	lo, borrow := bits.Sub64(a.lo, b.lo, 0)
	hi, _ := bits.Sub64(a.hi, b.hi, borrow)
	return double{hi, lo}
}

// times gives the product with a factor so small that it stays below 2^128.
func (a double) times(factor uint64) double {
	hi, lo := bits.Mul64(a.lo, factor)
	return double{hi + a.hi*factor, lo}
}

func (a double) compare(b double) int {
	return cmp.Or(cmp.Compare(a.hi, b.hi), cmp.Compare(a.lo, b.lo))
}

// right shifts to the right.
func (a double) right(by uint) double {
	if by >= 64 {
		return double{0, a.hi >> (by - 64)}
	}
	return double{a.hi >> by, a.lo>>by | a.hi<<(64-by)}
}

func (a double) length() uint {
	if a.hi > 0 {
		return uint(64 + bits.Len64(a.hi))
	}
	return uint(bits.Len64(a.lo))
}

// apportion is [SAMP-22] over tokens in string order.
func apportion(chances []chance) []int64 {
	if weights, done := wordApportion(chances); done {
		return weights
	}
	return exactApportion(chances)
}

// exactApportion is apportion in integers of any size.
func exactApportion(chances []chance) []int64 {
	sum := new(big.Int)
	scaled := make([]*big.Int, len(chances))
	for i, c := range chances {
		scaled[i] = new(big.Int).Mul(c.p.wide(), power(c.p.q+scaleDigits))
		sum.Add(sum, scaled[i])
	}
	weights := make([]int64, len(chances))
	for i, w := range scaled {
		quota, rest := new(big.Int).QuoRem(w.Lsh(w, 16), sum, new(big.Int))
		weights[i], scaled[i] = quota.Int64(), rest
	}
	return withExtras(weights, func(a, b int) int { return scaled[a].Cmp(scaled[b]) })
}

// wordScale is the power of ten by which wordApportion makes integers; quotas and the order of rests
// are the same for every scale that does.
const wordScale = 28

// wordApportion is apportion in words, where every p_i is 0 or at least 10^−19.
//
// Each p_i · 10^28 is then an integer of at most 10^28, as p_i is at most 1; the p_i sum to less than
// 2, since of n ≤ 2^18 terms each was rounded by no more than one part in 10^9, as was each partial sum
// E; so all of S · 65536 is below 2 · 10^28 · 2^16 < 2^111. The largest p_i is above 1 / 2^19, and
// 10^28 / 2^19 is above 2^74, so that S has more than 32 bits.
func wordApportion(chances []chance) ([]int64, bool) {
	sum := double{}
	scaled := make([]double, len(chances))
	for i, c := range chances {
		if c.p.c == 0 {
			continue
		}
		if c.p.q < -wordScale {
			return nil, false
		}
		scaled[i].hi, scaled[i].lo = bits.Mul64(c.p.c, powers[c.p.q+wordScale])
		sum = sum.plus(scaled[i])
	}
	if sum.length() <= 32 {
		return nil, false
	}
	shift := sum.length() - 32
	divisor := sum.right(shift).lo + 1
	weights := make([]int64, len(chances))
	for i, w := range scaled {
		w = w.times(Total)
		// The divisor was rounded up, so that this is no more than the quota; what is missing is at most
		// a few units, since the quota is at most 2^16 and the divisor has 32 bits.
		quota := w.right(shift).lo / divisor
		rest := w.minus(sum.times(quota))
		for rest.compare(sum) >= 0 {
			rest = rest.minus(sum)
			quota++
		}
		weights[i], scaled[i] = int64(quota), rest
	}
	return withExtras(weights, func(a, b int) int { return scaled[a].compare(scaled[b]) }), true
}

// withExtras gives what quotas leave of the total to the largest rests, one each, of equal rests to
// the first.
func withExtras(quotas []int64, compareRests func(a, b int) int) []int64 {
	missing := int64(Total)
	order := make([]int, len(quotas))
	for i, quota := range quotas {
		missing -= quota
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(compareRests(b, a), cmp.Compare(a, b))
	})
	for _, i := range order[:missing] {
		quotas[i]++
	}
	return quotas
}
