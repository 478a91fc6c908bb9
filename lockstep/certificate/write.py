"""Writing a file whole or not at all."""

import errno
import os
import tempfile
from contextlib import suppress
from pathlib import Path


def write_file(path: Path, data: bytes | memoryview, mode: int | None = 0o644) -> None:
    """Write to a temporary file in the same folder, force it to disk, then rename it.

    Args:
        path: of the file; where it is a link, what that leads to is replaced.
        data: its bytes.
        mode: its permissions, those of a certificate, which is for others to read; None: as the
            file there has them, or as any new file.

    Raises:
        OSError: the folder is absent, the disk is full, or what stands there is no regular file;
            `path`, which the error names, is then as it was.
    """
    try:
        if path.exists() and not (path.is_file() or path.is_dir()):
            raise OSError(errno.EINVAL, "Is no regular file")
        place = Path(os.path.realpath(path))
        _write(place, data, _usual_mode(place) if mode is None else mode)
    except OSError as fault:
        # A user knows the path that was asked for, and not the temporary one.
        raise OSError(fault.errno, fault.strerror, str(path)) from None


def _usual_mode(path: Path) -> int:
    """Give the permissions that opening the file and writing to it leaves."""
    if path.exists():
        return path.stat().st_mode & 0o777
    umask = os.umask(0o077)
    os.umask(umask)
    return 0o666 & ~umask


def _write(path: Path, data: bytes | memoryview, mode: int) -> None:
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        # mkstemp gives 0600.
        os.chmod(temporary, mode)
        os.replace(temporary, path)
    except BaseException:
        # An interruption may come after the rename.
        with suppress(FileNotFoundError):
            os.unlink(temporary)
        raise
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
