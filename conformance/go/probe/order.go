package probe

import (
	"fmt"
	"slices"
	"strings"

	"lockstep/conformance/go/specification"
)

// Order gives the places of names in the order of a block ([PROBE-2]).
func Order(seed, block int64, names []string) []int {
	keys := make([]string, len(names))
	places := make([]int, len(names))
	for i, name := range names {
		keys[i] = specification.Sha256(fmt.Appendf(nil, "lockstep/order/1/%d/%d/%s", seed, block, name))
		places[i] = i
	}
	slices.SortFunc(places, func(a, b int) int { return strings.Compare(keys[a], keys[b]) })
	return places
}
