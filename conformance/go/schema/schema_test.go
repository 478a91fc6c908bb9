package schema

import (
	"testing"

	"lockstep/conformance/go/lcj"
)

func TestOrderOfOffences(t *testing.T) {
	made, err := New([]byte(`{"type":"object","additionalProperties":false,"required":["b","a"],
		"properties":{"a":{"$ref":"#/$defs/n"},"b":{"type":["string","null"],"maxLength":2,"pattern":"^a|bc$"}},
		"$defs":{"n":{"type":"integer","enum":[1,2]}}}`))
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		`{"a":1,"b":"a"}`:        "",
		`{"a":1,"b":null}`:       "",
		`[]`:                     "WRONG_TYPE",
		`{"a":1,"c":1}`:          "UNKNOWN_FIELD at /c",
		`{}`:                     "MISSING_FIELD at /b",
		`{"a":true,"b":"a"}`:     "WRONG_TYPE at /a",
		`{"a":3,"b":"zz"}`:       "BAD_VALUE at /a",
		`{"a":1,"b":"a\n"}`:      "BAD_VALUE at /b",
		`{"a":1,"b":"xbc"}`:      "BAD_VALUE at /b",
		`{"a":1,"b":"a","~/":1}`: "UNKNOWN_FIELD at /~0~1",
	} {
		value, fault := lcj.Parse([]byte(text))
		if fault != nil {
			t.Fatal(fault)
		}
		got := ""
		if refused := made.Check(value, ""); refused != nil {
			got = refused.Error()
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}
