package measurement

import (
	"fmt"
	"strings"

	"lockstep/conformance/go/specification"
)

// question is what a metric of an engine is read for ([MEAS-5]).
type question struct{ engine, metric, question string }

// readPairings gives the pairings of metrics.toml whose `answers` is `yes`: of TOML only the headers of
// its tables and plain strings.
func readPairings(spec *specification.Specification) (map[question]bool, error) {
	text, err := spec.Bytes("metrics.toml")
	if err != nil {
		return nil, err
	}
	answered := map[question]bool{}
	pairing := map[string]string{}
	for number, line := range strings.Split(string(text)+"\n[end]", "\n") {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			if pairing["answers"] == "yes" {
				answered[question{pairing["engine"], pairing["metric"], pairing["question"]}] = true
			}
			clear(pairing)
			continue
		}
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		key, value, found := strings.Cut(line, " = ")
		if !found || len(value) < 2 || value[0] != '"' || value[len(value)-1] != '"' {
			return nil, fmt.Errorf("metrics.toml, line %d: no plain string", number+1)
		}
		pairing[key] = value[1 : len(value)-1]
	}
	return answered, nil
}
