package ed25519x

import (
	"bytes"
	"crypto/ed25519"
	"testing"
)

func TestSignatures(t *testing.T) {
	private := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, 32))
	public := private.Public().(ed25519.PublicKey)
	message := PreAuthentication("application/vnd.in-toto+json", nil)
	if string(message) != "DSSEv1 28 application/vnd.in-toto+json 0 " {
		t.Fatalf("encoding %q", message)
	}
	signature := ed25519.Sign(private, message)
	if CheckForm(signature) != "" || !Verify(public, message, signature) {
		t.Fatal("a good signature was refused")
	}
	// S + L is a second encoding of the same scalar.
	carry := 0
	for i, digit := range order {
		sum := int(signature[32+i]) + int(digit) + carry
		signature[32+i], carry = byte(sum), sum>>8
	}
	if code := CheckForm(signature); code != "SIGNATURE_MALLEABLE" {
		t.Errorf("S + L: %q", code)
	}
	if code := CheckForm(make([]byte, 64)); code != "WEAK_KEY" {
		t.Errorf("R of low order: %q", code)
	}
}
