"""Modules that were built, read from a folder of .olean files, and their constants together."""

from dataclasses import dataclass, field
from pathlib import Path

from lockstep.errors import LockstepError
from lockstep.lean.declarations import Constant, Constructor, Inductive, Recursor
from lockstep.lean.module_data import Module, read_module
from lockstep.lean.terms import Name, Terms, show

FOUNDATION = ("Lockstep", "Foundation")
"""Modules under this name lay what lemmas stand on; their own theorems are not registered."""


@dataclass
class Environment:
    """The constants of some modules and all that they import, with the terms they are made of.

    Attributes:
        terms: the store which the numbers in `constants` belong to.
        modules: each by its name, imports before importers.
        constants: each by its name.
        recursors: an inductive group's recursors, in the order of `recursor_place`, by the
            group's first type.
    """

    terms: Terms = field(default_factory=Terms)
    modules: dict[Name, Module] = field(default_factory=dict)
    constants: dict[Name, Constant] = field(default_factory=dict)
    recursors: dict[Name, list[Recursor]] = field(default_factory=dict)

    def constant(self, name: Name) -> Constant:
        """Give a constant by its name.

        Raises:
            LockstepError: OLEAN_MALFORMED, no module has it.
        """
        found = self.constants.get(name)
        if found is None:
            raise LockstepError("OLEAN_MALFORMED", show(name), "a constant that a module declares")
        return found

    def inductive(self, name: Name) -> Inductive:
        """Give an inductive type by its name.

        Raises:
            LockstepError: OLEAN_MALFORMED, no module has it.
        """
        found = self.constant(name)
        if not isinstance(found, Inductive):
            raise LockstepError("OLEAN_MALFORMED", show(name), "an inductive type")
        return found

    def group_of(self, constant: Constant) -> Name | None:
        """Give the first type of the inductive group that a constant belongs to, if any."""
        if isinstance(constant, Constructor):
            constant = self.inductive(constant.inductive)
        return constant.group[0] if isinstance(constant, Inductive | Recursor) else None


def recursor_place(recursor: Recursor) -> int:
    """Give a recursor's place in its group: its type's, then the nested ones `rec_1`, `rec_2`, ….

    Raises:
        LockstepError: OLEAN_MALFORMED, its name is none that Lean gives.
    """
    *prefix, last = recursor.name
    group = recursor.group
    if last == "rec" and tuple(prefix) in group:
        return group.index(tuple(prefix))
    if isinstance(last, str) and last.startswith("rec_") and tuple(prefix) == group[0]:
        count = last.removeprefix("rec_")
        if count.isdecimal() and count.isascii() and not count.startswith("0"):
            return len(group) - 1 + int(count)
    raise LockstepError("OLEAN_MALFORMED", show(recursor.name), "a recursor's name", group)


def load(folder: Path, wanted: list[Name] | None = None) -> Environment:
    """Read modules and what they import from a folder; all that lie there unless some are named.

    Raises:
        LockstepError: OLEAN_MALFORMED; FILE_UNREADABLE where a module was not built.
    """
    if wanted is None:
        found = sorted(folder.rglob("*.olean"))
        wanted = [path.relative_to(folder).with_suffix("").parts for path in found]
    if not wanted:
        hint = "Build the lemmas first: `lockstep lean build`."
        raise LockstepError("FILE_UNREADABLE", str(folder), "a folder with .olean files", hint=hint)
    environment = Environment()
    pending: list[tuple[Name, bool]] = [(name, False) for name in reversed(wanted)]
    read: dict[Name, Module] = {}
    while pending:
        name, ready = pending.pop()
        if name in environment.modules:
            continue
        if ready:
            _add(environment, name, read[name])
            continue
        if name in read:
            raise LockstepError("OLEAN_MALFORMED", show(name), "imports without a circle")
        module = read[name] = _read(folder, name, environment.terms)
        pending.append((name, True))
        pending.extend((other, False) for other in reversed(module.imports))
    return environment


def _read(folder: Path, name: Name, terms: Terms) -> Module:
    path = folder.joinpath(*(str(part) for part in name))
    path = path.with_name(path.name + ".olean")
    if not path.is_file():
        hint = "Build the lemmas first: `lockstep lean build`."
        raise LockstepError("FILE_UNREADABLE", str(path), "a built module", hint=hint)
    return read_module(path, terms)


def _add(environment: Environment, name: Name, module: Module) -> None:
    for constant in module.constants.values():
        if constant.name in environment.constants:
            raise LockstepError(
                "OLEAN_MALFORMED", f"{module.path}:{show(constant.name)}", "a name of its own"
            )
        environment.constants[constant.name] = constant
        if isinstance(constant, Recursor):
            environment.recursors.setdefault(constant.group[0], []).append(constant)
    for recursors in environment.recursors.values():
        recursors.sort(key=recursor_place)
    environment.modules[name] = module
