"""`make lean`: from the sources to the names of what is proved, each with what it rests on.

The order matters. Sources are judged before Lean reads them, all is built from nothing, objects
are judged before they are believed, and only then are theorems listed and held against the
registry.
"""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lockstep import spec
from lockstep.errors import LockstepError
from lockstep.lean import build, lemmas, object_gate, source_gate, syntax_stubs, toolchain
from lockstep.lean.environment import load
from lockstep.lean.object_records import Built


@dataclass(frozen=True)
class Checked:
    """What a check went over.

    Attributes:
        lean: the toolchain that built the modules.
        modules: the modules, imports first.
        constants: how many constants they declare, the foundation's included.
        theorems: name, statement digest and axioms of each registered theorem.
    """

    lean: toolchain.Toolchain
    modules: list[Built]
    constants: int
    theorems: list[dict[str, Any]]


def check(
    *,
    source: Path | None = None,
    output: Path | None = None,
    tell: Callable[[Built], None] = lambda built: None,
) -> Checked:
    """Judge, build from nothing, and judge what was built; the registry is not looked at.

    Args:
        source: the folder of sources, normally the checkout's `lean/`.
        output: the folder for objects, normally Lake's.
        tell: called with each module as it is built.

    Raises:
        LockstepError: LEAN_SOURCE_REFUSED, LEAN_TOOLCHAIN, LEAN_BUILD_FAILED, OLEAN_MALFORMED,
            AXIOM_NOT_ALLOWED.
    """
    source = source or build.source_folder()
    output = output or build.standard_output()
    before = _digests(source)
    source_gate.check(source)
    lean = toolchain.find()
    syntax_stubs.check(source, lean.library)
    modules = build.build(source=source, output=output, tell=tell)
    if _digests(source) != before:
        hint = "Sources changed while they were being checked; check again."
        raise LockstepError("LEAN_BUILD_FAILED", str(source), hint=hint)
    environment = load(output)
    constants = object_gate.check(environment)
    return Checked(lean, modules, constants, lemmas.entries(environment))


def _digests(source: Path) -> dict[str, str]:
    return {module.name: module.sha256 for module in build.closure(source)}


def differences(theorems: list[dict[str, Any]], registry: dict[str, Any]) -> list[str]:
    """List what differs between theorems and a registry's, one line a theorem, sorted by name."""
    here = {theorem["name"]: theorem for theorem in theorems}
    there = {theorem["name"]: theorem for theorem in registry["lemmas"]}
    lines = []
    for name in sorted(here.keys() | there.keys()):
        if name not in there:
            lines.append(f"{name}: is not registered")
        elif name not in here:
            lines.append(f"{name}: is registered, and no longer proved")
        else:
            for field in ("statement_sha256", "axioms"):
                if here[name][field] != there[name][field]:
                    lines.append(
                        f"{name}: {field} is {here[name][field]}, "
                        f"registered is {there[name][field]}"
                    )
    return lines


def registered() -> dict[str, Any]:
    """Read spec/lemmas.json.

    Raises:
        LockstepError: FILE_UNREADABLE, there is none.
    """
    path = spec.root() / "lemmas.json"
    if not path.is_file():
        hint = "Write it by `lockstep lean lemmas`."
        raise LockstepError("FILE_UNREADABLE", str(path), hint=hint)
    found: dict[str, Any] = json.loads(path.read_bytes())
    return found


def require_modules(modules: Iterable[str], registry: dict[str, Any]) -> None:
    """Require modules to be exactly those of a registry.

    Raises:
        LockstepError: H3_PROOF_MISSING, with all that differ.
    """
    here, there = set(modules), set(registry["modules"])
    lines = [
        *(f"{name}: is not registered" for name in sorted(here - there)),
        *(f"{name}: is registered, and no longer there" for name in sorted(there - here)),
    ]
    if lines:
        raise LockstepError(
            "H3_PROOF_MISSING",
            "spec/lemmas.json#/modules",
            "each module as it is registered",
            "".join(f"\n{line}" for line in lines),
            "If the change is meant, run `lockstep lean lemmas` and read what it changes.",
        )


def require_registered(theorems: list[dict[str, Any]], registry: dict[str, Any]) -> None:
    """Require theorems to be exactly the registry's, in statement and axioms.

    Raises:
        LockstepError: LEMMA_STATEMENT_MISMATCH, with all that differs.
    """
    lines = differences(theorems, registry)
    if lines:
        raise LockstepError(
            "LEMMA_STATEMENT_MISMATCH",
            "spec/lemmas.json#/lemmas",
            "each lemma as it is registered",
            "".join(f"\n{line}" for line in lines),
            "If the change is meant, run `lockstep lean lemmas` and read what it changes.",
        )
