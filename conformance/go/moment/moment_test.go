package moment

import (
	"testing"
	"time"
)

func TestAgreesWithTheStandardLibrary(t *testing.T) {
	start := time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, day := range []int{0, 58, 59, 365, 36524, 146096, 730178, 739000, 3652058} {
		at := start.AddDate(0, 0, day).Add(86399 * time.Second)
		got, ok := Parse(at.Format("2006-01-02T15:04:05Z"))
		if want := at.Unix() - start.Unix(); !ok || got != want {
			t.Errorf("%v: got %d %t, want %d", at, got, ok, want)
		}
	}
}

func TestRefusesWhatIsNoTime(t *testing.T) {
	for _, text := range []string{
		"", "2026-02-29T00:00:00Z", "2100-02-29T00:00:00Z", "0000-01-01T00:00:00Z",
		"2026-01-01T24:00:00Z", "2026-01-01T00:00:60Z", "2026-01-01t00:00:00Z",
		"2026-01-01T00:00:00Z\n", "2026-13-01T00:00:00Z", "2026-01-00T00:00:00Z",
	} {
		if _, ok := Parse(text); ok {
			t.Errorf("%q was read", text)
		}
	}
}
