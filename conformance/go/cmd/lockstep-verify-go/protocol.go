package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"lockstep/conformance/go/document"
	"lockstep/conformance/go/ed25519x"
	"lockstep/conformance/go/envelope"
	"lockstep/conformance/go/hunt"
	"lockstep/conformance/go/kind"
	"lockstep/conformance/go/lcj"
	"lockstep/conformance/go/moment"
	"lockstep/conformance/go/refusal"
	"lockstep/conformance/go/specification"
	"lockstep/conformance/go/trust"
	"lockstep/conformance/go/verify"
)

// errUnsupported is the outcome of an op that this implementation lacks.
var errUnsupported = errors.New("unsupported")

// serve answers requests, one a line, until the input ends (conformance/README.md).
func serve(verifier *verify.Verifier, in io.Reader, out io.Writer) error {
	reader := bufio.NewReaderSize(in, 1<<20)
	for {
		line, err := reader.ReadBytes('\n')
		if len(line) > 0 {
			answer := append(lcj.Encode(answerLine(verifier, line)), '\n')
			if _, err := out.Write(answer); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// answerLine answers one request; a fault of the program is the answer INTERNAL.
func answerLine(verifier *verify.Verifier, line []byte) (answer *lcj.Object) {
	id := any(nil)
	defer func() {
		if fault := recover(); fault != nil {
			fmt.Fprintln(os.Stderr, "internal fault:", fault)
			answer = refused(id, refusal.New("INTERNAL", ""))
		}
	}()
	value, err := lcj.Parse(line[:len(line)-1])
	if err != nil {
		return refused(nil, refusal.New("INTERNAL", ""))
	}
	request := value.(*lcj.Object)
	id = request.Member("id")
	values, fault := runOp(verifier, request)
	var err2 *refusal.Refusal
	switch {
	case fault == nil:
		answer = lcj.NewObject().Set("id", id).Set("result", "ok").Set("code", "OK")
	case errors.As(fault, &err2):
		answer = refused(id, err2)
	default:
		return lcj.NewObject().Set("id", id).Set("result", "unsupported")
	}
	if values != nil {
		answer.Set("value", values)
	}
	return answer
}

func refused(id any, err *refusal.Refusal) *lcj.Object {
	return lcj.NewObject().Set("id", id).Set("result", "refused").
		Set("code", err.Code).Set("pointer", err.Pointer)
}

// outcome makes an error of a refusal that may be nil.
func outcome(err *refusal.Refusal) error {
	if err == nil {
		return nil
	}
	return err
}

func runOp(verifier *verify.Verifier, request *lcj.Object) (*lcj.Object, error) {
	switch request.Text("op") {
	case "read":
		data, err := document.Read(request.Text("path"), request.Int("limit"))
		if err != nil {
			return nil, err
		}
		return lcj.NewObject().Set("sha256", specification.Sha256(data)), nil
	case "lcj":
		code, marks := "NONCANONICAL_ENVELOPE", lcj.EnvelopeMarks
		if request.Text("role") == "payload" {
			code, marks = "NONCANONICAL_PAYLOAD", lcj.PayloadMarks
		}
		_, err := lcj.Document(input(request, "data"), code, marks)
		return nil, outcome(err)
	case "envelope":
		signed, err := envelope.Read(input(request, "envelope"), envelope.DefaultLimits)
		if err != nil {
			return nil, err
		}
		keyIDs := []any{}
		for _, signature := range signed.Signatures {
			keyIDs = append(keyIDs, signature.KeyID)
		}
		return lcj.NewObject().Set("payload_sha256", specification.Sha256(signed.Payload)).
			Set("keyids", keyIDs), nil
	case "pae":
		encoding := ed25519x.PreAuthentication(envelope.PayloadType, input(request, "payload"))
		return lcj.NewObject().Set("sha256", specification.Sha256(encoding)), nil
	case "ed25519":
		return nil, outcome(checkSignature(input(request, "public"), input(request, "message"),
			input(request, "signature")))
	case "keyid":
		return lcj.NewObject().Set("keyid", ed25519x.KeyID(input(request, "public"))), nil
	case "policy":
		_, err := readPolicy(verifier, request)
		return nil, outcome(err)
	case "statement":
		_, err := verifier.Statement(input(request, "payload"), subjectDigest(request))
		return nil, outcome(err)
	case "verdict":
		frontier, _ := request.Member("frontier_code").(string)
		verdict := hunt.Verdict(frontier, request.List("observations"))
		return lcj.NewObject().Set("verdict", verdict), nil
	case "admit":
		return judge(verifier, request, "envelope", verifier.Admit)
	case "certificate":
		return judge(verifier, request, "certificate", verifier.Certificate)
	}
	return runSampling(verifier.Spec, request)
}

// judge runs the ops that take a policy.
func judge(
	verifier *verify.Verifier, request *lcj.Object, name string,
	run func([]byte, verify.Request) verify.Result,
) (*lcj.Object, error) {
	policy, err := readPolicy(verifier, request)
	if err != nil {
		return nil, err
	}
	evidence, remove := evidenceOf(request)
	defer remove()
	result := run(input(request, name), verify.Request{
		Policy: policy, Clock: clock(request), SubjectDigest: subjectDigest(request), Evidence: evidence,
	})
	values := lcj.NewObject().Set("signers", lcj.Array(result.Signers)).Set("unknown_signatures", result.Unknown)
	if name == "certificate" {
		values.Set("verdict", orNull(result.Verdict)).Set("counts", countsObject(result.Counts)).
			Set("rederivation", orNull(result.Rederivation))
	}
	return values, outcome(result.Refusal)
}

// checkSignature is the op `ed25519`.
func checkSignature(public, message, signature []byte) *refusal.Refusal {
	code := ""
	switch {
	case len(public) != ed25519x.KeySize:
		code = "POLICY_INVALID"
	case ed25519x.Weak(public):
		code = "WEAK_KEY"
	case len(signature) != ed25519x.SignatureSize:
		code = "SIGNATURE_SHAPE"
	default:
		code = ed25519x.CheckForm(signature)
		if code == "" && !ed25519x.Verify(public, message, signature) {
			code = "SIGNATURE_INVALID"
		}
	}
	if code == "" {
		return nil
	}
	return refusal.New(code, "")
}

// readPolicy reads a request's policy; a null one is absent.
func readPolicy(verifier *verify.Verifier, request *lcj.Object) (*trust.Policy, *refusal.Refusal) {
	if request.Member("policy") == nil {
		return nil, nil
	}
	var last *int64
	if version, ok := request.Member("last_version").(int64); ok {
		last = &version
	}
	return trust.Read(input(request, "policy"), verifier.Spec.Trust, clock(request), last)
}

// input gives an input of type bytes.
func input(request *lcj.Object, name string) []byte {
	return decode(request.Text(name))
}

func decode(text string) []byte {
	data, ok := envelope.Base64(text)
	if !ok {
		panic("a request's bytes are no base64")
	}
	return data
}

func clock(request *lcj.Object) int64 {
	at, ok := moment.Parse(request.Text("at"))
	if !ok {
		panic("a request's clock is no time")
	}
	return at
}

func subjectDigest(request *lcj.Object) string {
	if request.Member("subject") == nil {
		return ""
	}
	return specification.Sha256(input(request, "subject"))
}

// evidenceOf writes a request's evidence into a folder of its own, so that it is read as files
// are. The second value removes the folder.
func evidenceOf(request *lcj.Object) (kind.Evidence, func()) {
	files, ok := request.Member("evidence").(*lcj.Object)
	if !ok {
		return nil, func() {}
	}
	folder, err := os.MkdirTemp("", "lockstep-evidence-")
	if err != nil {
		panic(err)
	}
	for _, name := range files.Names() {
		if !filepath.IsLocal(name) {
			panic("evidence outside its folder: " + name)
		}
		path := filepath.Join(folder, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			panic(err)
		}
		if err := os.WriteFile(path, decode(files.Text(name)), 0o600); err != nil {
			panic(err)
		}
	}
	return document.Folder(folder), func() { os.RemoveAll(folder) }
}

func orNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}

func countsObject(counts map[string]int64) any {
	if counts == nil {
		return nil
	}
	object := lcj.NewObject()
	for name, count := range counts {
		object.Set(name, count)
	}
	return object
}
