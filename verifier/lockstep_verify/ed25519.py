"""Keys and signatures: key ids, what is signed, what is refused (KEY-1 to SIG-3)."""

import hashlib

from lockstep_verify.errors import Refusal

GROUP_ORDER = (1 << 252) + 27742317777372353535851937790883648493
"""L, the order of the base point (RFC 8032, section 5.1)."""

_FIELD = (1 << 255) - 19
# The y coordinates of the eight points of order 1, 2, 4 and 8.
_ORDER_8 = 0x7A03AC9277FDC74EC6CC392CFA53202A0F67100D760B3CBA4FD84D3D706A17C7
_LOW_ORDER_Y = (0, 1, _FIELD - 1, _ORDER_8, _FIELD - _ORDER_8)

LOW_ORDER = frozenset(
    (encoded | sign << 255).to_bytes(32, "little")
    for y in _LOW_ORDER_Y
    # A coordinate below 19 has a second, unreduced encoding.
    for encoded in (y, y + _FIELD)
    if encoded < 1 << 255
    for sign in (0, 1)
)
"""The 14 encodings of KEY-3."""


def key_id(public: bytes) -> str:
    """Give the key id of a 32-byte public key, in hex (KEY-1)."""
    return hashlib.sha256(b"lockstep-ed25519-v1\n" + public).hexdigest()


def pre_authentication_encoding(payload_type: str, payload: bytes) -> bytes:
    """Give the bytes that are signed (SIG-1); lengths count bytes."""
    kind = payload_type.encode("utf-8")
    return b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(payload), payload)


def require_form(sig: bytes, pointer: str) -> None:
    """Refuse signatures on which implementations differ (SIG-3.1, SIG-3.2).

    Raises:
        Refusal: SIGNATURE_MALLEABLE, WEAK_KEY.
    """
    if int.from_bytes(sig[32:], "little") >= GROUP_ORDER:
        raise Refusal("SIGNATURE_MALLEABLE", pointer, expected="S below the group order")
    if sig[:32] in LOW_ORDER:
        raise Refusal("WEAK_KEY", pointer, expected="a point R of high order", got=sig[:32].hex())


def verifies(public: bytes, sig: bytes, message: bytes) -> bool:
    """Tell whether a signature of checked form verifies under a key (SIG-2)."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        Ed25519PublicKey.from_public_bytes(public).verify(sig, message)
    except (InvalidSignature, ValueError):
        return False
    return True
