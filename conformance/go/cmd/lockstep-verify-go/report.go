package main

import (
	"fmt"
	"os"
	"strings"

	"lockstep/conformance/go/lcj"
	"lockstep/conformance/go/verify"
)

// resultNames are the values of `result` in [OUT-2] by exit status.
var resultNames = map[int]string{
	0: "verified", 1: "unreadable", 2: "usage", 3: "refused", 4: "internal", 5: "derived_unsigned",
}

// report prints what was found out about a file and gives its exit status.
func report(verifier *verify.Verifier, file string, result verify.Result, asJSON bool) int {
	code, pointer, exit := "OK", "", 0
	if result.Refusal != nil {
		code, pointer = result.Refusal.Code, result.Refusal.Pointer
		known := false
		if exit, known = verifier.Spec.Exit[code]; !known {
			panic("a code outside the registry: " + code)
		}
	}
	if asJSON {
		os.Stdout.Write(append(lcj.Encode(jsonReport(file, code, pointer, exit, result)), '\n'))
		return exit
	}
	fmt.Printf("%s %s\n", code, printable(file))
	for _, line := range result.Told {
		fmt.Printf("  %s\n", printable(line))
	}
	if result.Refusal == nil {
		fmt.Printf("  %s; signers: %s; time: unproven\n", printable(result.Verdict), strings.Join(result.Signers, " "))
		return exit
	}
	fmt.Printf("  what: %s\n  where: %s%s\n", verifier.Spec.Meaning[code], printable(file), printable(pointer))
	if result.Refusal.Expected != "" {
		fmt.Printf("  expected: %s\n  got: %s\n", printable(result.Refusal.Expected), printable(result.Refusal.Got))
	}
	if result.Rederivation != "" {
		fmt.Printf("  re-derivation, for information: %s\n", result.Rederivation)
	}
	fmt.Printf("  what to do: %s\n", verifier.Spec.Action[code])
	return exit
}

// jsonReport is [OUT-2].
func jsonReport(file, code, pointer string, exit int, result verify.Result) *lcj.Object {
	object := lcj.NewObject().
		Set("file", strings.ToValidUTF8(file, "\uFFFD")).Set("result", resultNames[exit]).
		Set("exit", int64(exit)).Set("code", code).Set("pointer", pointer).
		Set("expected", nil).Set("got", nil).Set("verdict", orNull(result.Verdict)).
		Set("counts", countsObject(result.Counts)).Set("ledger", nil).
		Set("signers", lcj.Array(result.Signers)).Set("unknown_signatures", result.Unknown).
		Set("rederivation", orNull(result.Rederivation)).Set("time", nil).
		Set("payload_sha256", orNull(result.PayloadSha256)).Set("lines", lcj.Array(result.Told))
	if result.Refusal != nil && result.Refusal.Expected != "" {
		object.Set("expected", result.Refusal.Expected).Set("got", result.Refusal.Got)
	}
	if result.Ledger != nil {
		ledger := countsObject(result.Ledger.Counts).(*lcj.Object)
		object.Set("ledger", ledger.Set("attested_kinds", lcj.Array(result.Ledger.Attested)))
	}
	if exit == 0 {
		object.Set("time", "unproven")
	}
	return object
}

// printable is [OUT-4].
func printable(text string) string {
	var out strings.Builder
	for _, r := range text {
		if r >= 0x20 && r <= 0x7e {
			out.WriteRune(r)
		} else {
			fmt.Fprintf(&out, `\u{%x}`, r)
		}
	}
	return out.String()
}
