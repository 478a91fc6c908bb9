"""The certificate that is fuzzed: a hunt of four small layouts, made now, or one from a file."""

import base64
import binascii
import json
from dataclasses import dataclass
from pathlib import Path

from lockstep.certificate.read import read_certificate
from lockstep.certificate.statement import hunt_subjects, statement
from lockstep.claims.hunt import predicate
from lockstep.errors import LockstepError
from lockstep.falsify.forge import Forge
from lockstep.falsify.registry import placeholders
from lockstep.hunt import hunt
from lockstep.layouts.declaration import layouts_root
from lockstep.layouts.sets import load_set

SET = "fuzz"
_ISSUED_AT = "2026-01-01T00:00:00Z"
_PRODUCER = {
    "name": "lockstep", "version": "0", "python": "0", "numpy": "0", "machine": "none",
    "command": "lockstep fuzz-verify",
}  # fmt: skip


@dataclass(frozen=True)
class Parent:
    """A statement with its keys, and the layout files that it names, by their paths."""

    forge: Forge
    evidence: dict[str, bytes]


def make(name: str = SET) -> Parent:
    """Hunt a set and give its statement.

    The falsifications are entered as registered: they are fields like others here.
    """
    layouts = load_set(name)
    found = hunt(layouts)
    folded = predicate(
        found, issued_at=_ISSUED_AT, producer=_PRODUCER, falsifications=placeholders()
    )
    evidence = {
        layout["source"]["path"]: _file(layout["source"]["path"]) for layout in folded["layouts"]
    }
    return Parent(Forge(statement("hunt", hunt_subjects(folded), folded), _ISSUED_AT), evidence)


def read(path: Path) -> Parent:
    """Take the statement of a certificate, of whichever kind; no files are supplied with it.

    Raises:
        LockstepError: FILE_UNREADABLE, the file is none or holds no certificate; LIMIT_SIZE.
    """
    data = read_certificate(path)
    try:
        payload = base64.b64decode(json.loads(data)["payload"], validate=True)
        held = json.loads(payload)
        return Parent(Forge(held, held["predicate"]["issued_at"]), {})
    except (ValueError, KeyError, TypeError, binascii.Error):
        hint = "Give a certificate's file."
        raise LockstepError(
            "FILE_UNREADABLE", str(path), "a certificate", "something else", hint
        ) from None


def _file(path: str) -> bytes:
    return (layouts_root() / path).read_bytes()
