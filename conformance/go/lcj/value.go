// Package lcj reads and writes JSON and its canonical form LCJ (certificate.md, BYTES-4 and
// LCJ-1 to LCJ-12). It uses nothing of encoding/json, whose reader admits what LCJ forbids.
package lcj

import (
	"sort"
	"unicode/utf8"
)

// A value is nil, bool, int64, string, []any or *Object.

// Object is a JSON object with its members in reading order.
type Object struct {
	names   []string
	members map[string]any
}

// NewObject makes an object without members.
func NewObject() *Object {
	return &Object{members: map[string]any{}}
}

// Set adds or replaces a member and gives the object back.
func (o *Object) Set(name string, value any) *Object {
	if _, known := o.members[name]; !known {
		o.names = append(o.names, name)
	}
	o.members[name] = value
	return o
}

// Get gives a member's value and whether it is there: absent and null differ ([LCJ-12]).
func (o *Object) Get(name string) (any, bool) {
	value, ok := o.members[name]
	return value, ok
}

// Names gives the members' names in reading order. The caller must not change the slice.
func (o *Object) Names() []string {
	return o.names
}

// Sorted gives the members' names in LCJ order ([LCJ-10]).
func (o *Object) Sorted() []string {
	names := append([]string(nil), o.names...)
	sort.Slice(names, func(i, j int) bool { return Less(names[i], names[j]) })
	return names
}

// Len gives the number of members.
func (o *Object) Len() int {
	return len(o.names)
}

// Less compares two strings as sequences of UTF-16 code units ([LCJ-10]).
//
// Code points order as their UTF-16 units do, except that those above U+FFFF, which begin with a
// surrogate, come before U+E000 to U+FFFF.
func Less(a, b string) bool {
	for a != "" && b != "" {
		ra, na := utf8.DecodeRuneInString(a)
		rb, nb := utf8.DecodeRuneInString(b)
		if ra != rb {
			return rank(ra) < rank(rb)
		}
		a, b = a[na:], b[nb:]
	}
	return len(a) < len(b)
}

func rank(r rune) int32 {
	if r >= 0xE000 && r <= 0xFFFF {
		return r + 0x110000
	}
	return r
}

// Equal compares two values by type and content ([SCHEMA-3]).
func Equal(a, b any) bool {
	switch x := a.(type) {
	case []any:
		y, ok := b.([]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for i := range x {
			if !Equal(x[i], y[i]) {
				return false
			}
		}
		return true
	case *Object:
		y, ok := b.(*Object)
		if !ok || x.Len() != y.Len() {
			return false
		}
		for _, name := range x.names {
			other, known := y.members[name]
			if !known || !Equal(x.members[name], other) {
				return false
			}
		}
		return true
	default:
		if _, ok := b.([]any); ok {
			return false
		}
		return a == b
	}
}
