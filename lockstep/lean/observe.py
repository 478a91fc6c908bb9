"""What was seen of one build of the lemmas, for its certificate (spec/lean.md)."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from lockstep.errors import LockstepError

if TYPE_CHECKING:
    from lockstep.lean.check import Checked
    from lockstep.lean.toolchain import Toolchain

Progress = Callable[[str, int, int], None]
"""Told of each step, how far it has come, and how far it goes."""
HOSTS = {
    "lake": "lake build, which starts lean once a module",
    "wheel": "lockstep/lean/host.py, a Python process of its own a module",
}
"""The process that hosts the kernel, by builder."""


@dataclass(frozen=True)
class Theorem:
    """A registered theorem of the built modules: name, statement digest, axioms sorted."""

    name: str
    statement_sha256: str
    axioms: tuple[str, ...]


@dataclass(frozen=True)
class LeanObservations:
    """What was seen of one build of the lemmas.

    Attributes:
        kernel: builder, version, commit and library_sha256 [LEAN-5].
        host: the process that ran the kernel.
        theorems: in the order of their names.
        modules: hex SHA-256 of each source by its module's name.
        kernel_accepted: whether Lean exited with 0 for every module; None where not looked.
        gates_passed: whether neither gate found anything; None where not looked.
        official_toolchain_agrees: whether the official toolchain gave what is registered
            [LEAN-8]; None where it did not build.
        export: path and hex SHA-256 of the export, if one was written.
    """

    kernel: Mapping[str, str]
    host: str
    theorems: tuple[Theorem, ...]
    modules: Mapping[str, str]
    kernel_accepted: bool | None
    gates_passed: bool | None
    official_toolchain_agrees: bool | None
    export: tuple[str, str] | None


def observe(
    source: Path,
    output: Path,
    *,
    export: Path | None = None,
    progress: Progress = lambda what, done, whole: None,
) -> LeanObservations:
    """Check the sources as `make lean` does, and read what the objects state.

    A build or gate that fails raises, so that nothing is observed of it.

    Args:
        source: the folder of sources.
        output: the folder of objects.
        export: where to write the export, below `source`; none is written without it.
        progress: told of each step.

    Raises:
        LockstepError: LEAN_TOOLCHAIN, LEAN_SOURCE_REFUSED, LEAN_BUILD_FAILED, OLEAN_MALFORMED,
            AXIOM_NOT_ALLOWED; FILE_CHANGED where a source changed while it was built.
    """
    from lockstep.lean import check

    before = sources(source)
    built = count(1)

    def tell(_: object) -> None:
        progress("building the lemmas", next(built), len(before))

    progress("building the lemmas", 0, len(before))
    checked = check.check(source=source, output=output, tell=tell)
    theorems = tuple(
        Theorem(entry["name"], entry["statement_sha256"], tuple(entry["axioms"]))
        for entry in checked.theorems
    )
    held = None if export is None else _export(source, output, export)
    if sources(source) != before:
        hint = "A source changed while it was being built; build again."
        raise LockstepError("FILE_CHANGED", str(source), hint=hint)
    return LeanObservations(
        kernel=identity(checked.lean),
        host=HOSTS[checked.lean.builder],
        theorems=theorems,
        modules=before,
        kernel_accepted=True,
        gates_passed=True,
        official_toolchain_agrees=_agrees(checked),
        export=held,
    )


def _agrees(checked: Checked) -> bool | None:
    """Hold what the official toolchain gave against the registry; None if another built."""
    from lockstep.lean import check

    if checked.lean.builder != "lake":
        return None
    return not check.differences(checked.theorems, check.registered())


def _export(source: Path, output: Path, export: Path) -> tuple[str, str]:
    """Write the export of all registered theorems; give its path below the sources and digest."""
    from lockstep.certificate.write import write_file
    from lockstep.lean import lemmas
    from lockstep.lean.environment import load
    from lockstep.lean.export import export as exported

    environment = load(output)
    data = exported(environment, lemmas.registered(environment))
    write_file(export, data)
    return export.relative_to(source).as_posix(), hashlib.sha256(data).hexdigest()


def identity(found: Toolchain) -> dict[str, str]:
    """Say by which bytes the kernel is known."""
    return {
        "builder": found.builder,
        "version": found.version,
        "commit": found.commit,
        "library_sha256": found.library_sha256,
    }


def sources(folder: Path) -> dict[str, str]:
    """Give the SHA-256 of each source by its module's name."""
    from lockstep.lean import source_text

    return {
        name: hashlib.sha256(path.read_bytes()).hexdigest()
        for name, path in source_text.modules(folder).items()
    }
