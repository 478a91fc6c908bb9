package measurement

import (
	"math/big"
	"slices"
	"strconv"
	"strings"

	"lockstep/conformance/go/lcj"
)

// unit is the power of each base ([MEAS-2]); a base of power 0 is not in it, and `1` has none.
type unit map[string]int

// bases are those of measurement.json.
type bases struct {
	// time are the scales of the units of time.
	time  map[string]*big.Rat
	known map[string]bool
}

func readBases(units *lcj.Object) bases {
	b := bases{map[string]*big.Rat{}, map[string]bool{}}
	for _, one := range units.List("time") {
		pair := one.([]any)
		b.time[pair[0].(string)], _ = new(big.Rat).SetString(pair[1].(string))
		b.known[pair[0].(string)] = true
	}
	for _, name := range units.Texts("other") {
		b.known[name] = true
	}
	return b
}

// parse reads a unit in its one spelling.
func (b bases) parse(text string) (unit, bool) {
	over, under, divided := strings.Cut(text, "/")
	found := unit{}
	if over != "1" && !b.multiply(found, over, 1) || divided && !b.multiply(found, under, -1) {
		return nil, false
	}
	return found, found.String() == text
}

func (b bases) multiply(into unit, factors string, sign int) bool {
	for _, factor := range strings.Split(factors, "*") {
		base, written, raised := strings.Cut(factor, "^")
		power := 1
		if raised {
			if !isPower(written) {
				return false
			}
			power, _ = strconv.Atoi(written)
		}
		if !b.known[base] {
			return false
		}
		into[base] += sign * power
	}
	return true
}

// isPower says whether a text is a power that a base is raised to.
func isPower(text string) bool {
	return text == "2" || text == "3" || text == "4"
}

// String is the one spelling.
func (u unit) String() string {
	return u.written("1", "^", "*", "/")
}

// ending is what the name of a reading ends with.
func (u unit) ending() string {
	switch text := u.written("", "", "_", "_per_"); {
	case text == "":
		return "_ratio"
	case text[0] == '_':
		return text
	default:
		return "_" + text
	}
}

// misread says whether the name of a reading, which ends as it must, reads as a longer unit than its own.
func (b bases) misread(name string, u unit) bool {
	if len(u) == 0 {
		return false
	}
	words := strings.Split(strings.TrimSuffix(name, u.ending()), "_")
	last := len(words)
	for last > 0 && b.isWord(words[last-1]) {
		last--
	}
	inverse := strings.HasPrefix(u.String(), "1/")
	return last > 0 && words[last-1] == "per" || inverse && last < len(words)
}

// isWord says whether a word is a base, or one with a power behind it.
func (b bases) isWord(word string) bool {
	if b.known[word] {
		return true
	}
	n := len(word) - 1
	return n > 0 && isPower(word[n:]) && b.known[word[:n]]
}

func (u unit) written(one, power, product, quotient string) string {
	var over, under []string
	for base, n := range u {
		text := base
		if n > 1 || n < -1 {
			text += power + strconv.Itoa(max(n, -n))
		}
		if n > 0 {
			over = append(over, text)
		} else if n < 0 {
			under = append(under, text)
		}
	}
	slices.Sort(over)
	slices.Sort(under)
	text := one
	if len(over) > 0 {
		text = strings.Join(over, product)
	}
	if len(under) > 0 {
		text += quotient + strings.Join(under, product)
	}
	return text
}

// times is the unit of a product, or for the sign -1 of a quotient.
func (u unit) times(other unit, sign int) unit {
	made := unit{}
	for base, power := range u {
		made[base] += power
	}
	for base, power := range other {
		if made[base] += sign * power; made[base] == 0 {
			delete(made, base)
		}
	}
	return made
}

// factor is what a value is multiplied with when it goes from one unit to another, and whether they
// differ in nothing but the scale of time.
func (b bases) factor(from, to unit) (*big.Rat, bool) {
	factor, power := big.NewRat(1, 1), 0
	for base, n := range from.times(to, -1) {
		scale, isTime := b.time[base]
		if !isTime {
			return nil, false
		}
		power += n
		for range max(n, -n) {
			if n > 0 {
				factor.Mul(factor, scale)
			} else {
				factor.Quo(factor, scale)
			}
		}
	}
	return factor, power == 0
}
