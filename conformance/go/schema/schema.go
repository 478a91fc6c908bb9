// Package schema interprets the portable subset of JSON Schema (certificate.md, SCHEMA-1 to
// SCHEMA-4).
package schema

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"lockstep/conformance/go/lcj"
	"lockstep/conformance/go/refusal"
)

// Schema is a schema, with what its references lead to and its patterns.
type Schema struct {
	root     *lcj.Object
	patterns map[string]*regexp.Regexp
}

// New makes a schema of the text of a schema file. The text is part of the specification, so a
// fault in it is an error of the installation and no refusal.
func New(text []byte) (*Schema, error) {
	value, err := lcj.Parse([]byte(strings.TrimSpace(string(text))))
	if err != nil {
		return nil, fmt.Errorf("the schema is no JSON: %w", err)
	}
	root, ok := value.(*lcj.Object)
	if !ok {
		return nil, fmt.Errorf("the schema is no object")
	}
	return &Schema{root: root, patterns: map[string]*regexp.Regexp{}}, nil
}

// Check is [SCHEMA-3], from the schema's root on.
func (s *Schema) Check(value any, pointer string) *refusal.Refusal {
	return s.check(s.root, value, pointer)
}

func (s *Schema) check(node *lcj.Object, value any, pointer string) *refusal.Refusal {
	node = s.follow(node)
	if !hasType(node, value) {
		return refusal.New("WRONG_TYPE", pointer)
	}
	if constant, ok := node.Get("const"); ok && !lcj.Equal(constant, value) {
		return refusal.New("BAD_VALUE", pointer)
	}
	if choices, ok := node.Get("enum"); ok && !contains(choices.([]any), value) {
		return refusal.New("BAD_VALUE", pointer)
	}
	switch v := value.(type) {
	case string:
		if !s.admitsString(node, v) {
			return refusal.New("BAD_VALUE", pointer)
		}
	case int64:
		if !within(node, "minimum", "maximum", v) {
			return refusal.New("BAD_VALUE", pointer)
		}
	case []any:
		return s.checkArray(node, v, pointer)
	case *lcj.Object:
		return s.checkObject(node, v, pointer)
	}
	return nil
}

func (s *Schema) checkArray(node *lcj.Object, value []any, pointer string) *refusal.Refusal {
	if !within(node, "minItems", "maxItems", int64(len(value))) {
		return refusal.New("BAD_VALUE", pointer)
	}
	items, ok := node.Get("items")
	if !ok {
		return nil
	}
	for i, element := range value {
		if err := s.check(items.(*lcj.Object), element, refusal.Index(pointer, i)); err != nil {
			return err
		}
	}
	return nil
}

func (s *Schema) checkObject(node, value *lcj.Object, pointer string) *refusal.Refusal {
	found, ok := node.Get("properties")
	if !ok {
		return nil
	}
	properties := found.(*lcj.Object)
	names := value.Sorted()
	for _, name := range names {
		if _, known := properties.Get(name); !known {
			return refusal.New("UNKNOWN_FIELD", refusal.At(pointer, name))
		}
	}
	if required, ok := node.Get("required"); ok {
		for _, name := range required.([]any) {
			if _, present := value.Get(name.(string)); !present {
				return refusal.New("MISSING_FIELD", refusal.At(pointer, name.(string)))
			}
		}
	}
	for _, name := range names {
		property, _ := properties.Get(name)
		member, _ := value.Get(name)
		err := s.check(property.(*lcj.Object), member, refusal.At(pointer, name))
		if err != nil {
			return err
		}
	}
	return nil
}

// follow resolves `#/$defs/NAME`.
func (s *Schema) follow(node *lcj.Object) *lcj.Object {
	for {
		reference, ok := node.Get("$ref")
		if !ok {
			return node
		}
		name, ok := strings.CutPrefix(reference.(string), "#/$defs/")
		definitions, found := s.root.Get("$defs")
		if !ok || !found {
			panic("schema: a reference leads nowhere: " + reference.(string))
		}
		target, _ := definitions.(*lcj.Object).Get(name)
		node = target.(*lcj.Object)
	}
}

func (s *Schema) admitsString(node *lcj.Object, value string) bool {
	if !within(node, "minLength", "maxLength", int64(utf8.RuneCountInString(value))) {
		return false
	}
	pattern, ok := node.Get("pattern")
	return !ok || s.pattern(pattern.(string)).MatchString(value)
}

// pattern compiles a pattern so that it is matched against the whole value ([SCHEMA-2]).
func (s *Schema) pattern(text string) *regexp.Regexp {
	compiled, known := s.patterns[text]
	if !known {
		inner := strings.TrimSuffix(strings.TrimPrefix(text, "^"), "$")
		compiled = regexp.MustCompile(`\A(?:` + inner + `)\z`)
		s.patterns[text] = compiled
	}
	return compiled
}

func hasType(node *lcj.Object, value any) bool {
	declared, ok := node.Get("type")
	if !ok {
		return true
	}
	actual := TypeName(value)
	if several, ok := declared.([]any); ok {
		return contains(several, actual)
	}
	return declared == actual
}

// TypeName gives the name that `type` has for a value's type.
func TypeName(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case int64:
		return "integer"
	case string:
		return "string"
	case []any:
		return "array"
	default:
		return "object"
	}
}

func within(node *lcj.Object, least, most string, n int64) bool {
	if bound, ok := node.Get(least); ok && n < bound.(int64) {
		return false
	}
	bound, ok := node.Get(most)
	return !ok || n <= bound.(int64)
}

func contains(choices []any, value any) bool {
	for _, choice := range choices {
		if lcj.Equal(choice, value) {
			return true
		}
	}
	return false
}
