"""KEY-1 to SIG-3, against two other implementations."""

import hashlib

import nacl.exceptions
import nacl.signing
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st

from lockstep_verify import ed25519, spec
from lockstep_verify.errors import Refusal

P = 2**255 - 19
D = -121665 * pow(121666, -1, P) % P
L = ed25519.GROUP_ORDER
# RFC 8032, section 7.1, test 2.
PUBLIC = bytes.fromhex("3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c")
SIG = bytes.fromhex(
    "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
    "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"
)


def add(a, b):
    (x1, y1), (x2, y2) = a, b
    t = D * x1 * x2 * y1 * y2 % P
    return (
        (x1 * y2 + x2 * y1) * pow(1 + t, -1, P) % P,
        (y1 * y2 + x1 * x2) * pow(1 - t, -1, P) % P,
    )


def on_curve(x, y):
    return (-x * x + y * y - 1 - D * x * x * y * y) % P == 0


def decode(encoding):
    number = int.from_bytes(encoding, "little")
    y, sign = number % 2**255 % P, number >> 255
    x2 = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(x2, (P + 3) // 8, P)
    if (x * x - x2) % P:
        x = x * pow(2, (P - 1) // 4, P) % P
    assert on_curve(x, y)
    return (P - x) % P if x % 2 != sign else x, y


def test_the_fourteen_have_order_dividing_eight_and_cover_all_eight_points():
    assert len(ed25519.LOW_ORDER) == 14
    points = set()
    for encoding in ed25519.LOW_ORDER:
        point = decode(encoding)
        points.add(point)
        for _ in range(3):
            point = add(point, point)
        assert point == (0, 1)
    assert len(points) == 8


def test_the_specification_lists_the_same_fourteen():
    path = spec.root() + "/certificate.md"
    with open(path, encoding="utf-8") as file:
        block = file.read().split("```")[1].split()
    assert {bytes.fromhex(line) for line in block} == ed25519.LOW_ORDER


def test_key_id_and_signed_bytes():
    assert ed25519.key_id(PUBLIC) == hashlib.sha256(b"lockstep-ed25519-v1\n" + PUBLIC).hexdigest()
    encode = ed25519.pre_authentication_encoding
    assert encode("a/b", b"") == b"DSSEv1 3 a/b 0 "
    assert encode("é", b"x\n") == "DSSEv1 2 é 2 x\n".encode()


def test_rfc_8032():
    assert ed25519.verifies(PUBLIC, SIG, b"\x72")
    assert not ed25519.verifies(PUBLIC, SIG, b"\x73")
    assert not ed25519.verifies(b"\x02" + bytes(31), SIG, b"\x72")


def form(sig):
    try:
        ed25519.require_form(sig, "/s")
    except Refusal as refusal:
        return refusal.code
    return "OK"


def test_malleable_before_weak():
    s = int.from_bytes(SIG[32:], "little")
    assert form(SIG) == "OK"
    assert form(SIG[:32] + (s + L).to_bytes(32, "little")) == "SIGNATURE_MALLEABLE"
    assert form(SIG[:32] + L.to_bytes(32, "little")) == "SIGNATURE_MALLEABLE"
    assert form(SIG[:32] + (L - 1).to_bytes(32, "little")) == "OK"
    for weak in ed25519.LOW_ORDER:
        assert form(weak + SIG[32:]) == "WEAK_KEY"
        assert form(weak + b"\xff" * 32) == "SIGNATURE_MALLEABLE"


def accepted(public, sig, message):
    """Our whole decision: form, key and equation."""
    weak = public in ed25519.LOW_ORDER
    return not weak and form(sig) == "OK" and ed25519.verifies(public, sig, message)


def sodium(public, sig, message):
    try:
        nacl.signing.VerifyKey(public).verify(message, sig)
    except (nacl.exceptions.BadSignatureError, nacl.exceptions.CryptoError, ValueError):
        return False
    return True


@given(st.binary(min_size=32, max_size=32), st.binary(max_size=40), st.data())
def test_libsodium_agrees_once_low_order_is_refused(seed, message, data):
    key = Ed25519PrivateKey.from_private_bytes(seed)
    public = key.public_key().public_bytes_raw()
    sig = bytearray(key.sign(message))
    assert accepted(public, bytes(sig), message) and sodium(public, bytes(sig), message)
    bit = data.draw(st.integers(0, 511))
    sig[bit // 8] ^= 1 << bit % 8
    assert accepted(public, bytes(sig), message) == sodium(public, bytes(sig), message) is False


@pytest.mark.parametrize("weak", sorted(ed25519.LOW_ORDER), ids=bytes.hex)
def test_forgeries_under_low_order_keys_are_refused(weak):
    # R of the identity and S = 0 verify under the identity key for any message.
    forged = (1).to_bytes(32, "little") + bytes(32)
    assert not accepted(weak, forged, b"anything")
    assert not accepted(PUBLIC, weak + bytes(32), b"anything")
