"""The file of runs: a record a line, so that an interrupted campaign goes on where it stopped."""

import json
from collections.abc import Iterable
from pathlib import Path

from lockstep.certificate import lcj
from lockstep.certificate.write import write_file
from lockstep.errors import LockstepError
from lockstep.limits import DOCUMENT_BYTES
from lockstep.relations.observation import Observation, parse_observation


def read_observations(path: Path) -> list[Observation]:
    """Read the records of a file; none where there is no file yet.

    Raises:
        LockstepError: FILE_UNREADABLE, LIMIT_SIZE; MALFORMED_JSON, NOT_AN_OBJECT, or what the
            schema refuses, at the file and the line.
    """
    if not path.exists():
        return []
    try:
        data = path.read_bytes()
    except OSError as fault:
        raise LockstepError("FILE_UNREADABLE", str(path), "a file", fault.strerror) from None
    if len(data) > DOCUMENT_BYTES:
        expected = f"at most {DOCUMENT_BYTES} bytes"
        raise LockstepError("LIMIT_SIZE", str(path), expected, len(data))
    return [
        _observation(line, f"{path}, line {number}")
        for number, line in enumerate(data.splitlines(), 1)
    ]


def write_observations(path: Path, observations: Iterable[Observation]) -> None:
    """Write records in the order given, all or none of them.

    Raises:
        OSError: the file cannot be written.
    """
    lines = (lcj.encode(observation.document()) + b"\n" for observation in observations)
    write_file(path, b"".join(lines))


def _observation(line: bytes, source: str) -> Observation:
    try:
        document = json.loads(line)
    except ValueError:
        hint = "Remove the file, or run with --fresh."
        raise LockstepError("MALFORMED_JSON", source, "one record", hint=hint) from None
    if not isinstance(document, dict):
        raise LockstepError("NOT_AN_OBJECT", source, "an object", type(document).__name__)
    return parse_observation(document, f"{source}:")
