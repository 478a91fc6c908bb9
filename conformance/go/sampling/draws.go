// Package sampling replays sampled tokens from signed log-probabilities (sampling.md), and derives
// certificates of the kind `sampling`.
//
// Every number that a rule rounds is held in a machine word. What a word does not decide is decided
// in integers of any size, so that nothing depends on the width of one.
package sampling

import (
	"crypto/sha256"
	"encoding/binary"
)

// Stream is a stream of draws ([SAMP-1]).
type Stream struct {
	seed    []byte
	counter uint64
}

// NewStream gives the stream of a seed from a draw on.
func NewStream(seed string, counter uint64) *Stream {
	return &Stream{append(make([]byte, 0, len(seed)+8), seed...), counter}
}

// Counter is the number of the next draw.
func (s *Stream) Counter() uint64 {
	return s.counter
}

// Uint64 takes the next draw.
func (s *Stream) Uint64() uint64 {
	sum := sha256.Sum256(binary.BigEndian.AppendUint64(s.seed, s.counter))
	s.counter++
	return binary.BigEndian.Uint64(sum[:8])
}

// Below takes a draw below n ([SAMP-3]); an n of 0 stands for 2^64.
func (s *Stream) Below(n uint64) uint64 {
	if n == 0 {
		return s.Uint64()
	}
	// 2^64 mod n; the limit is 2^64 less this, which wraps to 0 where n divides 2^64.
	limit := -(-n % n)
	for {
		if u := s.Uint64(); limit == 0 || u < limit {
			return u % n
		}
	}
}

// Scan gives the index of the first weight up to and with which the sum is above point ([SAMP-23]).
// The weights must be checked and point below their sum.
func Scan(weights []int64, point uint64) int {
	sum := uint64(0)
	for i, weight := range weights {
		if sum += uint64(weight); sum > point {
			return i
		}
	}
	panic("sampling: a draw at or above the sum of the weights")
}

// Draw takes one draw below the sum of the weights and gives the index that it falls on. It gives
// false, and takes no draw, for no weight, a negative one, or a sum of 0 or beyond 63 bits.
func Draw(stream *Stream, weights []int64) (int, bool) {
	sum := int64(0)
	for _, weight := range weights {
		if weight < 0 || sum+weight < sum {
			return 0, false
		}
		sum += weight
	}
	if sum == 0 {
		return 0, false
	}
	return Scan(weights, stream.Below(uint64(sum))), true
}
