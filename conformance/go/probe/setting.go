package probe

import (
	"slices"

	"lockstep/conformance/go/kind"
	"lockstep/conformance/go/lcj"
	"lockstep/conformance/go/refusal"
)

// Settings are what each arm's settings resolved to ([PROBE-13], [PROBE-14]).
type Settings struct {
	// resolved are texts or nil, by arm, in the order of the data.
	resolved map[*Arm][]any
	names    []string
	// Flagged counts the causes that are flagged, Altered those that are altered or dropped.
	Flagged, Altered int64
}

// CheckSettings is the first half of step 4 of throughput.md.
func (r *Reader) CheckSettings(stated []*lcj.Object, arms []*Arm, pointer string) (*Settings, *refusal.Refusal) {
	found := &Settings{resolved: map[*Arm][]any{}}
	for _, one := range r.data.settings {
		found.names = append(found.names, one.Text("name"))
	}
	if !InOrder(stated, arms) {
		return nil, refusal.New(underived, pointer)
	}
	for i, arm := range arms {
		at := refusal.Index(pointer, i) + "/entries"
		entries := stated[i].Objects("entries")
		var names []string
		for _, entry := range entries {
			names = append(names, entry.Text("name"))
		}
		if !slices.Equal(names, found.names) {
			return nil, refusal.New(underived, at)
		}
		for k, entry := range entries {
			value := resolve(r.data.settings[k], r.sent[arm])
			cause := causeOf(entry.Member("requested"), value)
			err := kind.DemandAll(entry, refusal.Index(at, k), []kind.Member{
				{Name: "resolved", Code: notDerived, Value: value}, {Name: "cause", Code: notDerived, Value: cause},
			})
			if err != nil {
				return nil, err
			}
			found.resolved[arm] = append(found.resolved[arm], value)
			found.count(cause, r.data.flagged)
		}
	}
	return found, nil
}

func (s *Settings) count(cause string, flagged []string) {
	if slices.Contains(flagged, cause) {
		s.Flagged++
	}
	if cause == "altered" || cause == "dropped" {
		s.Altered++
	}
}

// Unlike are the names of the settings that differ between two arms.
func (s *Settings) Unlike(a, b *Arm) []any {
	names := []any{}
	for i, name := range s.names {
		if s.resolved[a][i] != s.resolved[b][i] {
			names = append(names, name)
		}
	}
	return names
}

// InOrder says whether a list has an entry for each arm, in order.
func InOrder(stated []*lcj.Object, arms []*Arm) bool {
	return slices.EqualFunc(stated, arms, func(o *lcj.Object, arm *Arm) bool { return o.Text("arm") == arm.Name })
}

// resolve reads a setting back from the bodies that were sent.
func resolve(setting *lcj.Object, bodies []*lcj.Object) any {
	value := any(nil)
	for i, body := range bodies {
		read := readBack(setting, body)
		if i > 0 && read != value {
			return "varies"
		}
		value = read
	}
	return value
}

func readBack(setting, body *lcj.Object) any {
	value := setting.Object("routes").Member(body.Text("route"))
	for _, name := range slices.Backward(setting.Texts("at")) {
		for _, field := range body.Objects("fields") {
			if field.Text("name") == name {
				value = field.Text("value")
			}
		}
	}
	if text, ok := value.(string); ok {
		if same, has := setting.Object("same").Get(text); has {
			return same
		}
	}
	return value
}

func causeOf(requested, resolved any) string {
	switch {
	case requested == nil && resolved == nil:
		return "unchosen"
	case requested == nil:
		return "harness"
	case resolved == nil:
		return "dropped"
	case requested == resolved:
		return "requested"
	}
	return "altered"
}
