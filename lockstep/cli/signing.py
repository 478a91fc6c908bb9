"""The ending of commands that sign: the certificate is written, summed up and verified."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey


def own_key(path: Path | None) -> Ed25519PrivateKey:
    """Give the key of a file, or one that is made for this run alone.

    Raises:
        LockstepError: as `load_key`.
    """
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    from lockstep.certificate import keys

    return keys.load_key(path) if path else Ed25519PrivateKey.generate()


def conclude(
    output: Path,
    certificate: bytes,
    lines: Iterable[str],
    signer: Ed25519PrivateKey,
    evidence: Path | None = None,
    asked: Sequence[str] = (),
) -> int:
    """Write a certificate, say what it holds, and have it verified; gives an exit status.

    Args:
        output: where it goes, beside its sidecars.
        certificate: the envelope's bytes.
        lines: what sums it up for people.
        signer: what it was signed with.
        evidence: the folder of sidecars; None for the output's.
        asked: further options of the verifier.
    """
    from lockstep.certificate.write import write_file
    from lockstep.cli import say
    from lockstep.cli.hunt import verified_with

    write_file(output, certificate)
    say(f"wrote {output}, {len(certificate):,} bytes")
    for line in lines:
        say(line)
    result = verified_with(output, signer, None, evidence or output.parent, *asked)
    say(f"lockstep-verify, under a policy that trusts this key alone: {result['code']}")
    if result["exit"]:
        say(f"  at {result['pointer'] or 'the document'}; lockstep-verify says more")
    return 3 if result["exit"] else 0
