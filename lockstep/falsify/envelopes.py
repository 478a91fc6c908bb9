"""Attacks on the envelope, its signatures and the file's bytes."""

import base64
import gzip
from collections.abc import Callable
from typing import Any

from lockstep.certificate.lcj import encode
from lockstep.falsify.content import count_raised
from lockstep.falsify.forge import Forge, entry, envelope

Made = Callable[[Forge], bytes]

GROUP_ORDER = 2**252 + 27742317777372353535851937790883648493
"""The order L of the group that Ed25519 signs in [SIG-3]."""
_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"


def _good(forge: Forge) -> dict[str, Any]:
    return envelope(forge.payload, forge.ann.signature(forge.payload))


def _forged(forge: Forge) -> bytes:
    sig = forge.stranger.sign(forge.payload)
    return encode(envelope(forge.payload, entry(forge.ann.keyid, sig)))


def _mutated(forge: Forge) -> bytes:
    draft = forge.draft()
    count_raised(draft)
    return encode(envelope(encode(draft), forge.ann.signature(forge.payload)))


def _file(change: Callable[[bytes], bytes]) -> Made:
    """Change the bytes of a good certificate's file."""
    return lambda forge: change(forge.signed(forge.payload))


def _payload_text(change: Callable[[str], str]) -> Made:
    def made(forge: Forge) -> bytes:
        value = _good(forge)
        return encode({**value, "payload": change(value["payload"])})

    return made


def _signature_text(change: Callable[[str], str]) -> Made:
    def made(forge: Forge) -> bytes:
        value = _good(forge)
        value["signatures"][0]["sig"] = change(value["signatures"][0]["sig"])
        return encode(value)

    return made


def _trailing_bits(text: str) -> str:
    """Set a bit that no decoder uses; 64 bytes leave four of them before the padding."""
    last = _ALPHABET.index(text[-3])
    return f"{text[:-3]}{_ALPHABET[last ^ 1]}=="


def _plus_order(text: str) -> str:
    sig = base64.b64decode(text)
    scalar = int.from_bytes(sig[32:], "little") + GROUP_ORDER
    return base64.b64encode(sig[:32] + scalar.to_bytes(32, "little")).decode("ascii")


def _one_signature_twice(forge: Forge) -> bytes:
    signature = forge.ann.signature(forge.payload)
    return encode(envelope(forge.payload, signature, signature))


def two_ids(forge: Forge) -> bytes:
    """Give a certificate that one key signed under its own id and under another one."""
    sig = forge.ann.sign(forge.payload)
    other = f"{int(forge.ann.keyid, 16) ^ 1:064x}"
    return encode(envelope(forge.payload, entry(forge.ann.keyid, sig), entry(other, sig)))


def _id_of_another(forge: Forge) -> bytes:
    sig = forge.ann.sign(forge.payload)
    return encode(envelope(forge.payload, entry(forge.bob.keyid, sig)))


def _one_broken(forge: Forge) -> bytes:
    good = forge.ann.signature(forge.payload)
    broken = entry(forge.bob.keyid, forge.bob.sign(forge.payload + b" "))
    return encode(envelope(forge.payload, good, broken))


def _without_encoding(forge: Forge) -> bytes:
    sig = forge.ann.private.sign(forge.payload)
    return encode(envelope(forge.payload, entry(forge.ann.keyid, sig)))


def _another_type(forge: Forge) -> bytes:
    sig = forge.ann.sign(forge.payload, "application/json")
    return encode(envelope(forge.payload, entry(forge.ann.keyid, sig)))


def stranger_with_key(forge: Forge) -> bytes:
    """Sign with a key that the payload itself brings, and that no policy names."""
    draft = forge.draft()
    draft["predicate"]["producer"]["machine"] = forge.stranger.public.hex()
    payload = encode(draft)
    return encode(envelope(payload, forge.stranger.signature(payload)))


MADE: dict[str, Made] = {
    "forged-signer": _forged,
    "mutated-document": _mutated,
    "torn-document": _file(lambda data: data[: len(data) // 2]),
    "utf-16": _file(lambda data: data.decode("ascii").encode("utf-16-le")),
    "byte-order-mark": _file(lambda data: b"\xef\xbb\xbf" + data),
    "gzip": _file(lambda data: gzip.compress(data, mtime=0)),
    "trailing-newline": _file(lambda data: data + b"\n"),
    "trailing-nul": _file(lambda data: data + b"\0"),
    "base64-url-letters": _payload_text(lambda text: "-" + text[1:]),
    "base64-line-break": _payload_text(lambda text: text[:76] + "\n" + text[76:]),
    "base64-padding-missing": _signature_text(lambda text: text.rstrip("=")),
    "base64-trailing-bits": _signature_text(_trailing_bits),
    "scalar-plus-the-order": _signature_text(_plus_order),
    "one-signature-twice": _one_signature_twice,
    "id-of-another-trusted-key": _id_of_another,
    "one-good-and-one-broken-signature": _one_broken,
    "signed-without-pre-authentication-encoding": _without_encoding,
    "signed-as-another-type": _another_type,
}
"""Certificates that a policy which trusts ann and bob must refuse, by falsification."""
