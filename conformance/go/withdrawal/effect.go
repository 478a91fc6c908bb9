package withdrawal

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"lockstep/conformance/go/lcj"
	"lockstep/conformance/go/refusal"
	"lockstep/conformance/go/specification"
	"lockstep/conformance/go/statement"
	"lockstep/conformance/go/trust"
)

// Verified is a withdrawal that has passed every stage.
type Verified struct {
	// Name is that of its file, for people.
	Name      string
	Predicate *lcj.Object
	Signers   []trust.Key
}

// Files gives the paths of the files of a folder that may be withdrawals, in their order ([WDR-3]), in
// which os.ReadDir gives them.
func Files(folder string) ([]string, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, entry := range entries {
		if strings.HasSuffix(entry.Name(), ".cert.json") {
			paths = append(paths, filepath.Join(folder, entry.Name()))
		}
	}
	return paths, nil
}

// Apply is [WDR-4] and [WDR-5] for a certificate that has passed every stage. It gives what is told of
// the withdrawals, and the refusal that follows from those that count.
func Apply(all []Verified, stated *statement.Statement, payloadSha256 string, policy *trust.Policy) ([]string, *refusal.Refusal) {
	var lines []string
	var first *refusal.Refusal
	for _, one := range all {
		named := one.Predicate.Object("certificate")
		if named.Text("payload_sha256") != payloadSha256 {
			continue
		}
		if err := policy.CheckRule(stated.PredicateType, one.Signers); err != nil {
			lines = append(lines, fmt.Sprintf("not counted: %s: %s", one.Name, err.Code))
			continue
		}
		if named.Text("predicate_type") != stated.PredicateType {
			return nil, refusal.New(mismatch, "/predicateType")
		}
		for _, claim := range one.Predicate.Objects("claims") {
			pointer := claim.Text("pointer")
			if !holds(stated.Whole, claim) {
				return nil, refusal.New(mismatch, pointer)
			}
			if first == nil {
				first = refusal.New("CLAIM_WITHDRAWN", pointer)
			}
			lines = append(lines, told(claim))
		}
	}
	return lines, first
}

const mismatch = "WITHDRAWAL_MISMATCH"

// holds says whether a claim leads to its value in a statement.
func holds(whole *lcj.Object, claim *lcj.Object) bool {
	value, found := follow(whole, claim.Text("pointer"))
	if !found {
		return false
	}
	held := lcj.Encode(lcj.NewObject().Set("value", value))
	return specification.Sha256(held) == claim.Text("value_sha256")
}

// whole is what an empty pointer leads to, for people.
const whole = "the whole"

// told is a line for people.
func told(claim *lcj.Object) string {
	line := fmt.Sprintf("WITHDRAWN %s: %s", cmp.Or(claim.Text("pointer"), whole), claim.Text("reason"))
	replacement, replaced := claim.Member("replacement").(*lcj.Object)
	if !replaced {
		return line + "; without a replacement"
	}
	line += "; instead: " + replacement.Text("says")
	if sha256, elsewhere := replacement.Member("payload_sha256").(string); elsewhere {
		line += fmt.Sprintf(" (%s of %s)", cmp.Or(replacement.Text("pointer"), whole), sha256)
	}
	return line
}

// arrayIndex is the form of an index in RFC 6901.
var arrayIndex = regexp.MustCompile(`\A(0|[1-9][0-9]*)\z`)

var unescaper = strings.NewReplacer("~1", "/", "~0", "~")

// follow gives the value that an RFC 6901 pointer leads to.
func follow(value any, pointer string) (any, bool) {
	if pointer == "" {
		return value, true
	}
	for _, step := range strings.Split(pointer[1:], "/") {
		switch holder := value.(type) {
		case *lcj.Object:
			member, found := holder.Get(unescaper.Replace(step))
			if !found {
				return nil, false
			}
			value = member
		case []any:
			place, err := strconv.Atoi(step)
			if !arrayIndex.MatchString(step) || err != nil || place >= len(holder) {
				return nil, false
			}
			value = holder[place]
		default:
			return nil, false
		}
	}
	return value, true
}
