// Package hunt derives certificates of the kind `hunt` (hunt.md).
package hunt

import (
	"fmt"
	"strings"

	"lockstep/conformance/go/lcj"
	"lockstep/conformance/go/refusal"
	"lockstep/conformance/go/schema"
	"lockstep/conformance/go/specification"
)

// PredicateType is the kind's predicate type.
const PredicateType = "urn:lockstep:certificate:hunt:v1"

// Evidence reads a sidecar of at most limit bytes by its name.
type Evidence func(name string, limit int64) ([]byte, *refusal.Refusal)

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
}

// Derived is what a derivation gives.
type Derived struct {
	Verdict string
	// Counts are those that a policy's floors may name.
	Counts map[string]int64
}

// NewKind reads the kind's data.
func NewKind(spec *specification.Specification) (*Kind, error) {
	kind := &Kind{}
	var err error
	if kind.Schema, err = spec.Schema("hunt"); err != nil {
		return nil, err
	}
	if kind.data, err = spec.Object("hunt.json"); err != nil {
		return nil, err
	}
	kind.limits = kind.data.Object("limits")
	registry, err := spec.Bytes("falsifications.toml")
	if err != nil {
		return nil, err
	}
	if kind.falsifications, err = readFalsifications(string(registry)); err != nil {
		return nil, err
	}
	kind.SpecDigest, err = spec.Digest("schemas/hunt.schema.json", "hunt.json", "falsifications.toml")
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
