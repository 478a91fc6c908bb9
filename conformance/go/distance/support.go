package distance

import (
	"math/big"
	"slices"
	"strings"

	"lockstep/conformance/go/sampling"
)

// unitPlaces says that log-probabilities are in units of 10^−24.
const unitPlaces = 24

// entry is a token of a support.
type entry struct {
	token string
	// gap is how far its log-probability is below 0, written as text.
	text string
	gap  *big.Int
	// digits is ⌊10^40 · e^−gap⌋.
	digits *big.Int
}

// support is a list of tokens in string order.
type support struct {
	entries []entry
	at      map[string]int
}

// has gives a token's entry.
func (s *support) has(token string) (entry, bool) {
	i, known := s.at[token]
	if !known {
		return entry{}, false
	}
	return s.entries[i], true
}

// reader reads supports of a vocabulary, and keeps the numbers that it has read.
type reader struct {
	vocabulary int64
	known      map[string]entry
}

// read reads the text of a support ([DIST-13]); nil where it is none.
func (r *reader) read(text string) *support {
	s := &support{at: map[string]int{}}
	before := ""
	for _, pair := range strings.Split(text, " ") {
		token, written, ok := strings.Cut(pair, ":")
		if !ok || !sampling.ValidToken(token, r.vocabulary) || len(s.entries) > 0 && token <= before {
			return nil
		}
		number, known := r.known[written]
		if !known {
			gap, q, valid := sampling.Gap(written)
			if !valid {
				return nil
			}
			gap = new(big.Int).Mul(gap, power(unitPlaces+q))
			number = entry{text: written, gap: gap, digits: digits(gap)}
			r.known[written] = number
		}
		number.token, before = token, token
		s.at[token] = len(s.entries)
		s.entries = append(s.entries, number)
	}
	return s
}

// top are the n most likely tokens, of equal ones those that come first in string order, in string
// order.
func (s *support) top(n int) *support {
	order := slices.Clone(s.entries)
	slices.SortStableFunc(order, func(a, b entry) int { return a.gap.Cmp(b.gap) })
	order = order[:n]
	slices.SortFunc(order, func(a, b entry) int { return strings.Compare(a.token, b.token) })
	t := &support{order, map[string]int{}}
	for i, one := range order {
		t.at[one.token] = i
	}
	return t
}

// least is the smallest of the digits.
func (s *support) least() *big.Int {
	return slices.MinFunc(s.entries, func(a, b entry) int { return a.digits.Cmp(b.digits) }).digits
}

// equal says whether two supports have the same tokens and log-probabilities.
func (s *support) equal(other *support) bool {
	return slices.EqualFunc(s.entries, other.entries, func(a, b entry) bool {
		return a.token == b.token && a.text == b.text
	})
}

// massive is the mass of [DIST-13], with what a token outside has at most.
func (r *reader) massive(s *support, outside *big.Int, leastPermille, mostPermille int64) bool {
	sum := new(big.Int)
	for _, one := range s.entries {
		sum.Add(sum, one.digits)
	}
	unit := new(big.Int).Quo(wholeUnits, big.NewInt(1000))
	if sum.Cmp(new(big.Int).Mul(unit, big.NewInt(mostPermille))) > 0 {
		return false
	}
	sum.Add(sum, new(big.Int).Mul(outside, big.NewInt(r.vocabulary-int64(len(s.entries)))))
	return sum.Cmp(new(big.Int).Mul(unit, big.NewInt(leastPermille))) >= 0
}
