// Package ed25519x is pure Ed25519 with the refusals of certificate.md, KEY-1 to KEY-3 and SIG-1
// to SIG-3.
package ed25519x

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
)

const (
	// KeySize is the length of a public key in bytes.
	KeySize = ed25519.PublicKeySize
	// SignatureSize is the length of a signature in bytes.
	SignatureSize = ed25519.SignatureSize
)

// order is L of [SIG-3], little-endian.
var order = [32]byte{
	0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde, 0x14,
	31: 0x10,
}

// weak holds the 14 encodings of [KEY-3] without their top bits.
var weak = func() map[[32]byte]bool {
	set := map[[32]byte]bool{}
	for _, text := range []string{
		"0000000000000000000000000000000000000000000000000000000000000000",
		"0100000000000000000000000000000000000000000000000000000000000000",
		"26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
		"c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
		"ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
		"edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
		"eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
	} {
		decoded, err := hex.DecodeString(text)
		if err != nil {
			panic(err)
		}
		set[[32]byte(decoded)] = true
	}
	return set
}()

// Weak says whether 32 bytes are one of the encodings that [KEY-3] refuses.
func Weak(point []byte) bool {
	masked := [32]byte(point)
	masked[31] &= 0x7f
	return weak[masked]
}

// KeyID is [KEY-1].
func KeyID(public []byte) string {
	sum := sha256.Sum256(append([]byte("lockstep-ed25519-v1\n"), public...))
	return hex.EncodeToString(sum[:])
}

// CheckForm is [SIG-3], points 1 and 2: a code, or "" for a signature of 64 bytes that may be
// looked at.
func CheckForm(signature []byte) string {
	if !belowOrder(signature[32:]) {
		return "SIGNATURE_MALLEABLE"
	}
	if Weak(signature[:32]) {
		return "WEAK_KEY"
	}
	return ""
}

// Verify is [SIG-2]: the cofactorless equation with R compared as bytes.
func Verify(public, message, signature []byte) bool {
	return ed25519.Verify(ed25519.PublicKey(public), message, signature)
}

// PreAuthentication is [SIG-1].
func PreAuthentication(payloadType string, payload []byte) []byte {
	out := []byte("DSSEv1 " + strconv.Itoa(len(payloadType)) + " " + payloadType + " ")
	out = append(out, strconv.Itoa(len(payload))+" "...)
	return append(out, payload...)
}

// belowOrder compares a little-endian scalar with L.
func belowOrder(scalar []byte) bool {
	for i := 31; i >= 0; i-- {
		if scalar[i] != order[i] {
			return scalar[i] < order[i]
		}
	}
	return false
}
