"""The DSSE envelope (ENV-1 to ENV-7)."""

import binascii
from typing import Any, NamedTuple

from lockstep_verify import limits
from lockstep_verify.errors import Refusal

PAYLOAD_TYPE = "application/vnd.in-toto+json"
_HEX_DIGITS = frozenset("0123456789abcdef")


class Signature(NamedTuple):
    """One signature: the hint which key made it, and its 64 bytes."""

    keyid: str
    sig: bytes


class Envelope(NamedTuple):
    """The exact payload bytes and the signatures, whose form has been checked."""

    payload: bytes
    signatures: tuple[Signature, ...]


def is_hex(text: str, digits: int) -> bool:
    """Tell whether a string is exactly so many lower-case hexadecimal digits."""
    return len(text) == digits and _HEX_DIGITS.issuperset(text)


def _require_shape(value: Any, members: dict[str, type], pointer: str) -> None:
    if type(value) is not dict:
        raise Refusal("ENVELOPE_SHAPE", pointer, expected="an object")
    if value.keys() != members.keys():
        raise Refusal("ENVELOPE_SHAPE", pointer, expected=sorted(members), got=sorted(value))
    for name, kind in members.items():
        if type(value[name]) is not kind:
            raise Refusal("ENVELOPE_SHAPE", f"{pointer}/{name}", expected=f"a {kind.__name__}")


def _base64(text: str, pointer: str) -> bytes:
    try:
        data = binascii.a2b_base64(text, strict_mode=True)
    except ValueError:
        data = None
    # Encoding again catches what a decoder overlooks, trailing bits among it.
    if data is None or binascii.b2a_base64(data, newline=False) != text.encode("utf-8"):
        raise Refusal("BASE64_NONCANONICAL", pointer, expected="standard padded base64")
    return data


def open_envelope(value: dict[str, Any], payload_limit: int) -> Envelope:
    """Check the form of a parsed envelope and decode it.

    Raises:
        Refusal: ENVELOPE_SHAPE, PAYLOAD_TYPE, KEYID_SHAPE, DUPLICATE_SIGNATURE, SIGNATURE_ORDER,
            BASE64_NONCANONICAL, LIMIT_SIZE, SIGNATURE_SHAPE.
    """
    _require_shape(value, {"payload": str, "payloadType": str, "signatures": list}, "")
    entries = value["signatures"]
    if not 1 <= len(entries) <= limits.SIGNATURES:
        raise Refusal("ENVELOPE_SHAPE", "/signatures", f"1 to {limits.SIGNATURES}", len(entries))
    for i, entry in enumerate(entries):
        _require_shape(entry, {"keyid": str, "sig": str}, f"/signatures/{i}")
    if value["payloadType"] != PAYLOAD_TYPE:
        raise Refusal("PAYLOAD_TYPE", "/payloadType", PAYLOAD_TYPE, value["payloadType"])
    keyids = [entry["keyid"] for entry in entries]
    for i, keyid in enumerate(keyids):
        if not is_hex(keyid, 64):
            raise Refusal("KEYID_SHAPE", f"/signatures/{i}/keyid", "64 hex digits", keyid)
    for i in range(1, len(keyids)):
        if keyids[i] <= keyids[i - 1]:
            same = keyids[i] == keyids[i - 1]
            code = "DUPLICATE_SIGNATURE" if same else "SIGNATURE_ORDER"
            raise Refusal(code, f"/signatures/{i}/keyid", "sorted, unique keyids", keyids[i])
    payload = _base64(value["payload"], "/payload")
    if len(payload) > payload_limit:
        raise Refusal("LIMIT_SIZE", "/payload", f"at most {payload_limit} bytes", len(payload))
    signatures = []
    for i, entry in enumerate(entries):
        sig = _base64(entry["sig"], f"/signatures/{i}/sig")
        if len(sig) != 64:
            raise Refusal("SIGNATURE_SHAPE", f"/signatures/{i}/sig", "64 bytes", len(sig))
        signatures.append(Signature(entry["keyid"], sig))
    return Envelope(payload, tuple(signatures))
