package lcj

import (
	"strings"
	"unicode/utf8"
)

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
