"""Put certificates of real servers and of their caches into `evidence/`, signed by a peer's key.

Usage: peer_evidence.py [CERTIFICATE...]; each is signed anew with the others of its peer. The
catalogue's table of observed layouts is written anew in any case.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from lockstep.certificate import keys, lcj, times
from lockstep.certificate.envelope import sign_statement
from lockstep.certificate.statement import (
    certification_subjects,
    observation_subjects,
    statement,
)
from lockstep.certificate.write import write_file
from lockstep.cli.evidence import YEARS, verify_all
from lockstep.errors import LockstepError
from lockstep.evidence import peers
from lockstep.evidence.index import kind_of, statement_of
from lockstep.evidence.observed import observed_table, with_table

EVIDENCE = Path("evidence")
CATALOGUE = Path("layouts/README.md")
SUBJECTS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "certification": certification_subjects,
    "layout-observation": observation_subjects,
}


def key_of(folder: Path, peer: str) -> Path:
    """Give the key that signs a peer's certificates; it is made here, and stays in this folder."""
    path = folder / f"{peer}.key"
    if not path.is_file():
        keys.new_key_file(path)
    return path


def reissue(peer: str, beside: Sequence[Path] = ()) -> None:
    """Sign a peer's certificates anew under the rules as they are, observations and all as before.

    A certificate names the rules by digest, and so goes stale with every change of them; where its
    observations still derive to what it says, no server need run again.

    Args:
        peer: whose certificates these are.
        beside: certificates made elsewhere, each in the place of one of its name.

    Raises:
        LockstepError: the code of the first certificate that is refused now; nothing changes then.
    """
    own = [path for path in EVIDENCE.glob("*.cert.json") if peers.peer_of(path.name) == peer]
    found = {path.name: path.read_bytes() for path in (*own, *beside)}
    with tempfile.TemporaryDirectory() as scratch:
        key = keys.load_key(key_of(Path(scratch), peer))
        for name, data in sorted(found.items()):
            predicate, kind = statement_of(data)["predicate"], kind_of(data)
            made = statement(kind, SUBJECTS[kind](predicate), predicate)
            write_file(Path(scratch, name), sign_statement(made, [key]))
        if found:
            promote(Path(scratch), peer)


def promote(source: Path, peer: str) -> None:
    """Put a peer's certificates into the folder of evidence, in the place of its earlier ones.

    Nothing changes unless each verifies under the policy as it will be.

    Raises:
        LockstepError: the code of the first certificate that is refused.
    """
    own = [path for path in source.glob("*.cert.json") if peers.peer_of(path.name) == peer]
    certificates = {path.name: path.read_bytes() for path in sorted(own)}
    public = keys.load_key(key_of(source, peer)).public_key()
    trust = json.loads((EVIDENCE / "trust.json").read_bytes())
    trust = lcj.encode(peers.policy_with(trust, public, peer, times.period(YEARS)))
    index = json.loads((EVIDENCE / "index.json").read_bytes())
    index = lcj.encode(peers.index_with(index, certificates, peer)) + b"\n"
    made = {**certificates, "trust.json": trust, "index.json": index}
    with tempfile.TemporaryDirectory() as scratch:
        for name, data in made.items():
            write_file(Path(scratch, name), data)
        verify_all(Path(scratch))
    for path in EVIDENCE.glob("*.cert.json"):
        if peers.peer_of(path.name) == peer and path.name not in certificates:
            path.unlink()
    for name, data in made.items():
        write_file(EVIDENCE / name, data)
        print(f"wrote {EVIDENCE / name}")
    tell_observed()


def tell_observed() -> None:
    """Write the catalogue's table of observed layouts from the certificates that there are."""
    text = with_table(CATALOGUE.read_text("utf-8"), observed_table(EVIDENCE))
    write_file(CATALOGUE, text.encode("utf-8"))


def main() -> None:
    """Put certificates that are named into the folder of evidence."""
    named = [Path(word) for word in sys.argv[1:]]
    for path in named:
        if peers.peer_of(path.name) is None or not path.is_file():
            sys.exit(f"{path}: no file, or no peer's certificate by its name")
    for peer in sorted({str(peers.peer_of(path.name)) for path in named}):
        reissue(peer, [path for path in named if peers.peer_of(path.name) == peer])
    tell_observed()


if __name__ == "__main__":
    try:
        main()
    except LockstepError as fault:
        sys.exit(str(fault))
