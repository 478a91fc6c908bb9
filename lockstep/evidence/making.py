"""What all makers of committed certificates are given."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

Progress = Callable[[str, int, int], None]
COMMAND = "lockstep evidence"
EXPORT = "export.ndjson"
"""Where the export of the lemmas goes below `lean/`: bulk, which git ignores."""


@dataclass(frozen=True)
class Making:
    """What all certificates of one run share.

    Attributes:
        key: that signs them.
        issued_at: the time that they claim.
        draft: the folder that they, and the sidecars committed with them, are written to first.
        progress: told of each step.
        backend: what certificates of the engine are made on.
        jobs: processes at once; None for one a core.
        records: where a campaign of many minutes keeps what it has seen, and takes up what it saw
            of the same sources; None for a folder that goes with the run.
    """

    key: Ed25519PrivateKey
    issued_at: str
    draft: Path
    progress: Progress
    backend: str = "host"
    jobs: int | None = None
    records: Path | None = None
