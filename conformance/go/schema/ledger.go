package schema

import (
	"sort"

	"lockstep/conformance/go/lcj"
	"lockstep/conformance/go/refusal"
)

// Ledger counts the leaves of a value by their class (LEDGER-1 to LEDGER-3).
type Ledger struct {
	// Counts has the keys derived, witnessed and attested.
	Counts map[string]int64
	// Attested names the kinds of attested leaves.
	Attested []string
}

// Ledger gives the ledger of a value that matches the schema.
func (s *Schema) Ledger(value any) Ledger {
	ledger := Ledger{Counts: map[string]int64{"derived": 0, "witnessed": 0, "attested": 0}}
	kinds := map[string]bool{}
	s.count(s.root, value, "", "attested", func(class, kind string) {
		ledger.Counts[class]++
		if class == "attested" {
			kinds[kind] = true
		}
	})
	for kind := range kinds {
		ledger.Attested = append(ledger.Attested, kind)
	}
	sort.Slice(ledger.Attested, func(i, j int) bool {
		return lcj.Less(ledger.Attested[i], ledger.Attested[j])
	})
	return ledger
}

func (s *Schema) count(node *lcj.Object, value any, kind, class string, leaf func(class, kind string)) {
	// Beside a reference stands the nearer class ([LEDGER-2]).
	own, ok := node.Get("x-class")
	node = s.follow(node)
	if !ok {
		own, ok = node.Get("x-class")
	}
	if ok {
		class = own.(string)
	}
	switch v := value.(type) {
	case []any:
		items, ok := node.Get("items")
		for _, element := range v {
			if ok {
				s.count(items.(*lcj.Object), element, kind+"/*", class, leaf)
			}
		}
	case *lcj.Object:
		properties, ok := node.Get("properties")
		if !ok {
			if v.Len() > 0 {
				leaf(class, kind)
			}
			return
		}
		for _, name := range v.Names() {
			property, _ := properties.(*lcj.Object).Get(name)
			member, _ := v.Get(name)
			s.count(property.(*lcj.Object), member, refusal.At(kind, name), class, leaf)
		}
	default:
		leaf(class, kind)
	}
}
