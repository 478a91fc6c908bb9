// Package environment judges environment tuples (environment.md).
package environment

import (
	"slices"
	"strings"

	"lockstep/conformance/go/envelope"
	"lockstep/conformance/go/lcj"
	"lockstep/conformance/go/refusal"
	"lockstep/conformance/go/specification"
)

const (
	badValue   = "BAD_VALUE"
	missing    = "MISSING_FIELD"
	mismatched = "ENVIRONMENT_MISMATCH"
)

// File is the data's path in the specification.
const File = "environment.json"

// Data is environment.json.
type Data struct {
	variables, always, unbound []string
	backends                   *lcj.Object
}

// Read reads the data.
func Read(spec *specification.Specification) (*Data, error) {
	data, err := spec.Object(File)
	if err != nil {
		return nil, err
	}
	return &Data{
		data.Texts("variables"), data.Texts("always"), data.Texts("unbound"), data.Object("backends"),
	}, nil
}

// Effective is what was in force.
type Effective struct {
	Backend, Dtype string
	// Resolved are all settings by name.
	Resolved map[string]string
}

// Check is [TUPLE-6] for the tuple at a pointer.
func (d *Data) Check(tuple *lcj.Object, pointer string) (Effective, *refusal.Refusal) {
	requested, resolved := tuple.Objects("requested"), tuple.Objects("resolved")
	if err := checkOrder(requested, pointer+"/requested"); err != nil {
		return Effective{}, err
	}
	if err := checkOrder(resolved, pointer+"/resolved"); err != nil {
		return Effective{}, err
	}
	if err := d.checkRequested(requested, pointer+"/requested"); err != nil {
		return Effective{}, err
	}
	backend, err := d.checkNames(resolved, pointer+"/resolved")
	if err != nil {
		return Effective{}, err
	}
	if err := d.checkResolved(backend, requested, resolved, pointer+"/resolved"); err != nil {
		return Effective{}, err
	}
	if digest := bindingDigest(resolved); tuple.Text("binding_sha256") != digest {
		return Effective{}, refusal.Expecting(
			mismatched, pointer+"/binding_sha256", digest, tuple.Text("binding_sha256"))
	}
	values := map[string]string{}
	for _, setting := range resolved {
		values[setting.Text("name")] = setting.Text("value")
	}
	return Effective{backend, values["dtype"], values}, nil
}

// checkOrder is step 1 for one list.
func checkOrder(settings []*lcj.Object, pointer string) *refusal.Refusal {
	for i := 1; i < len(settings); i++ {
		if settings[i].Text("name") <= settings[i-1].Text("name") {
			return refusal.New(badValue, refusal.Index(pointer, i)+"/name")
		}
	}
	return nil
}

// find gives the place of a setting, or -1.
func find(settings []*lcj.Object, name string) int {
	return slices.IndexFunc(settings, func(s *lcj.Object) bool { return s.Text("name") == name })
}

// checkRequested is step 2.
func (d *Data) checkRequested(requested []*lcj.Object, pointer string) *refusal.Refusal {
	for _, name := range []string{"backend", "dtype"} {
		if find(requested, name) < 0 {
			return refusal.Expecting(missing, pointer, name, "none")
		}
	}
	for i, setting := range requested {
		name := setting.Text("name")
		if name != "backend" && name != "dtype" && !slices.Contains(d.variables, name) {
			return refusal.New(badValue, refusal.Index(pointer, i)+"/name")
		}
	}
	return nil
}

// checkNames is steps 3 and 4; it gives the backend.
func (d *Data) checkNames(resolved []*lcj.Object, pointer string) (string, *refusal.Refusal) {
	at := find(resolved, "backend")
	if at < 0 {
		return "", refusal.Expecting(missing, pointer, "backend", "none")
	}
	backend := resolved[at].Text("value")
	if _, known := d.backends.Get(backend); !known {
		return "", refusal.New(badValue, refusal.Index(pointer, at)+"/value")
	}
	for _, name := range d.Demanded(backend) {
		if find(resolved, name) < 0 {
			return "", refusal.Expecting(missing, pointer, name, "none")
		}
	}
	return backend, nil
}

// Demanded are the names of [TUPLE-3] for a backend, in the order of the data.
func (d *Data) Demanded(backend string) []string {
	return slices.Concat(d.always, d.backends.Object(backend).Texts("also"))
}

// Binds is [TUPLE-4]'s of a name.
func (d *Data) Binds(backend, name string) bool {
	declared := d.backends.Object(backend)
	if _, listed := declared.Get("binds"); listed {
		return slices.Contains(declared.Texts("binds"), name)
	}
	return !slices.Contains(d.unbound, name)
}

// checkResolved is steps 5 to 7.
func (d *Data) checkResolved(
	backend string, requested, resolved []*lcj.Object, pointer string,
) *refusal.Refusal {
	for i, setting := range resolved {
		if setting.Bool("binds") != d.Binds(backend, setting.Text("name")) {
			return refusal.New(badValue, refusal.Index(pointer, i)+"/binds")
		}
	}
	for _, name := range []string{"backend", "dtype"} {
		at := find(resolved, name)
		asked, got := requested[find(requested, name)].Text("value"), resolved[at].Text("value")
		if asked != "default" && asked != got {
			return refusal.Expecting(mismatched, refusal.Index(pointer, at)+"/value", asked, got)
		}
	}
	for i, setting := range resolved {
		if strings.HasSuffix(setting.Text("name"), "_sha256") &&
			!envelope.IsHex(setting.Text("value"), 64, 64) {
			return refusal.New(badValue, refusal.Index(pointer, i)+"/value")
		}
	}
	return nil
}

// bindingDigest is [TUPLE-4]'s.
func bindingDigest(resolved []*lcj.Object) string {
	binding := lcj.NewObject()
	for _, setting := range resolved {
		if setting.Bool("binds") {
			binding.Set(setting.Text("name"), setting.Text("value"))
		}
	}
	return specification.Sha256(lcj.Encode(binding))
}
