// Package hunt derives certificates of the kind `hunt` (hunt.md).
package hunt

import (
	"fmt"
	"strings"

	"lockstep/conformance/go/lcj"
	"lockstep/conformance/go/lemmas"
	"lockstep/conformance/go/schema"
	"lockstep/conformance/go/specification"
)

// PredicateType is the kind's predicate type.
const PredicateType = "urn:lockstep:certificate:hunt:v1"

// falsification is an entry of falsifications.toml.
type falsification struct {
	name, expected string
}

// Kind is the kind with its data.
type Kind struct {
	Schema     *schema.Schema
	SpecDigest string

	data           *lcj.Object
	limits         *lcj.Object
	falsifications []falsification
	lemmas         *lemmas.Registry
}

// NewKind reads the kind's data.
func NewKind(spec *specification.Specification, registry *lemmas.Registry) (*Kind, error) {
	kind := &Kind{lemmas: registry}
	var err error
	if kind.Schema, err = spec.Schema("hunt"); err != nil {
		return nil, err
	}
	if kind.data, err = spec.Object("hunt.json"); err != nil {
		return nil, err
	}
	kind.limits = kind.data.Object("limits")
	registered, err := spec.Bytes("falsifications.toml")
	if err != nil {
		return nil, err
	}
	if kind.falsifications, err = readFalsifications(string(registered)); err != nil {
		return nil, err
	}
	kind.SpecDigest, err = spec.Digest(
		"schemas/hunt.schema.json", "hunt.json", "falsifications.toml", "lemmas.json")
	return kind, err
}

// readFalsifications reads the names and expected codes of falsifications.toml: of TOML only the
// headers of its tables and the two plain strings.
func readFalsifications(text string) ([]falsification, error) {
	var entries []falsification
	inside := false
	for number, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			inside = line == "[[falsification]]"
			if inside {
				entries = append(entries, falsification{})
			}
			continue
		}
		key, value, found := strings.Cut(line, "=")
		key = strings.TrimSpace(key)
		if !inside || !found || key != "name" && key != "expected" {
			continue
		}
		quoted := strings.TrimSpace(value)
		if len(quoted) < 2 || strings.Trim(quoted, `"`) != quoted[1:len(quoted)-1] {
			return nil, fmt.Errorf("falsifications.toml, line %d: no plain string", number+1)
		}
		entry := &entries[len(entries)-1]
		if key == "name" {
			entry.name = strings.Trim(quoted, `"`)
		} else {
			entry.expected = strings.Trim(quoted, `"`)
		}
	}
	return entries, nil
}
