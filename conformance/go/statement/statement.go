// Package statement reads in-toto statements (certificate.md, STMT-1 to STMT-10).
package statement

import (
	"lockstep/conformance/go/envelope"
	"lockstep/conformance/go/lcj"
	"lockstep/conformance/go/moment"
	"lockstep/conformance/go/refusal"
	"lockstep/conformance/go/schema"
)

// Type is the `_type` that [STMT-2] admits.
const Type = "https://in-toto.io/Statement/v1"

// outer is [STMT-1] as a schema.
var outer = func() *schema.Schema {
	made, err := schema.New([]byte(`{
		"type": "object", "additionalProperties": false,
		"required": ["_type", "subject", "predicateType", "predicate"],
		"properties": {
			"_type": {"type": "string"},
			"predicate": {"type": "object"},
			"predicateType": {"type": "string"},
			"subject": {"type": "array", "minItems": 1, "maxItems": 64, "items": {
				"type": "object", "additionalProperties": false, "required": ["name", "digest"],
				"properties": {
					"digest": {"type": "object"},
					"name": {"type": "string", "minLength": 1, "maxLength": 200}
				}
			}}
		}
	}`))
	if err != nil {
		panic(err)
	}
	return made
}()

// Subject is a subject of a statement.
type Subject struct {
	Name, Sha256 string
}

// Statement is a statement that has passed stage 6.
type Statement struct {
	PredicateType string
	Subjects      []Subject
	Predicate     *lcj.Object
	// Whole is the statement as it was read.
	Whole *lcj.Object
	// IssuedAt is a time of package moment.
	IssuedAt int64
}

// Kind is what a kind of certificate gives to the reading of a statement.
type Kind struct {
	Schema     *schema.Schema
	SpecDigest string
}

// Read is stages 5 and 6 over a payload. kinds is keyed by predicate type.
func Read(payload []byte, kinds map[string]Kind) (*Statement, *refusal.Refusal) {
	object, err := lcj.Document(payload, "NONCANONICAL_PAYLOAD", lcj.PayloadMarks)
	if err != nil {
		return nil, err
	}
	if err := outer.Check(object, ""); err != nil {
		return nil, err
	}
	if object.Text("_type") != Type {
		return nil, refusal.New("STATEMENT_TYPE", "/_type")
	}
	kind, known := kinds[object.Text("predicateType")]
	if !known {
		return nil, refusal.New("PREDICATE_UNKNOWN", "/predicateType")
	}
	subjects, err := readSubjects(object.Member("subject").([]any))
	if err != nil {
		return nil, err
	}
	predicate := object.Object("predicate")
	if err := checkCritical(predicate); err != nil {
		return nil, err
	}
	if err := kind.Schema.Check(predicate, "/predicate"); err != nil {
		return nil, err
	}
	issuedAt, err := readIssuedAt(predicate)
	if err != nil {
		return nil, err
	}
	return &Statement{object.Text("predicateType"), subjects, predicate, object, issuedAt}, nil
}

// readSubjects is [STMT-4].
func readSubjects(list []any) ([]Subject, *refusal.Refusal) {
	var subjects []Subject
	names := map[string]bool{}
	for i, element := range list {
		pointer := refusal.Index("/subject", i)
		entry := element.(*lcj.Object)
		name := entry.Text("name")
		if names[name] {
			return nil, refusal.New("BAD_VALUE", pointer+"/name")
		}
		names[name] = true
		digest := entry.Object("digest")
		if _, ok := digest.Get("sha256"); !ok {
			return nil, refusal.New("WEAK_DIGEST", pointer+"/digest")
		}
		for _, algorithm := range digest.Sorted() {
			at := refusal.At(pointer+"/digest", algorithm)
			value, ok := digest.Member(algorithm).(string)
			if !ok {
				return nil, refusal.New("WRONG_TYPE", at)
			}
			least, most := 2, 128
			if algorithm == "sha256" {
				least, most = 64, 64
			}
			if !envelope.IsHex(value, least, most) {
				return nil, refusal.New("BAD_VALUE", at)
			}
		}
		subjects = append(subjects, Subject{name, digest.Text("sha256")})
	}
	return subjects, nil
}

// checkCritical is [STMT-5]; version 1 knows no extension.
func checkCritical(predicate *lcj.Object) *refusal.Refusal {
	list, ok := predicate.Member("critical").([]any)
	if !ok {
		return nil
	}
	for i, element := range list {
		if _, ok := element.(string); ok {
			return refusal.New("UNKNOWN_CRITICAL", refusal.Index("/predicate/critical", i))
		}
	}
	return nil
}

// readIssuedAt is the end of [STMT-6], and [STMT-7].
func readIssuedAt(predicate *lcj.Object) (int64, *refusal.Refusal) {
	for _, name := range []string{"issued_at", "critical"} {
		if _, ok := predicate.Get(name); !ok {
			return 0, refusal.New("MISSING_FIELD", "/predicate/"+name)
		}
	}
	written, ok := predicate.Member("issued_at").(string)
	if !ok {
		return 0, refusal.New("WRONG_TYPE", "/predicate/issued_at")
	}
	at, ok := moment.Parse(written)
	if !ok {
		return 0, refusal.New("BAD_VALUE", "/predicate/issued_at")
	}
	return at, nil
}

// CheckSubjects is stage 8: [STMT-8], then [STMT-10] where subjectDigest is not empty.
func (s *Statement) CheckSubjects(specDigest, subjectDigest string) *refusal.Refusal {
	if err := s.CheckSubject("spec", specDigest); err != nil {
		return err
	}
	if subjectDigest == "" {
		return nil
	}
	for _, subject := range s.Subjects {
		if subject.Sha256 == subjectDigest {
			return nil
		}
	}
	return refusal.Expecting("SUBJECT_MISMATCH", "/subject", "a subject "+subjectDigest, "none")
}

// CheckSubject demands a subject of a name with a sha256.
func (s *Statement) CheckSubject(name, sha256 string) *refusal.Refusal {
	for i, subject := range s.Subjects {
		if subject.Name != name {
			continue
		}
		if subject.Sha256 != sha256 {
			pointer := refusal.Index("/subject", i) + "/digest/sha256"
			return refusal.Expecting("SUBJECT_MISMATCH", pointer, sha256, subject.Sha256)
		}
		return nil
	}
	return refusal.Expecting("SUBJECT_MISMATCH", "/subject", "a subject named "+name, "none")
}
