// Command lockstep-verify-go verifies Lockstep certificates. It is written from `spec/` alone and
// shares no line with the Python verifier.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"lockstep/conformance/go/document"
	"lockstep/conformance/go/moment"
	"lockstep/conformance/go/refusal"
	"lockstep/conformance/go/specification"
	"lockstep/conformance/go/trust"
	"lockstep/conformance/go/verify"
	"lockstep/conformance/go/withdrawal"
)

const usage = `usage: lockstep-verify-go [--spec DIR] --protocol
       lockstep-verify-go [--spec DIR] [--trust FILE] [--state DIR] [--at TIME] [--subject FILE]
                          [--evidence DIR] [--withdrawals DIR] [--exhaustive] [--json] FILE...`

// options are the command line's.
type options struct {
	values map[string]string
	flags  map[string]bool
	files  []string
}

func main() {
	os.Exit(run(os.Args[1:]))
}

func run(arguments []string) (exit int) {
	defer func() {
		if fault := recover(); fault != nil {
			fmt.Println("INTERNAL lockstep-verify")
			fmt.Fprintln(os.Stderr, "internal fault:", fault)
			exit = 4
		}
	}()
	given, err := parse(arguments)
	if err != nil {
		return misused(err)
	}
	spec, err := specification.Load(given.values["--spec"])
	if err != nil {
		return misused(fmt.Errorf("--spec: %w", err))
	}
	verifier, err := verify.New(spec)
	if err != nil {
		return misused(fmt.Errorf("--spec: %w", err))
	}
	if given.flags["--protocol"] {
		if err := serve(verifier, os.Stdin, os.Stdout); err != nil {
			panic(err)
		}
		return 0
	}
	return verifyFiles(verifier, given)
}

// misused is [OUT-1].
func misused(err error) int {
	fmt.Println("USAGE lockstep-verify")
	fmt.Println(printable(err.Error()))
	fmt.Println(usage)
	return 2
}

func parse(arguments []string) (options, error) {
	given := options{values: map[string]string{"--spec": "spec"}, flags: map[string]bool{}}
	for i := 0; i < len(arguments); i++ {
		argument := arguments[i]
		name, value, joined := strings.Cut(argument, "=")
		switch {
		case argument == "--":
			given.files = append(given.files, arguments[i+1:]...)
			i = len(arguments)
		case argument == "--json" || argument == "--protocol" || argument == "--exhaustive":
			given.flags[argument] = true
		case name == "--spec" || name == "--trust" || name == "--state" || name == "--at" ||
			name == "--subject" || name == "--evidence" || name == "--withdrawals":
			if !joined {
				i++
				if i >= len(arguments) {
					return given, fmt.Errorf("%s needs a value", name)
				}
				value = arguments[i]
			}
			given.values[name] = value
		case strings.HasPrefix(argument, "-") && argument != "-":
			return given, fmt.Errorf("unknown option %s", argument)
		default:
			given.files = append(given.files, argument)
		}
	}
	if !given.flags["--protocol"] && len(given.files) == 0 {
		return given, fmt.Errorf("no file was given")
	}
	return given, nil
}

// verifyFiles judges each file and gives the exit status of [EXIT-2].
func verifyFiles(verifier *verify.Verifier, given options) int {
	request := verify.Request{Exhaustive: given.flags["--exhaustive"]}
	var err error
	if request.Clock, err = clockOf(given); err != nil {
		return misused(err)
	}
	if path, ok := given.values["--subject"]; ok {
		data, refused := document.Read(path, document.EvidenceLimit)
		if refused != nil {
			return misused(fmt.Errorf("--subject: %w", refused))
		}
		request.SubjectDigest = specification.Sha256(data)
	}
	if folder, ok := given.values["--evidence"]; ok {
		if found, err := os.Stat(folder); err != nil || !found.IsDir() {
			return misused(fmt.Errorf("--evidence: no folder %s", folder))
		}
		request.Evidence = document.Folder(folder)
	}
	var folder []string
	if path, ok := given.values["--withdrawals"]; ok {
		if folder, err = withdrawal.Files(path); err != nil {
			return misused(fmt.Errorf("--withdrawals: %w", err))
		}
	}
	policy, fault := trust.Locate(given.values["--trust"], given.values["--state"],
		verifier.Spec.Trust, request.Clock)
	worst := 0
	judge := func(file string, request verify.Request) verify.Result {
		request.Policy = policy
		result := verify.Result{Refusal: fault}
		if fault == nil {
			result = judgeFile(verifier, file, request)
		}
		worst = worse(worst, report(verifier, file, result, given.flags["--json"]))
		return result
	}
	// What is asked of the files, such as a subject, is not asked of withdrawals ([WDR-3]).
	for _, path := range folder {
		if found := judge(path, verify.Request{Clock: request.Clock}).Withdrawal; found != nil {
			found.Name = filepath.Base(path)
			request.Withdrawals = append(request.Withdrawals, *found)
		}
	}
	for _, file := range given.files {
		judge(file, request)
	}
	return worst
}

// judgeFile judges one file; a fault of the program is INTERNAL.
func judgeFile(verifier *verify.Verifier, file string, request verify.Request) (result verify.Result) {
	defer func() {
		if fault := recover(); fault != nil {
			fmt.Fprintln(os.Stderr, "internal fault:", fault)
			result = verify.Result{Refusal: refusal.New("INTERNAL", "")}
		}
	}()
	data, err := document.Read(file, verify.Limits(request.Policy).EnvelopeBytes)
	if err != nil {
		return verify.Result{Refusal: err}
	}
	return verifier.Certificate(data, request)
}

func clockOf(given options) (int64, error) {
	written, ok := given.values["--at"]
	if !ok {
		written = time.Now().UTC().Format("2006-01-02T15:04:05Z")
	}
	at, ok := moment.Parse(written)
	if !ok {
		return 0, fmt.Errorf("--at: no time of the form 2026-01-31T12:00:00Z")
	}
	return at, nil
}

// worse is [EXIT-2].
func worse(a, b int) int {
	for _, exit := range []int{4, 1, 3, 2, 5} {
		if a == exit || b == exit {
			return exit
		}
	}
	return 0
}
