"""Reading a workload or a schedule from a file: its text, then its schema [SCHED-1]."""

import json
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lockstep import portable_schema, spec
from lockstep.certificate.lcj import LARGEST
from lockstep.errors import LockstepError
from lockstep.limits import DOCUMENT_BYTES


def read_document(path: Path) -> dict[str, Any]:
    """Read the object that a file holds.

    Raises:
        LockstepError: FILE_UNREADABLE, LIMIT_SIZE, BAD_ENCODING, MALFORMED_JSON, DUPLICATE_KEY,
            NUMBER_OUT_OF_PROFILE, BAD_UNICODE, LIMIT_DEPTH or NOT_AN_OBJECT, at the file.
    """
    return parse_document(_bytes(path), str(path))


def parse_document(data: bytes, source: str = "") -> dict[str, Any]:
    """Parse the object that a text holds; `source` names it in errors, which `read_document` has.

    Raises:
        LockstepError: as `read_document`, except those of a file.
    """
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as fault:
        raise LockstepError("BAD_ENCODING", source, "UTF-8", f"byte {fault.start}") from None
    if text.startswith("\ufeff") or "\0" in text[:2]:
        raise LockstepError("BAD_ENCODING", source, "UTF-8 without a byte order mark")
    strict = _Strict(source)
    try:
        value = json.loads(
            text,
            object_pairs_hook=strict.members,
            parse_int=strict.integer,
            parse_float=strict.no_number,
            parse_constant=strict.no_number,
        )
    except json.JSONDecodeError as fault:
        where = f"line {fault.lineno} column {fault.colno}: {fault.msg}"
        raise LockstepError("MALFORMED_JSON", source, "one JSON value", where) from None
    except RecursionError:
        raise LockstepError("LIMIT_DEPTH", source, "at most 64 levels") from None
    if not isinstance(value, dict):
        raise LockstepError("NOT_AN_OBJECT", source, "an object", type(value).__name__)
    return value


def require_schema(document: dict[str, Any], kind: str, source: str = "") -> None:
    """Hold a document against the schema of its kind, `workload` or `schedule` [SCHEMA-3].

    Raises:
        LockstepError: WRONG_TYPE, BAD_VALUE, UNKNOWN_FIELD or MISSING_FIELD, with its pointer.
    """
    schema = spec.load(f"schemas/{kind}.schema.json")
    portable_schema.require(document, schema, place(source))


def place(source: str, pointer: str = "") -> str:
    """Give a pointer with the name of its document before it, where it has one."""
    return f"{source}:{pointer}" if source else pointer


@contextmanager
def located(source: str) -> Iterator[None]:
    """Name a document in refusals that point into it, and leave others as they are."""
    try:
        yield
    except LockstepError as fault:
        if not fault.pointer.startswith("/"):
            raise
        where = place(source, fault.pointer)
        raise LockstepError(fault.code, where, fault.expected, fault.got, fault.hint) from None


class _Strict:
    """Refuses what JSON admits and the documents do not; `source` names the text in errors."""

    def __init__(self, source: str) -> None:
        self.source = source

    def members(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        members: dict[str, Any] = {}
        for name, value in pairs:
            if name in members:
                raise LockstepError("DUPLICATE_KEY", self.source, "each name once", repr(name))
            for text in (name, value):
                if isinstance(text, str) and any("\ud800" <= c <= "\udfff" for c in text):
                    raise LockstepError("BAD_UNICODE", self.source, "no lone surrogate", repr(text))
            members[name] = value
        return members

    def integer(self, lexeme: str) -> int:
        # Its length is judged first: Python refuses to convert very long ones at all.
        if len(lexeme) > 17 or abs(int(lexeme)) > LARGEST or lexeme == "-0":
            self.no_number(lexeme)
        return int(lexeme)

    def no_number(self, lexeme: str) -> None:
        raise LockstepError(
            "NUMBER_OUT_OF_PROFILE", self.source, f"integers up to {LARGEST}", lexeme[:40]
        )


def _bytes(path: Path) -> bytes:
    """Read a regular file within the limit."""
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise LockstepError("FILE_UNREADABLE", str(path), "a regular file")
        if status.st_size > DOCUMENT_BYTES:
            expected = f"at most {DOCUMENT_BYTES} bytes"
            raise LockstepError("LIMIT_SIZE", str(path), expected, status.st_size)
        return path.read_bytes()
    except OSError as fault:
        raise LockstepError("FILE_UNREADABLE", str(path), "a file", fault.strerror) from None
