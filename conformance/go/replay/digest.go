package replay

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
)

// digest is a SHA-256.
type digest [sha256.Size]byte

func (d digest) hex() string { return hex.EncodeToString(d[:]) }

// numbers encodes integers of at least 0 ([ENG-2]).
func numbers(list ...int64) []byte {
	out := make([]byte, 0, 8*len(list))
	for _, n := range list {
		out = binary.BigEndian.AppendUint64(out, uint64(n))
	}
	return out
}

// framed is H of [ENG-2].
func framed(tag string, fields ...[]byte) digest {
	hash := sha256.New()
	hash.Write(numbers(int64(len(tag))))
	hash.Write([]byte(tag))
	for _, field := range fields {
		hash.Write(numbers(int64(len(field))))
		hash.Write(field)
	}
	return digest(hash.Sum(nil))
}

// bit is 1 for true.
func bit(condition bool) int64 {
	if condition {
		return 1
	}
	return 0
}
