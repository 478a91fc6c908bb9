package observation

import (
	"encoding/hex"
	"math"
)

// digits are the values that a digit has, 1 to the base of [OBS-1].
const digits = 250

// numbers reads the digits of an element type.
type numbers struct {
	// width is in bytes.
	width int
	// digit gives 0 to 249 by the bits of a value.
	digit map[uint32]int64
}

// newNumbers is of `float16`, `bfloat16` or `float32`.
func newNumbers(dtype string) numbers {
	n := numbers{2, map[uint32]int64{}}
	if dtype == "float32" {
		n.width = 4
	}
	for digit := range int64(digits) {
		bits := math.Float32bits(float32(digit + 1))
		switch dtype {
		case "float16":
			// The exponent's bias is 15 in place of 127, the fraction has 10 bits of 23.
			bits = bits>>13 - (127-15)<<10
		case "bfloat16":
			bits >>= 16
		}
		n.digit[bits] = digit
	}
	return n
}

// values gives the bits of each value of some little-endian bytes in hex, and whether these are a
// whole number of them.
func (n numbers) values(text string) ([]uint32, bool) {
	data, err := hex.DecodeString(text)
	if err != nil || len(data)%n.width != 0 {
		return nil, false
	}
	var values []uint32
	for at := 0; at < len(data); at += n.width {
		bits := uint32(0)
		for i := range n.width {
			bits |= uint32(data[at+i]) << (8 * i)
		}
		values = append(values, bits)
	}
	return values, true
}

// nothing is what a slot holds that holds no number ([OBS-2]).
const nothing = -1

// held gives the number of a slot below a bound, or nothing.
func (n numbers) held(low, high uint32, bound int64) int64 {
	units, known := n.digit[low]
	tens, also := n.digit[high]
	if number := tens*digits + units; known && also && number < bound {
		return number
	}
	return nothing
}
