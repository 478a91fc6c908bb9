package probe

import (
	"slices"
	"strings"

	"lockstep/conformance/go/lcj"
	"lockstep/conformance/go/refusal"
)

// Arm is a server that is measured.
type Arm struct {
	Name, Adapter string
	// Launched says that it was started here.
	Launched bool
	// Resolved are its settings that resolved to something.
	Resolved []*lcj.Object
	pins     []*lcj.Object
}

// ReadArms reads arms, and is step 1 of throughput.md.
func (d *Data) ReadArms(stated []*lcj.Object, pointer string) ([]*Arm, *refusal.Refusal) {
	var arms []*Arm
	names := map[string]bool{}
	for i, o := range stated {
		at := refusal.Index(pointer, i)
		if names[o.Text("name")] {
			return nil, refusal.New(badValue, at+"/name")
		}
		names[o.Text("name")] = true
		arms = append(arms, &Arm{
			o.Text("name"), o.Text("adapter"), o.Member("launch") != nil, resolved(o), o.Objects("pins"),
		})
	}
	for i, arm := range arms {
		if err := d.checkArm(arm, stated[i], refusal.Index(pointer, i)); err != nil {
			return nil, err
		}
	}
	return arms, nil
}

func resolved(stated *lcj.Object) []*lcj.Object {
	return slices.DeleteFunc(slices.Clone(stated.Objects("server_settings")), func(one *lcj.Object) bool {
		return one.Member("resolved") == nil
	})
}

func (d *Data) checkArm(arm *Arm, stated *lcj.Object, at string) *refusal.Refusal {
	if d.adapters[arm.Adapter] == nil {
		return refusal.New(badValue, at+"/adapter")
	}
	var names []string
	for _, pin := range arm.pins {
		names = append(names, pin.Text("name"))
	}
	if !slices.Equal(names, d.pins) {
		return refusal.New(underived, at+"/pins")
	}
	for i, pin := range arm.pins {
		agrees := any(nil)
		if recorded := pin.Member("recorded"); recorded != nil {
			agrees = recorded == pin.Member("observed")
		}
		if pin.Member("agrees") != agrees {
			return refusal.New(notDerived, refusal.Index(at+"/pins", i)+"/agrees")
		}
	}
	before := ""
	for i, one := range stated.Objects("server_settings") {
		if name := one.Text("name"); i > 0 && name <= before {
			return refusal.New(badValue, refusal.Index(at+"/server_settings", i)+"/name")
		}
		before = one.Text("name")
	}
	return nil
}

// Pins counts those that agree with what was recorded, and those that do not.
func Pins(arms []*Arm) (agreeing, differing int64) {
	for _, arm := range arms {
		for _, pin := range arm.pins {
			switch pin.Member("agrees") {
			case true:
				agreeing++
			case false:
				differing++
			}
		}
	}
	return agreeing, differing
}

// CheckBodies is step 2 of throughput.md.
func (d *Data) CheckBodies(bodies []*lcj.Object, pointer string) *refusal.Refusal {
	known := map[string]bool{}
	for i, body := range bodies {
		at, before := refusal.Index(pointer, i), ""
		for k, field := range body.Objects("fields") {
			name := field.Text("name")
			hidden := slices.ContainsFunc(d.unshared, func(one string) bool {
				return name == one || strings.HasPrefix(name, one+".")
			})
			if k > 0 && name <= before || hidden {
				return refusal.New(badValue, refusal.Index(at+"/fields", k)+"/name")
			}
			before = name
		}
		written := string(lcj.Encode(body))
		if known[written] {
			return refusal.New(badValue, at)
		}
		known[written] = true
	}
	return nil
}
