"""The registry of lemmas, spec/lemmas.json: statement digests and axioms of registered theorems."""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

from lockstep.errors import LockstepError
from lockstep.lean.axioms import Axioms
from lockstep.lean.declarations import Theorem, is_unsafe
from lockstep.lean.environment import FOUNDATION, Environment, load
from lockstep.lean.statement_digest import StatementDigests
from lockstep.lean.terms import Name, show

VERSION = 1
ALLOWED_AXIOMS = ("propext",)
"""Axioms that a registered theorem may rest on; `simp` cannot do without this one."""

ROWS = tuple(
    f"ExactTransform.{name}" for name in ("comp_roundtrip", "layout_injective", "layout_image")
)
"""General lemmas that each row of a hunt names: they carry its finding to every geometry."""


def is_registered(name: Name, environment: Environment, module: Name) -> bool:
    """Say whether a constant of a module is a registered theorem [EXP-20]."""
    data = environment.modules[module]
    written = name in data.ranged and not any(
        isinstance(part, int) or part.startswith("_") for part in name
    )
    outside = module[: len(FOUNDATION)] != FOUNDATION
    if not (outside and written):
        return False
    constant = data.constants[name]
    return isinstance(constant, Theorem) and not _is_field(environment, constant)


def _is_field(environment: Environment, theorem: Theorem) -> bool:
    """Say whether a theorem is what Lean makes of a structure's field: a projection from it."""
    terms = environment.terms.terms
    node = terms[theorem.value]
    while node[0] == "lam":
        _, _, _, body, _ = node
        node = terms[body]
    return node[0] == "proj" and node[1] == theorem.name[:-1] and terms[node[3]] == ("bvar", 0)


def registered(environment: Environment) -> list[Name]:
    """List the registered theorems of an environment, in the order of their shown names.

    Raises:
        LockstepError: OLEAN_MALFORMED where two are shown alike [EXP-21].
    """
    found = [
        name
        for module, data in environment.modules.items()
        for name in data.constants
        if is_registered(name, environment, module)
    ]
    found.sort(key=show)
    for one, other in pairwise(found):
        if show(one) == show(other):
            raise LockstepError("OLEAN_MALFORMED", show(one), "names that read differently")
    return found


def selected(environment: Environment, words: list[str]) -> list[Name]:
    """List the constants that some names of modules and constants stand for; all lemmas if none.

    A module stands for its constants that a theorem may rest on.

    Raises:
        LockstepError: USAGE, a word names neither.
    """
    if not words:
        return registered(environment)
    modules = {show(name): name for name in environment.modules}
    constants = {show(name): name for name in environment.constants}
    found: list[Name] = []
    for word in words:
        if word in modules:
            members = environment.modules[modules[word]].constants.values()
            found += [one.name for one in members if not is_unsafe(one)]
        elif word in constants:
            found.append(constants[word])
        else:
            raise LockstepError("USAGE", word, "the name of a built module or constant")
    return found


def entries(environment: Environment) -> list[dict[str, Any]]:
    """Give name, statement digest and axioms of each registered theorem.

    Raises:
        LockstepError: AXIOM_NOT_ALLOWED where one rests on an axiom outside the allow-list.
    """
    digests, axioms = StatementDigests(environment), Axioms(environment)
    found = []
    for name in registered(environment):
        rests_on = axioms.of(name)
        if not set(rests_on) <= set(ALLOWED_AXIOMS):
            raise LockstepError("AXIOM_NOT_ALLOWED", show(name), ALLOWED_AXIOMS, rests_on)
        found.append(
            {"name": show(name), "statement_sha256": digests.statement(name), "axioms": rests_on}
        )
    return found


def registry(folder: Path, layouts: dict[str, list[str]]) -> dict[str, Any]:
    """Make the registry from built modules.

    Args:
        folder: of .olean files.
        layouts: which theorems cover a declared layout, by its declaration's digest.

    Raises:
        LockstepError: OLEAN_MALFORMED, FILE_UNREADABLE, AXIOM_NOT_ALLOWED; H3_PROOF_MISSING where
            a theorem that rows or layouts call for is not there.
    """
    environment = load(folder)
    found = entries(environment)
    names = {entry["name"] for entry in found}
    for name in (*ROWS, *sorted(name for own in layouts.values() for name in own)):
        if name not in names:
            raise LockstepError("H3_PROOF_MISSING", name, "a registered theorem of this name")
    return {
        "version": VERSION,
        "allowed_axioms": list(ALLOWED_AXIOMS),
        "modules": sorted(map(show, environment.modules)),
        "lemmas": found,
        "rows": list(ROWS),
        "layouts": dict(sorted(layouts.items())),
    }


def encode(registry: dict[str, Any]) -> bytes:
    """Write the registry as it stands in spec/lemmas.json."""
    return (json.dumps(registry, indent=1, ensure_ascii=False) + "\n").encode("utf-8")
