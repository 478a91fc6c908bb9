"""Signing keys in files that only their owner reads; key ids, trust policies [KEY-1, TRUST-1]."""

import hashlib
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from lockstep import spec
from lockstep.certificate.statement import KINDS, predicate_type
from lockstep.errors import LockstepError

ROLE = "producer"
"""The role that this package's own policies give their key."""
LIMITS = {"envelope_bytes": 17 * 2**20, "payload_bytes": 12 * 2**20}
"""The limits that a new policy states, those of BYTES-2 themselves."""


@dataclass(frozen=True)
class Signer:
    """A key of a policy: who owns it, what it may sign and from when to when."""

    name: str
    owner: str
    public: bytes
    roles: tuple[str, ...]
    not_before: str
    not_after: str


def raw(public: Ed25519PublicKey) -> bytes:
    """Give the 32 bytes of a public key."""
    return public.public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)


def key_id(public: Ed25519PublicKey) -> str:
    """Give the key id of a public key [KEY-1]."""
    return key_id_of(raw(public))


def key_id_of(public: bytes) -> str:
    """Give the key id of a public key's 32 bytes [KEY-1]."""
    return hashlib.sha256(b"lockstep-ed25519-v1\n" + public).hexdigest()


def config_folder() -> Path:
    """Give the user's configuration folder [TRUST-1]."""
    base = os.environ.get("XDG_CONFIG_HOME", "")
    return (Path(base) if os.path.isabs(base) else Path.home() / ".config") / "lockstep"


def new_key_file(path: Path) -> Ed25519PrivateKey:
    """Make a key and write it with mode 0600, never over a file that exists.

    Raises:
        LockstepError: USAGE, the file exists.
    """
    key = Ed25519PrivateKey.generate()
    pem = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        hint = "A key is never overwritten. Move it away, or name another place."
        raise LockstepError("USAGE", str(path), "no such file yet", "a file", hint) from None
    with os.fdopen(handle, "wb") as file:
        file.write(pem)
        file.flush()
        os.fsync(file.fileno())
    return key


def load_key(path: Path) -> Ed25519PrivateKey:
    """Read a private key.

    Raises:
        LockstepError: USAGE, the file is absent, is no Ed25519 key, or others may read it.
    """
    hint = "`lockstep keys init` makes one; --key FILE names another."
    try:
        mode = path.stat().st_mode & 0o777
        data = path.read_bytes()
    except OSError as fault:
        raise LockstepError("USAGE", str(path), "a private key", fault.strerror, hint) from None
    if mode & 0o077:
        hint = f"Run chmod 600 {path}, and think about who may have read it."
        raise LockstepError("USAGE", str(path), "mode 0600", f"mode {mode:04o}", hint)
    try:
        key = serialization.load_pem_private_key(data, password=None)
    except (ValueError, TypeError) as fault:
        raise LockstepError("USAGE", str(path), "a PEM key", str(fault), hint) from None
    if not isinstance(key, Ed25519PrivateKey):
        raise LockstepError("USAGE", str(path), "an Ed25519 key", type(key).__name__, hint)
    return key


def policy(
    signers: Sequence[Signer], kinds: Sequence[str], *, version: int, expires: str
) -> dict[str, Any]:
    """Give a trust policy in which each signer's roles may sign each kind, threshold 1."""
    roles = sorted({role for signer in signers for role in signer.roles})
    return {
        "version": version,
        "expires": expires,
        "keys": [
            {
                "name": signer.name,
                "owner": signer.owner,
                "public": signer.public.hex(),
                "roles": list(signer.roles),
                "not_before": signer.not_before,
                "not_after": signer.not_after,
                "revoked_at": None,
            }
            for signer in signers
        ],
        "rules": [
            {"predicateType": kind, "roles": roles, "threshold": 1, "max_age_days": None}
            for kind in kinds
        ],
        "limits": dict(LIMITS),
        "floors": [],
    }


def require_owner(owner: str, option: str) -> None:
    """Refuse a name of an owner that no policy may have, before anything is made for it.

    Raises:
        LockstepError: USAGE, at the option.
    """
    label = spec.load("schemas/trust.schema.json")["$defs"]["label"]
    if not re.fullmatch(label["pattern"], owner):
        expected = f"1 to {label['maxLength']} characters of printable ASCII"
        raise LockstepError("USAGE", option, expected, ascii(owner))


def sole_policy(
    public: Ed25519PublicKey, name: str, owner: str, span: tuple[str, str]
) -> dict[str, Any]:
    """Give a policy of version 1 in which one key may sign every kind, from and to `span`."""
    signer = Signer(name, owner, raw(public), (ROLE,), *span)
    kinds = [predicate_type(kind) for kind in KINDS]
    return policy([signer], kinds, version=1, expires=span[1])
