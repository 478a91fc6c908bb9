"""Reading certificates: regular files of at most an envelope's size, each once."""

from pathlib import Path

from lockstep.certificate.keys import LIMITS
from lockstep.errors import LockstepError

SUFFIX = ".cert.json"
"""Of a certificate's file in a folder of them."""


def read_certificate(path: Path) -> bytes:
    """Read a regular file of at most an envelope's size; anything else could go on for ever.

    Raises:
        LockstepError: FILE_UNREADABLE or LIMIT_SIZE.
    """
    try:
        if not path.is_file():
            got = "another kind of file" if path.exists() else "none of this name"
            raise LockstepError("FILE_UNREADABLE", str(path), "a regular file", got)
        with path.open("rb") as file:
            data = file.read(LIMITS["envelope_bytes"] + 1)
    except OSError as fault:
        raise LockstepError("FILE_UNREADABLE", str(path), "a file", fault.strerror) from None
    if len(data) > LIMITS["envelope_bytes"]:
        raise LockstepError("LIMIT_SIZE", str(path), f"at most {LIMITS['envelope_bytes']} bytes")
    return data


def read_withdrawals(folder: Path | None) -> dict[str, bytes]:
    """Read the certificates of a folder, by their files' names, ascending; none of no folder.

    Raises:
        LockstepError: FILE_UNREADABLE or LIMIT_SIZE.
    """
    if folder is None:
        return {}
    if not folder.is_dir():
        hint = "Give the folder that holds them."
        raise LockstepError("FILE_UNREADABLE", str(folder), "a folder of withdrawals", "none", hint)
    files = sorted(folder.glob(f"*{SUFFIX}"), key=lambda file: file.name)
    return {file.name: read_certificate(file) for file in files}
