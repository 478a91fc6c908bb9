package sampling

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
)

// Tags that seeds of the two profiles begin with.
const (
	Domain         = "lockstep-sampling-v1"
	UpstreamDomain = "gonka-deterministic-sampling-v1"
)

// Bounds of [SAMP-4].
const (
	choicesEnd   = 1 << 16
	positionsEnd = 1 << 31
	longestID    = 256
)

// Origin is what a sequence's seeds are made of, choice and position aside ([SAMP-4]).
type Origin struct {
	UserSeed, InferenceID, Beacon string
}

// Valid says whether an origin's texts are those of [SAMP-4].
func (o Origin) Valid() bool {
	return ValidUserSeed(o.UserSeed) && validID(o.InferenceID) && validBeacon(o.Beacon)
}

// ValidUserSeed says whether a text is a user seed: canonical, and in its range.
func ValidUserSeed(text string) bool {
	value, err := strconv.ParseInt(text, 10, 64)
	return err == nil && strconv.FormatInt(value, 10) == text
}

// ValidPlace says whether a choice and a position are in their ranges.
func ValidPlace(choice, position int64) bool {
	return 0 <= choice && choice < choicesEnd && 0 <= position && position < positionsEnd
}

func validID(text string) bool {
	for i := range len(text) {
		if text[i] < 0x21 || text[i] > 0x7E {
			return false
		}
	}
	return 1 <= len(text) && len(text) <= longestID
}

func validBeacon(text string) bool {
	for i := range len(text) {
		if (text[i] < '0' || text[i] > '9') && (text[i] < 'a' || text[i] > 'f') {
			return false
		}
	}
	return len(text) == 0 || len(text) == 64
}

// Seed is the seed of a position ([SAMP-5]).
func (o Origin) Seed(choice, position int64) string {
	return framed(Domain,
		"user_seed", o.UserSeed, "inference_id", o.InferenceID, "beacon", o.Beacon,
		"choice", strconv.FormatInt(choice, 10), "position", strconv.FormatInt(position, 10))
}

// UpstreamSeed is the base seed of profile upstream-1.0.0 ([SAMP-42]).
func UpstreamSeed(userSeed, inferenceID string) string {
	return framed(UpstreamDomain, "user_seed", userSeed, "inference_id", inferenceID)
}

// UpstreamPositionSeed is the seed of a position of that profile.
func UpstreamPositionSeed(base string, position int) string {
	return base + "|" + strconv.Itoa(position)
}

// framed is the hex SHA-256 of a tag and of named fields, each under a line with its length.
func framed(tag string, fields ...string) string {
	material := append(make([]byte, 0, 512), tag...)
	for i := 0; i < len(fields); i += 2 {
		material = append(material, '\n')
		material = append(material, fields[i]...)
		material = append(material, "_len="...)
		material = strconv.AppendInt(material, int64(len(fields[i+1])), 10)
		material = append(material, '\n')
		material = append(material, fields[i+1]...)
	}
	sum := sha256.Sum256(material)
	return hex.EncodeToString(sum[:])
}
