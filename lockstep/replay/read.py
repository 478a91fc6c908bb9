"""Reading what a certificate says can be executed again, without judging a signature."""

from __future__ import annotations

import base64
import binascii
from pathlib import Path
from typing import Any, NamedTuple

from lockstep import portable_schema, spec
from lockstep.certificate.statement import predicate_type
from lockstep.errors import LockstepError
from lockstep.schedule.document import parse_document, read_document

KINDS = ("replay", "finding", "campaign")
"""The kinds of certificates that can be executed again from what they hold."""


class Stated(NamedTuple):
    """A kind and a predicate in the form of its schema."""

    kind: str
    predicate: dict[str, Any]


def read_stated(path: Path) -> Stated:
    """Read a certificate or a bare statement.

    Raises:
        LockstepError: as `read_document`; PREDICATE_UNKNOWN, it is of none of `KINDS`;
            MISSING_FIELD, BAD_VALUE and so on, by the schema of the kind.
    """
    document = read_document(path)
    if "payload" in document:
        try:
            payload = base64.b64decode(document["payload"], validate=True)
        except (binascii.Error, TypeError, ValueError) as fault:
            raise LockstepError("BASE64_NONCANONICAL", str(path), "base64", repr(fault)) from None
        document = parse_document(payload, str(path))
    types = {predicate_type(kind): kind for kind in KINDS}
    kind = types.get(str(document.get("predicateType")))
    if kind is None:
        got, expected = document.get("predicateType"), ", ".join(types)
        raise LockstepError("PREDICATE_UNKNOWN", f"{path}:/predicateType", expected, got)
    if "predicate" not in document:
        raise LockstepError("MISSING_FIELD", f"{path}:/predicate", "this field")
    predicate: dict[str, Any] = document["predicate"]
    schema = spec.load(f"schemas/{kind}.schema.json")
    portable_schema.require(predicate, schema, f"{path}:/predicate")
    return Stated(kind, predicate)
