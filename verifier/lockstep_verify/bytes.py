"""Reading files that nobody vouches for (BYTES-1 to BYTES-4, EV-1 to EV-3)."""

import errno
import hashlib
import os
import re
import stat
from collections.abc import Iterator

from lockstep_verify import limits
from lockstep_verify.errors import Refusal

# Non-blocking, so that opening a FIFO returns; no controlling terminal is ever acquired.
_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)

_STEP = "[A-Za-z0-9_][A-Za-z0-9._-]{0,99}"
_SIDECAR = re.compile(f"{_STEP}(?:/{_STEP})*")


def _pieces(path: str | os.PathLike[str], limit: int, missing: str) -> Iterator[bytes]:
    """Yield a regular file in pieces, judging kind, size and change.

    Raises:
        Refusal: FILE_UNREADABLE (or `missing`), LIMIT_SIZE, FILE_CHANGED.
    """
    try:
        descriptor = os.open(path, _FLAGS)
    except (OSError, ValueError) as error:
        absent = isinstance(error, OSError) and error.errno == errno.ENOENT
        code = missing if absent else "FILE_UNREADABLE"
        got = getattr(error, "strerror", None) or str(error)
        raise Refusal(code, expected="a regular file", got=got) from None
    try:
        before = os.fstat(descriptor)
        if not stat.S_ISREG(before.st_mode):
            raise Refusal("FILE_UNREADABLE", expected="a regular file", got="another kind of file")
        if before.st_size > limit:
            raise Refusal("LIMIT_SIZE", expected=f"at most {limit} bytes", got=before.st_size)
        size = 0
        while piece := os.read(descriptor, limits.READ_BYTES):
            size += len(piece)
            if size > before.st_size:
                break
            yield piece
        after = os.fstat(descriptor)
        seen = (size, after.st_size, after.st_mtime_ns)
        if seen != (before.st_size, before.st_size, before.st_mtime_ns):
            raise Refusal("FILE_CHANGED", expected=f"{before.st_size} bytes", got=f"{size} bytes")
    except OSError as error:
        raise Refusal("FILE_UNREADABLE", expected="a readable file", got=error.strerror) from None
    finally:
        os.close(descriptor)


def read_file(
    path: str | os.PathLike[str], limit: int, *, missing: str = "FILE_UNREADABLE"
) -> bytes:
    """Read a regular file of at most `limit` bytes, whole (BYTES-1 to BYTES-3).

    Raises:
        Refusal: FILE_UNREADABLE (or `missing`, for a path where nothing is), LIMIT_SIZE,
            FILE_CHANGED.
    """
    return b"".join(_pieces(path, limit, missing))


def sha256_file(path: str | os.PathLike[str], *, missing: str = "FILE_UNREADABLE") -> str:
    """Give the hex SHA-256 of a regular file, which is not held in memory; raises as read_file."""
    digest = hashlib.sha256()
    for piece in _pieces(path, limits.EVIDENCE_BYTES, missing):
        digest.update(piece)
    return digest.hexdigest()


def check_name(name: str, pointer: str) -> None:
    """Check that a sidecar's name cannot lead out of its folder (EV-1).

    Raises:
        Refusal: BAD_VALUE.
    """
    if len(name) > 200 or not _SIDECAR.fullmatch(name):
        raise Refusal("BAD_VALUE", pointer, expected="plain names joined by /", got=name)


def evidence(
    folder: str | os.PathLike[str] | None,
    name: str,
    sha256: str,
    pointer: str,
    limit: int = limits.EVIDENCE_BYTES,
) -> bytes:
    """Read a sidecar that a verdict needs, and compare its digest (EV-1 to EV-3).

    Raises:
        Refusal: BAD_VALUE for a name that could lead out of the folder, EVIDENCE_MISSING,
            EVIDENCE_DIGEST_MISMATCH, and the codes of read_file.
    """
    if folder is None:
        raise Refusal("EVIDENCE_MISSING", pointer, expected=name, got="no --evidence folder")
    check_name(name, pointer)
    try:
        data = read_file(os.path.join(folder, *name.split("/")), limit, missing="EVIDENCE_MISSING")
    except Refusal as refusal:
        raise Refusal(refusal.code, pointer, refusal.expected, refusal.got) from None
    found = hashlib.sha256(data).hexdigest()
    if found != sha256:
        raise Refusal("EVIDENCE_DIGEST_MISMATCH", pointer, expected=sha256, got=found)
    return data


def decode_utf8(data: bytes) -> str:
    """Decode a text strictly (BYTES-4).

    Raises:
        Refusal: BAD_ENCODING.
    """
    if data.startswith(b"\xef\xbb\xbf"):
        raise Refusal("BAD_ENCODING", expected="UTF-8", got="a byte order mark")
    if 0 in data[:2]:
        # UTF-16 and UTF-32 without a mark: their first character is ASCII in any JSON text.
        raise Refusal("BAD_ENCODING", expected="UTF-8", got="a zero among the first two bytes")
    try:
        return data.decode("utf-8", "strict")
    except UnicodeDecodeError as error:
        raise Refusal("BAD_ENCODING", expected="UTF-8", got=f"byte {error.start}") from None
