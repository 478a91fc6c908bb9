"""The Lean sources that are made by programs: writing them, and telling which have drifted.

Each generator is a module that offers `files()`: the text of each source by its path below lean/.
"""

from collections.abc import Callable, Iterable
from pathlib import Path

from lockstep.certificate.write import write_file
from lockstep.errors import LockstepError
from lockstep.lean import (
    element_samples,
    every_geometry,
    layout_certificates,
    lifecycle_relation,
    position_certificates,
    size_certificates,
    verdict_table,
)
from lockstep.lean.certificate_text import FOLDER

Generator = Callable[[], dict[str, str]]

GENERATORS: tuple[Generator, ...] = (
    element_samples.files,
    every_geometry.files,
    layout_certificates.files,
    lifecycle_relation.files,
    position_certificates.files,
    size_certificates.files,
    verdict_table.files,
)
"""Everything that makes a source."""
OWNED = (FOLDER,)
"""Folders below lean/ in which every source is generated."""


def generated(generators: Iterable[Generator] = GENERATORS) -> dict[str, str]:
    """Give the text of each generated source by its path below lean/, sorted.

    Raises:
        LockstepError: INTERNAL where two generators make one source; or what a generator raises.
    """
    found: dict[str, str] = {}
    for files in generators:
        for path, text in files().items():
            if path in found:
                raise LockstepError("INTERNAL", path, "one generator for each source", "two")
            found[path] = text
    return dict(sorted(found.items()))


def write(source: Path, files: dict[str, str]) -> list[str]:
    """Write what differs, remove what nothing makes any more, and give the paths of both.

    Raises:
        OSError: a folder is absent or the disk is full; each source is whole, old or new.
    """
    changed = drifted(source, files)
    for path in changed:
        if path in files:
            (source / path).parent.mkdir(parents=True, exist_ok=True)
            write_file(source / path, files[path].encode())
        else:
            (source / path).unlink()
    return changed


def drifted(source: Path, files: dict[str, str]) -> list[str]:
    """List the sources that are not as made: changed, missing, or in an owned folder unmade."""
    differing = [path for path, text in files.items() if _text(source / path) != text]
    standing = (file for folder in OWNED for file in (source / folder).rglob("*.lean"))
    unmade = {file.relative_to(source).as_posix() for file in standing} - files.keys()
    return sorted([*differing, *unmade])


def check(source: Path, files: dict[str, str]) -> None:
    """Require the sources to be as made.

    Raises:
        LockstepError: LEAN_SOURCE_DRIFTED, naming each that is not.
    """
    differing = drifted(source, files)
    if differing:
        raise LockstepError(
            "LEAN_SOURCE_DRIFTED",
            ", ".join(differing),
            "what the generators make",
            hint="Run `lockstep lean generate`; change what makes a source, not the source.",
        )


def _text(path: Path) -> str | None:
    return path.read_text("utf-8") if path.is_file() else None
