"""The file of runs: a record a line, so that an interrupted campaign goes on where it stopped.

A line is `{"record": R, "sha256": D}`, D being the SHA-256 of the LCJ of R. So a line that was
edited is not taken for what a run gave, and one that was cut off is not taken for a whole one.
"""

import hashlib
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from lockstep.certificate import lcj
from lockstep.certificate.write import write_file
from lockstep.errors import LockstepError
from lockstep.limits import DOCUMENT_BYTES
from lockstep.relations.observation import Observation, parse_observation

_MEMBERS = ("record", "sha256")
_HINT = "Remove the line or the file, or run with --fresh: its runs are then made anew."


def read_observations(
    path: Path, tell: Callable[[str], None] = lambda text: None
) -> list[Observation]:
    """Read the records of a file; none where there is no file yet.

    Args:
        path: the file.
        tell: called, where the last line was cut off, with what is lost by that; the lines before
            it are whole, and kept.

    Raises:
        LockstepError: FILE_UNREADABLE, LIMIT_SIZE; at the file and the line: MALFORMED_JSON,
            NOT_AN_OBJECT, MISSING_FIELD, RECORD_ALTERED, a record that its digest does not fit,
            or what the schema refuses.
    """
    *lines, rest = _read(path).split(b"\n")
    if rest:
        try:
            _record(rest, "")
        except LockstepError:
            tell(f"{path}, line {len(lines) + 1} was cut off; its run is made anew")
        else:
            lines.append(rest)
    return [_observation(line, f"{path}, line {number}") for number, line in enumerate(lines, 1)]


def write_observations(path: Path, observations: Iterable[Observation]) -> None:
    """Write records in the order given, all or none of them.

    Raises:
        OSError: the file cannot be written.
    """
    write_file(path, b"".join(_line(observation.document()) for observation in observations))


def _read(path: Path) -> bytes:
    if not path.exists():
        return b""
    try:
        data = path.read_bytes()
    except OSError as fault:
        raise LockstepError("FILE_UNREADABLE", str(path), "a file", fault.strerror) from None
    if len(data) > DOCUMENT_BYTES:
        expected = f"at most {DOCUMENT_BYTES} bytes"
        raise LockstepError("LIMIT_SIZE", str(path), expected, len(data), _HINT)
    return data


def _line(record: dict[str, Any]) -> bytes:
    return lcj.encode({"record": record, "sha256": _digest(record)}) + b"\n"


def _digest(record: object) -> str:
    return hashlib.sha256(lcj.encode(record)).hexdigest()


def _record(line: bytes, source: str) -> dict[str, Any]:
    """Give the record of a line, as it was written.

    Raises:
        LockstepError: MALFORMED_JSON, NOT_AN_OBJECT, MISSING_FIELD, RECORD_ALTERED.
    """
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        raise LockstepError("MALFORMED_JSON", source, "one record", hint=_HINT) from None
    if not isinstance(entry, dict):
        raise LockstepError("NOT_AN_OBJECT", source, "an object", type(entry).__name__, _HINT)
    for member in _MEMBERS:
        if member not in entry:
            raise LockstepError("MISSING_FIELD", f"{source}:/{member}", "this field", hint=_HINT)
    record = entry["record"]
    if not isinstance(record, dict):
        raise LockstepError("NOT_AN_OBJECT", source, "an object", type(record).__name__, _HINT)
    try:
        digest = _digest(record)
    except (TypeError, ValueError, LockstepError):
        digest = "no digest: it is not LCJ"
    if digest != entry["sha256"]:
        raise LockstepError("RECORD_ALTERED", source, entry["sha256"], digest, _HINT)
    return record


def _observation(line: bytes, source: str) -> Observation:
    return parse_observation(_record(line, source), f"{source}:")
