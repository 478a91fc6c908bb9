package lcj

import (
	"strings"
	"testing"
)

func TestFirstOffence(t *testing.T) {
	for text, code := range map[string]string{
		``:                             "MALFORMED_JSON",
		"\xef\xbb\xbf{}":               "BAD_ENCODING",
		"{\x00}":                       "BAD_ENCODING",
		"{\"a\":\"\xed\xa0\x80\"}":     "BAD_ENCODING",
		"{}\n":                         "TRAILING_DATA",
		`[truex]`:                      "MALFORMED_JSON",
		`[-Infinityx`:                  "NUMBER_OUT_OF_PROFILE",
		`[01]`:                         "MALFORMED_JSON",
		`[1-2]`:                        "MALFORMED_JSON",
		`[-0]`:                         "NUMBER_OUT_OF_PROFILE",
		`[1.0]`:                        "NUMBER_OUT_OF_PROFILE",
		`[9007199254740992]`:           "NUMBER_OUT_OF_PROFILE",
		`{"a":1,"\u0061"x`:             "DUPLICATE_KEY",
		`["\ud800"]`:                   "BAD_UNICODE",
		`["\ude00\ud800"]`:             "BAD_UNICODE",
		`["\ud800\ud800\udc00"]`:       "BAD_UNICODE",
		`["\ud800`:                     "MALFORMED_JSON",
		`[1,]`:                         "MALFORMED_JSON",
		`{"a":1,}`:                     "MALFORMED_JSON",
		strings.Repeat("[", 100000):    "LIMIT_DEPTH",
		`[]`:                           "NOT_AN_OBJECT",
		`{"a": 1}`:                     "SPACED",
		`{"b":1,"a":1}`:                "SPACED",
		`{"a":"\u0041"}`:               "SPACED",
		`{"` + "\uffff" + `":1,"😀":1}`: "SPACED",
	} {
		_, err := Document([]byte(text), "SPACED", PayloadMarks)
		if err == nil || err.Code != code {
			t.Errorf("%.40q: got %v, want %s", text, err, code)
		}
	}
}

func TestCanonicalTextsAreReadAndWrittenAlike(t *testing.T) {
	deep := strings.Repeat("[", 63) + strings.Repeat("]", 63)
	for _, text := range []string{
		`{}`,
		`{"a":` + deep + `}`,
		`{"a":[-9007199254740991,true,false,null,"\u0000\b\t\n\f\r\u001f\"\\/` + "\u007f\u2028é" + `"]}`,
		`{"😀":1,"` + "\uffff" + `":1}`,
	} {
		object, err := Document([]byte(text), "SPACED", PayloadMarks)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if got := string(Encode(object)); got != text {
			t.Errorf("got %q, want %q", got, text)
		}
	}
}
