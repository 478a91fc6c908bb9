package lcj

import (
	"fmt"
	"strconv"
)

const hexDigits = "0123456789abcdef"

// Encode gives the LCJ encoding of a value ([LCJ-10]).
func Encode(value any) []byte {
	return appendValue(nil, value)
}

func appendValue(out []byte, value any) []byte {
	switch v := value.(type) {
	case nil:
		return append(out, "null"...)
	case bool:
		return strconv.AppendBool(out, v)
	case int64:
		return strconv.AppendInt(out, v, 10)
	case string:
		return appendString(out, v)
	case []any:
		out = append(out, '[')
		for i, element := range v {
			if i > 0 {
				out = append(out, ',')
			}
			out = appendValue(out, element)
		}
		return append(out, ']')
	case *Object:
		out = append(out, '{')
		for i, name := range v.Sorted() {
			if i > 0 {
				out = append(out, ',')
			}
			out = append(appendString(out, name), ':')
			out = appendValue(out, v.members[name])
		}
		return append(out, '}')
	}
	panic(fmt.Sprintf("lcj: %T is no value", value))
}

func appendString(out []byte, s string) []byte {
	out = append(out, '"')
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			out = append(out, '\\', c)
		case c >= 0x20:
			out = append(out, c)
		case c == '\b':
			out = append(out, '\\', 'b')
		case c == '\f':
			out = append(out, '\\', 'f')
		case c == '\n':
			out = append(out, '\\', 'n')
		case c == '\r':
			out = append(out, '\\', 'r')
		case c == '\t':
			out = append(out, '\\', 't')
		default:
			out = append(out, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
	}
	return append(out, '"')
}
