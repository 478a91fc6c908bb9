package lcj

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"lockstep/conformance/go/refusal"
)

const (
	// maxDepth is the number of arrays and objects that may be open ([LCJ-3]).
	maxDepth = 64
	// maxInteger is the largest magnitude of a number ([LCJ-5]).
	maxInteger = 1<<53 - 1
)

// Bytes `,` `[` `{` that a text may hold ([BYTES-5]).
const (
	EnvelopeMarks = 1_000_000
	PayloadMarks  = 1_500_000
)

// Document reads a text whose top-level value is an object and whose bytes are that value's LCJ
// encoding. noncanonical is the code of a breach of [LCJ-11], marks the bound of [BYTES-5].
func Document(text []byte, noncanonical string, marks int) (*Object, *refusal.Refusal) {
	if wellEncoded(text) && count(text) > marks {
		return nil, refusal.New("LIMIT_SIZE", "")
	}
	value, err := Parse(text)
	if err != nil {
		return nil, err
	}
	object, ok := value.(*Object)
	if !ok {
		return nil, refusal.New("NOT_AN_OBJECT", "")
	}
	if !bytes.Equal(Encode(object), text) {
		return nil, refusal.New(noncanonical, "")
	}
	return object, nil
}

// Parse reads one JSON value by BYTES-4 and LCJ-1 to LCJ-8; the first offence in reading order
// gives the code.
func Parse(text []byte) (value any, err *refusal.Refusal) {
	if !wellEncoded(text) {
		return nil, refusal.New("BAD_ENCODING", "")
	}
	r := &reader{text: text}
	r.space()
	value, code := r.value(0)
	if code == "" && r.at < len(text) {
		code = "TRAILING_DATA"
	}
	if code != "" {
		return nil, refusal.New(code, "")
	}
	return value, nil
}

// count gives the number of bytes that [BYTES-5] bounds.
func count(text []byte) int {
	found := 0
	for _, b := range text {
		if b == ',' || b == '[' || b == '{' {
			found++
		}
	}
	return found
}

// wellEncoded is [BYTES-4].
func wellEncoded(text []byte) bool {
	if bytes.HasPrefix(text, []byte{0xEF, 0xBB, 0xBF}) {
		return false
	}
	if bytes.IndexByte(text[:min(2, len(text))], 0) >= 0 {
		return false
	}
	return utf8.Valid(text)
}

// reader walks over a text once; its methods give a code, or "" where nothing is wrong.
type reader struct {
	text []byte
	at   int
}

func (r *reader) space() {
	for r.at < len(r.text) {
		switch r.text[r.at] {
		case ' ', '\t', '\n', '\r':
			r.at++
		default:
			return
		}
	}
}

// take steps over one byte if it is the next.
func (r *reader) take(c byte) bool {
	if r.at < len(r.text) && r.text[r.at] == c {
		r.at++
		return true
	}
	return false
}

func (r *reader) takeWord(word string) bool {
	if bytes.HasPrefix(r.text[r.at:], []byte(word)) {
		r.at += len(word)
		return true
	}
	return false
}

func (r *reader) value(depth int) (any, string) {
	if r.at >= len(r.text) {
		return nil, "MALFORMED_JSON"
	}
	for _, word := range []string{"NaN", "Infinity", "-Infinity"} {
		if r.takeWord(word) {
			return nil, "NUMBER_OUT_OF_PROFILE"
		}
	}
	switch c := r.text[r.at]; {
	case c == '-' || c >= '0' && c <= '9':
		return r.number()
	case c == '"':
		return r.string()
	case c == '{' || c == '[':
		if depth+1 > maxDepth {
			return nil, "LIMIT_DEPTH"
		}
		r.at++
		if c == '{' {
			return r.object(depth + 1)
		}
		return r.array(depth + 1)
	case r.takeWord("true"):
		return true, ""
	case r.takeWord("false"):
		return false, ""
	case r.takeWord("null"):
		return nil, ""
	}
	return nil, "MALFORMED_JSON"
}

func (r *reader) array(depth int) (any, string) {
	elements := []any{}
	r.space()
	if r.take(']') {
		return elements, ""
	}
	for {
		r.space()
		element, code := r.value(depth)
		if code != "" {
			return nil, code
		}
		elements = append(elements, element)
		r.space()
		if r.take(']') {
			return elements, ""
		}
		if !r.take(',') {
			return nil, "MALFORMED_JSON"
		}
	}
}

func (r *reader) object(depth int) (any, string) {
	object := NewObject()
	r.space()
	if r.take('}') {
		return object, ""
	}
	for {
		r.space()
		if r.at >= len(r.text) || r.text[r.at] != '"' {
			return nil, "MALFORMED_JSON"
		}
		name, code := r.string()
		if code != "" {
			return nil, code
		}
		if _, known := object.Get(name); known {
			return nil, "DUPLICATE_KEY"
		}
		r.space()
		if !r.take(':') {
			return nil, "MALFORMED_JSON"
		}
		r.space()
		value, code := r.value(depth)
		if code != "" {
			return nil, code
		}
		object.Set(name, value)
		r.space()
		if r.take('}') {
			return object, ""
		}
		if !r.take(',') {
			return nil, "MALFORMED_JSON"
		}
	}
}

// number is [LCJ-5], point 2.
func (r *reader) number() (any, string) {
	start := r.at
	for r.at < len(r.text) && strings.IndexByte("0123456789+-.eE", r.text[r.at]) >= 0 {
		r.at++
	}
	lexeme := string(r.text[start:r.at])
	integer, rest := digits(strings.TrimPrefix(lexeme, "-"))
	if integer == "" || len(integer) > 1 && integer[0] == '0' || !fractionAndExponent(rest) {
		return nil, "MALFORMED_JSON"
	}
	// 2^53 - 1 has 16 digits.
	if rest != "" || lexeme == "-0" || len(integer) > 16 {
		return nil, "NUMBER_OUT_OF_PROFILE"
	}
	var n int64
	for _, c := range integer {
		n = n*10 + int64(c-'0')
	}
	if n > maxInteger {
		return nil, "NUMBER_OUT_OF_PROFILE"
	}
	if lexeme[0] == '-' {
		n = -n
	}
	return n, ""
}

// digits splits leading ASCII digits off.
func digits(s string) (string, string) {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return s[:n], s[n:]
}

// fractionAndExponent says whether s is `(\.[0-9]+)?([eE][+-]?[0-9]+)?`.
func fractionAndExponent(s string) bool {
	if strings.HasPrefix(s, ".") {
		fraction, rest := digits(s[1:])
		if fraction == "" {
			return false
		}
		s = rest
	}
	if s == "" {
		return true
	}
	if s[0] != 'e' && s[0] != 'E' {
		return false
	}
	s = s[1:]
	if s != "" && (s[0] == '+' || s[0] == '-') {
		s = s[1:]
	}
	exponent, rest := digits(s)
	return exponent != "" && rest == ""
}
