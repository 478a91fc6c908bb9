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

// Document reads a text whose top-level value is an object and whose bytes are that value's LCJ
// encoding. noncanonical is the code of a breach of [LCJ-11].
func Document(text []byte, noncanonical string) (*Object, *refusal.Refusal) {
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

// string reads a string from its opening quote on ([LCJ-6], [LCJ-7]).
func (r *reader) string() (string, string) {
	r.at++
	var out []byte
	lone := false
	// high is a high surrogate whose escape has just ended, or 0.
	var high rune
	for r.at < len(r.text) {
		c := r.text[r.at]
		if c == '\\' {
			unit, isUnit, code := r.escape()
			if code != "" {
				return "", code
			}
			switch {
			case isUnit && high != 0 && unit >= 0xDC00 && unit <= 0xDFFF:
				out = utf8.AppendRune(out, 0x10000+(high-0xD800)<<10+(unit-0xDC00))
				high = 0
			case isUnit && unit >= 0xD800 && unit <= 0xDBFF:
				lone = lone || high != 0
				high = unit
			default:
				lone = lone || high != 0 || isUnit && unit >= 0xDC00 && unit <= 0xDFFF
				high = 0
				out = utf8.AppendRune(out, unit)
			}
			continue
		}
		lone = lone || high != 0
		high = 0
		if c < 0x20 {
			return "", "MALFORMED_JSON"
		}
		if c == '"' {
			r.at++
			if lone {
				return "", "BAD_UNICODE"
			}
			return string(out), ""
		}
		start := r.at
		for r.at < len(r.text) && r.text[r.at] >= 0x20 && r.text[r.at] != '"' && r.text[r.at] != '\\' {
			r.at++
		}
		out = append(out, r.text[start:r.at]...)
	}
	return "", "MALFORMED_JSON"
}

// escape reads one escape from its backslash on; isUnit says that it was of the \uXXXX form.
func (r *reader) escape() (unit rune, isUnit bool, code string) {
	if r.at+1 >= len(r.text) {
		return 0, false, "MALFORMED_JSON"
	}
	c := r.text[r.at+1]
	r.at += 2
	if i := strings.IndexByte(`"\/bfnrt`, c); i >= 0 {
		return rune("\"\\/\b\f\n\r\t"[i]), false, ""
	}
	if c != 'u' || r.at+4 > len(r.text) {
		return 0, false, "MALFORMED_JSON"
	}
	for _, digit := range r.text[r.at : r.at+4] {
		var nibble byte
		switch {
		case digit >= '0' && digit <= '9':
			nibble = digit - '0'
		case digit >= 'a' && digit <= 'f':
			nibble = digit - 'a' + 10
		case digit >= 'A' && digit <= 'F':
			nibble = digit - 'A' + 10
		default:
			return 0, false, "MALFORMED_JSON"
		}
		unit = unit<<4 | rune(nibble)
	}
	r.at += 4
	return unit, true, ""
}
