"""Writing a file whole or not at all."""

import os
import tempfile
from pathlib import Path


def write_file(path: Path, data: bytes) -> None:
    """Write to a temporary file in the same folder, force it to disk, then rename it.

    Raises:
        OSError: the folder is absent or the disk is full; `path` is then as it was.
    """
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
        os.unlink(temporary)
        raise
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
