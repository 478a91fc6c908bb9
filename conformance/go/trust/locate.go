package trust

import (
	"os"
	"path/filepath"

	"lockstep/conformance/go/document"
	"lockstep/conformance/go/lcj"
	"lockstep/conformance/go/refusal"
	"lockstep/conformance/go/schema"
	"lockstep/conformance/go/specification"
)

// Locate is stage 0 of [ORDER-1]: it finds the policy ([TRUST-1], [TRUST-2]), reads it, and
// compares and remembers its version (TRUST-7, TRUST-9). path and state are empty where the
// command line names none. Policy and refusal are both nil where there is no policy.
func Locate(path, state string, policySchema *schema.Schema, clock int64) (*Policy, *refusal.Refusal) {
	if path == "" {
		path = filepath.Join(userFolder("XDG_CONFIG_HOME", ".config"), "lockstep", "trust.json")
		if document.Missing(path) {
			return nil, nil
		}
	}
	data, err := document.Read(path, document.PolicyLimit)
	if err != nil {
		return nil, invalid("", err.Code)
	}
	if state == "" {
		state = filepath.Join(userFolder("XDG_STATE_HOME", filepath.Join(".local", "state")), "lockstep")
	}
	memory := filepath.Join(state, "policy-"+specification.Sha256([]byte(resolved(path)))+".json")
	last, readable := lastVersion(memory)
	policy, err := Read(data, policySchema, clock, last)
	if err != nil && err.Code != "POLICY_EXPIRED" {
		return nil, err
	}
	if !readable {
		return nil, refusal.New("POLICY_ROLLBACK", "/version")
	}
	if err != nil {
		return nil, err
	}
	if last == nil || policy.Version > *last {
		remember(state, memory, policy.Version)
	}
	return policy, nil
}

// userFolder is a folder of the XDG base directories by the rule of [TRUST-1].
func userFolder(variable, standard string) string {
	if folder := os.Getenv(variable); filepath.IsAbs(folder) {
		return folder
	}
	return filepath.Join(os.Getenv("HOME"), standard)
}

func resolved(path string) string {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	if linkless, err := filepath.EvalSymlinks(absolute); err == nil {
		return linkless
	}
	return absolute
}

// lastVersion reads the last version seen, nil where none was; false where the state cannot be
// read.
func lastVersion(memory string) (*int64, bool) {
	if document.Missing(memory) {
		return nil, true
	}
	data, err := document.Read(memory, document.PolicyLimit)
	if err != nil {
		return nil, false
	}
	object, err := lcj.Document(data, "NONCANONICAL_ENVELOPE", lcj.PayloadMarks)
	if err != nil || object.Len() != 1 {
		return nil, false
	}
	version, ok := object.Member("version").(int64)
	return &version, ok
}

// remember is [TRUST-9]; verification goes on where nothing can be written.
func remember(state, memory string, version int64) {
	content := lcj.Encode(lcj.NewObject().Set("version", version))
	err := os.MkdirAll(state, 0o700)
	if err == nil {
		err = os.WriteFile(memory+".new", content, 0o600)
	}
	if err == nil {
		err = os.Rename(memory+".new", memory)
	}
	if err != nil {
		os.Stderr.WriteString("the policy's version could not be remembered\n")
	}
}
