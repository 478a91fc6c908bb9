// Package specification reads the data of a `spec/` folder.
package specification

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"lockstep/conformance/go/lcj"
	"lockstep/conformance/go/schema"
)

// Specification is what this verifier takes from `spec/`: no rule is copied into the program
// where the specification gives it as data.
type Specification struct {
	// Exit is the exit status of each code of errors.json.
	Exit map[string]int
	// Meaning and Action are the texts of each code, for people.
	Meaning, Action map[string]string
	// Trust is the schema of the policy.
	Trust *schema.Schema

	folder string
}

// Load reads a `spec/` folder.
func Load(folder string) (*Specification, error) {
	spec := &Specification{
		Exit: map[string]int{}, Meaning: map[string]string{}, Action: map[string]string{},
		folder: folder,
	}
	registry, err := spec.Object("errors.json")
	if err != nil {
		return nil, err
	}
	codes, _ := registry.Get("codes")
	for _, element := range codes.([]any) {
		entry := element.(*lcj.Object)
		code, _ := entry.Get("code")
		exit, _ := entry.Get("exit")
		meaning, _ := entry.Get("meaning")
		action, _ := entry.Get("action")
		spec.Exit[code.(string)] = int(exit.(int64))
		spec.Meaning[code.(string)] = meaning.(string)
		spec.Action[code.(string)] = action.(string)
	}
	spec.Trust, err = spec.Schema("trust")
	return spec, err
}

// Bytes reads a file of the folder; a file that does not exist gives nil and no error.
func (s *Specification) Bytes(path string) ([]byte, error) {
	data, err := os.ReadFile(filepath.Join(s.folder, filepath.FromSlash(path)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return data, err
}

// Object reads a JSON file of the folder.
func (s *Specification) Object(path string) (*lcj.Object, error) {
	data, err := s.Bytes(path)
	if err != nil {
		return nil, err
	}
	value, refused := lcj.Parse([]byte(strings.TrimSpace(string(data))))
	if refused != nil {
		return nil, fmt.Errorf("%s in %s: %w", path, s.folder, refused)
	}
	object, ok := value.(*lcj.Object)
	if !ok {
		return nil, fmt.Errorf("%s in %s is no object", path, s.folder)
	}
	return object, nil
}

// Schema reads `schemas/<name>.schema.json`.
func (s *Specification) Schema(name string) (*schema.Schema, error) {
	data, err := s.Bytes("schemas/" + name + ".schema.json")
	if err != nil {
		return nil, err
	}
	return schema.New(data)
}

// Digest is the spec digest of a kind ([STMT-9]), over those of the given paths that exist.
func (s *Specification) Digest(paths ...string) (string, error) {
	digests := lcj.NewObject()
	for _, path := range paths {
		data, err := s.Bytes(path)
		if err != nil {
			return "", err
		}
		if data != nil {
			digests.Set(path, Sha256(data))
		}
	}
	return Sha256(lcj.Encode(digests)), nil
}

// Sha256 gives the hex SHA-256 of bytes.
func Sha256(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
