"""The test keys of spec/cases/keys.toml. Their seeds are public: they must never be trusted."""

import base64
import hashlib
import tomllib
from functools import cache
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from lockstep import spec

GROUP_ORDER = (1 << 252) + 27742317777372353535851937790883648493
"""L of SIG-3.1."""

PAYLOAD_TYPE = "application/vnd.in-toto+json"


def cases_root() -> Path:
    """Give the folder of the reviewed cases."""
    return spec.root() / "cases"


@cache
def _private(name: str) -> Ed25519PrivateKey:
    seeds = tomllib.loads((cases_root() / "keys.toml").read_text("utf-8"))["seeds"]
    return Ed25519PrivateKey.from_private_bytes(bytes.fromhex(seeds[name]))


def public(name: str) -> bytes:
    """Give the 32 bytes of a test key."""
    return _private(name).public_key().public_bytes_raw()


def key_id(key: bytes) -> str:
    """Give the key id of a public key, in hex [KEY-1]."""
    return hashlib.sha256(b"lockstep-ed25519-v1\n" + key).hexdigest()


def pae(payload: bytes, payload_type: str = PAYLOAD_TYPE) -> bytes:
    """Give the bytes that are signed [SIG-1]."""
    kind = payload_type.encode("utf-8")
    return b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(payload), payload)


def sign(name: str, message: bytes) -> bytes:
    """Sign with a test key; Ed25519 is deterministic, so every machine makes the same bytes."""
    return _private(name).sign(message)


def add_order(signature: bytes) -> bytes:
    """Give the signature whose scalar is S + L, which a lax verifier takes for the same."""
    scalar = int.from_bytes(signature[32:], "little") + GROUP_ORDER
    return signature[:32] + scalar.to_bytes(32, "little")


def add_order_base64(signature: str) -> str:
    """Do the same to a signature as an envelope writes it."""
    return base64.b64encode(add_order(base64.b64decode(signature))).decode("ascii")
