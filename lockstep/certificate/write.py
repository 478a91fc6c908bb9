"""Writing a file whole or not at all."""

import os
import tempfile
from contextlib import suppress
from pathlib import Path


def write_file(path: Path, data: bytes | memoryview) -> None:
    """Write to a temporary file in the same folder, force it to disk, then rename it.

    Raises:
        OSError: the folder is absent or the disk is full; `path`, which the error names, is then
            as it was.
    """
    try:
        _write(path, data)
    except OSError as fault:
        # A user knows the path that was asked for, and not the temporary one.
        raise OSError(fault.errno, fault.strerror, str(path)) from None


def _write(path: Path, data: bytes | memoryview) -> None:
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        # mkstemp gives 0600; a certificate is for others to read.
        os.chmod(temporary, 0o644)
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
