// Package refusal holds the one error type by which a document is refused.
package refusal

import (
	"strconv"
	"strings"
)

// Refusal is a code of spec/errors.json with the place of the offence.
type Refusal struct {
	// Code stands in spec/errors.json.
	Code string
	// Pointer is an RFC 6901 pointer ([OUT-3]), empty for the whole document.
	Pointer string
	// Expected and Got are for people and are not compared between implementations.
	Expected, Got string
}

// Error gives the code and the pointer.
func (r *Refusal) Error() string {
	if r.Pointer == "" {
		return r.Code
	}
	return r.Code + " at " + r.Pointer
}

// New makes a refusal at a pointer.
func New(code, pointer string) *Refusal {
	return &Refusal{Code: code, Pointer: pointer}
}

// Expecting makes a refusal that says what was expected and what was found.
func Expecting(code, pointer, expected, got string) *Refusal {
	return &Refusal{Code: code, Pointer: pointer, Expected: expected, Got: got}
}

var escaper = strings.NewReplacer("~", "~0", "/", "~1")

// At appends a member's name to a pointer, escaped by RFC 6901.
func At(pointer, name string) string {
	return pointer + "/" + escaper.Replace(name)
}

// Index appends an array index to a pointer.
func Index(pointer string, index int) string {
	return pointer + "/" + strconv.Itoa(index)
}
