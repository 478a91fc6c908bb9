package measurement

import "testing"

// The schema admits none of these, but for those that have another spelling.
func TestAUnitHasOneSpelling(t *testing.T) {
	known := bases{known: map[string]bool{"token": true, "us": true}}
	for _, text := range []string{"1", "us", "token^4", "token*us", "us/token^2", "1/us"} {
		if found, ok := known.parse(text); !ok || found.String() != text {
			t.Errorf("%s: %v", text, found)
		}
	}
	for _, text := range []string{
		"", "/us", "us/", "us/1", "1*us", "us*us", "us/us", "us*token", "token^", "token^0", "token^1", "token^5",
		"token^-2", "token^02", "token^x", "byte", "us/token/token",
	} {
		if found, ok := known.parse(text); ok {
			t.Errorf("%s: %v", text, found)
		}
	}
}
