"""A certificate, withdrawals of it, and the folder and policy that a verifier is given."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from lockstep.certificate import keys, lcj
from lockstep.certificate.envelope import sign_statement
from lockstep.certificate.statement import statement, withdrawal_subjects
from lockstep.claims.withdrawal import predicate
from tests.measurement_records import PRODUCER, signed_statement

SPAN = ("2026-01-01T00:00:00Z", "2036-01-01T00:00:00Z")
AT = "2026-06-01T00:00:00Z"
OWN = Ed25519PrivateKey.from_private_bytes(b"1" * 32)
OTHER = Ed25519PrivateKey.from_private_bytes(b"2" * 32)
STRANGER = Ed25519PrivateKey.from_private_bytes(b"3" * 32)
CLAIM = {"pointer": "/predicate/published/1", "reason": "No repeat showed it."}
CERTIFICATE = sign_statement(signed_statement(), [OWN])


def withdrawal(*claims: dict[str, Any], certificate: bytes = CERTIFICATE) -> dict[str, Any]:
    """Give the statement of a withdrawal, of one claim unless others are named."""
    folded = predicate(
        certificate, claims or (CLAIM,), issued_at="2026-05-02T00:00:00Z", producer=PRODUCER
    )
    return statement("withdrawal", withdrawal_subjects(folded), folded)


def place(
    folder: Path, *held: bytes, roles: tuple[str, str] = ("producer", "producer")
) -> list[str]:
    """Write the certificate, withdrawals and a policy, and give the options that name them.

    Args:
        folder: to write into.
        held: the withdrawals.
        roles: of the two known keys; certificates of measurements ask for `producer`.
    """
    withdrawals = folder / "w"
    withdrawals.mkdir(exist_ok=True)
    (folder / "c.cert.json").write_bytes(CERTIFICATE)
    for i, data in enumerate(held):
        (withdrawals / f"{i}.cert.json").write_bytes(data)
    signers = [
        keys.Signer(name, name, keys.raw(key.public_key()), (role,), *SPAN)
        for name, key, role in zip("ab", (OWN, OTHER), roles, strict=True)
    ]
    kinds = [f"urn:lockstep:certificate:{kind}:v1" for kind in ("measurement", "withdrawal")]
    policy = keys.policy(signers, kinds, version=1, expires=SPAN[1])
    policy["rules"][0]["roles"] = ["producer"]
    (folder / "trust.json").write_bytes(lcj.encode(policy))
    options = ["--trust", str(folder / "trust.json"), "--state", str(folder), "--at", AT, "--json"]
    return [*options, "--withdrawals", str(withdrawals), str(folder / "c.cert.json")]
