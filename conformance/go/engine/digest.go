// Package engine holds the encodings and digests of engine.md that several kinds need.
package engine

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
)

// Digest is a SHA-256.
type Digest [sha256.Size]byte

// Hex gives its 64 digits.
func (d Digest) Hex() string { return hex.EncodeToString(d[:]) }

// ReadDigest reads 64 hex digits, which a schema has established.
func ReadDigest(text string) Digest {
	data, err := hex.DecodeString(text)
	if err != nil {
		panic(err)
	}
	return Digest(data)
}

// Numbers encodes integers of at least 0 ([ENG-2]).
func Numbers(list ...int64) []byte {
	out := make([]byte, 0, 8*len(list))
	for _, n := range list {
		out = binary.BigEndian.AppendUint64(out, uint64(n))
	}
	return out
}

// Framed is H of [ENG-2].
func Framed(tag string, fields ...[]byte) Digest {
	hash := sha256.New()
	hash.Write(Numbers(int64(len(tag))))
	hash.Write([]byte(tag))
	for _, field := range fields {
		hash.Write(Numbers(int64(len(field))))
		hash.Write(field)
	}
	return Digest(hash.Sum(nil))
}

// ModelDigest is M of [ENG-8], of the model's digest in hex and the compute dtype.
func ModelDigest(model, dtype string) Digest {
	stored := ReadDigest(model)
	return Framed("lockstep/model/1", stored[:], []byte(dtype))
}
