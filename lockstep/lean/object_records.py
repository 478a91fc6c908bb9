"""Objects that Lean made, each with a record of what it was made from, beside it."""

import hashlib
import json
from collections.abc import Container, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lockstep.lean.toolchain import Toolchain

OPTIONS = ("-j1", "-DwarningAsError=true", "-DautoImplicit=false")
"""As in lakefile.lean; one thread each, since several processes run at once. Without the last, Lean
would read a name that it does not know as a variable, and so prove another statement."""
OBJECT_SUFFIXES = (".olean", ".ilean", ".built.json", ".part")
"""Endings of what a builder leaves: objects, indices, records, unfinished objects."""


@dataclass(frozen=True)
class Built:
    """A module that was built or kept.

    Attributes:
        name: the module.
        seconds: how long Lean took, none if the object was kept.
        sha256: the object's digest.
    """

    name: str
    seconds: float | None
    sha256: str


@dataclass(frozen=True)
class Workspace:
    """Where a build takes its sources from and puts its objects, and by which Lean.

    Attributes:
        lean: the toolchain.
        source: the folder of sources.
        output: the folder for objects and their records.
    """

    lean: Toolchain
    source: Path
    output: Path

    def object(self, name: str) -> Path:
        """Give the path of a module's object."""
        return self.output.joinpath(*name.split(".")).with_suffix(".olean")

    def record(self, name: str) -> Path:
        """Give the path of the record beside it."""
        return self.object(name).with_suffix(".built.json")

    def text(self, name: str) -> Path:
        """Give the path of a module's source."""
        return self.source.joinpath(*name.split(".")).with_suffix(".lean")


def kept(workspace: Workspace) -> dict[str, Built]:
    """Give the objects whose record holds, by module.

    A record holds if the source, the toolchain, the options, the object itself and the objects of
    all imports have the digests that it states, and the records of all imports hold.
    """
    held: dict[str, Built | None] = {}

    def holds(name: str) -> Built | None:
        if name not in held:
            # A record that leads back to itself holds nothing.
            held[name] = None
            try:
                record = json.loads(workspace.record(name).read_bytes())
                imports = record["imports"]
                now = made_from(
                    workspace, name, {other: digest(workspace.object(other)) for other in imports}
                )
            except (OSError, ValueError, KeyError, TypeError):
                return None
            if record == now and all(holds(other) for other in imports):
                held[name] = Built(name, None, now["object"])
        return held[name]

    found = (path.relative_to(workspace.output) for path in workspace.output.rglob("*.olean"))
    names = sorted(".".join(path.with_suffix("").parts) for path in found)
    return {name: built for name in names if (built := holds(name))}


def made_from(workspace: Workspace, name: str, imports: Mapping[str, str]) -> dict[str, Any]:
    """Give what a module's object was made from, and its own digest.

    Args:
        workspace: where they lie.
        name: the module.
        imports: the digests of its imports' objects, by module.
    """
    return {
        "imports": dict(imports),
        "object": digest(workspace.object(name)),
        "options": list(OPTIONS),
        "source": digest(workspace.text(name)),
        "toolchain": workspace.lean.library_sha256,
    }


def delete(output: Path, kept: Container[str]) -> None:
    """Delete all that a builder left below a folder, but for the modules that are kept."""
    for path in sorted(output.rglob("*")):
        relative = path.relative_to(output)
        suffix = next((s for s in OBJECT_SUFFIXES if path.name.endswith(s)), None)
        if suffix is None or not path.is_file():
            continue
        name = ".".join((*relative.parent.parts, path.name.removesuffix(suffix)))
        if name not in kept:
            path.unlink()


def digest(path: Path) -> str:
    """Give a file's SHA-256 in hex."""
    return hashlib.sha256(path.read_bytes()).hexdigest()
