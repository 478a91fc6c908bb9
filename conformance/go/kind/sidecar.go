package kind

import "regexp"

// sidecar is the form of a sidecar's name ([EV-1]).
var sidecar = regexp.MustCompile(`\A[A-Za-z0-9_][A-Za-z0-9._-]{0,99}(/[A-Za-z0-9_][A-Za-z0-9._-]{0,99})*\z`)

// Sidecar says whether a name may be that of a sidecar ([EV-1]).
func Sidecar(name string) bool {
	return len(name) <= 200 && sidecar.MatchString(name)
}
