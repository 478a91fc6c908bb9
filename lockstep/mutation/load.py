"""Puts a mutation into a fresh process: edited sources in place of the real ones [MUT-4].

The edited text is compiled as the module's own, so every importer gets it, whichever name it
binds. Nothing is patched afterwards: a name that a caller bound before would still be the old one.
"""

from __future__ import annotations

import importlib.machinery
import linecache
import os
import sys
from collections.abc import Mapping, Sequence
from importlib.abc import InspectLoader, MetaPathFinder
from importlib.util import spec_from_file_location
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from lockstep.errors import LockstepError
from lockstep.mutation import sentinel
from lockstep.mutation.operator import Edit, Operator

VARIABLE = "LOCKSTEP_MUTATION"
"""The environment variable by which a mutated process tells its children to be mutated too."""

CONTROL = Operator(
    id="unmutated",
    subsystem="none",
    module="lockstep.engine.execute",
    edits=(),
    cause="None: the engine as it is.",
    source="MUT-8",
    black_box="invisible",
    reason="There is nothing to see.",
)
"""What a trial of the engine itself installs: observing edits alone."""

STEPS = {
    "lockstep.engine.execute": (
        Edit(
            "ledger, work = self.ledger, self.ledger.work\n",
            "ledger, work = self.ledger, self.ledger.work\n        sentinel.step()\n",
        ),
    )
}
"""The edits that count the steps of executions, in every mutated process."""

_installed: list[str] = []


def installed() -> str | None:
    """Give the id of the operator that this process is mutated by, None for the real engine."""
    return _installed[0] if _installed else None


def find(name: str) -> Operator:
    """Give the operator of an id.

    Raises:
        LockstepError: MUTATION_UNKNOWN.
    """
    from lockstep.mutation.operators import operators

    if name == CONTROL.id:
        return CONTROL
    if name not in operators():
        known = ", ".join(operators())
        raise LockstepError("MUTATION_UNKNOWN", "/operator", f"one of {known}", name)
    return operators()[name]


def install(name: str) -> Operator:
    """Mutate this process: from here on, imports give the operator's sources.

    Raises:
        LockstepError: MUTATION_UNKNOWN; MUTATION_TOO_LATE, one of its modules is imported already,
            or the process is mutated; MUTATION_NOT_APPLICABLE, an edit's text does not occur
            exactly once.
    """
    operator = find(name)
    install_operator(operator)
    return operator


def install_operator(operator: Operator) -> None:
    """Mutate this process by an operator that need not be registered; errors as `install`."""
    edits = all_edits(operator)
    if _installed:
        where = f"operator {operator.id}"
        raise LockstepError("MUTATION_TOO_LATE", where, "a process without mutation", _installed[0])
    for module in edits:
        if module in sys.modules:
            where = f"operator {operator.id}: {module}"
            raise LockstepError("MUTATION_TOO_LATE", where, "a module not imported yet", "imported")
    texts = {module: _edited(operator.id, module, edits[module]) for module in edits}
    sys.meta_path.insert(0, _Finder(operator.id, texts))
    _installed.append(operator.id)
    sentinel.report_at_exit()


def all_edits(operator: Operator) -> dict[str, tuple[Edit, ...]]:
    """Give the edits of an operator and those that count steps, by module."""
    edits = dict(operator.by_module)
    for module, more in STEPS.items():
        edits[module] = (*edits.get(module, ()), *more)
    return edits


def module_command(module: str) -> list[str]:
    """Give the command that runs a module in a process that is mutated as this one is.

    A child of a mutated process that were not mutated would be told apart from its parent by
    every fault, and find nothing.
    """
    name = installed()
    runner = ["lockstep.mutation.child", name] if name else []
    return [sys.executable, "-m", *runner, module]


def install_from_environment() -> str | None:
    """Mutate this process as its parent is, where the environment says so; give the id.

    Raises:
        LockstepError: as `install`.
    """
    name = os.environ.get(VARIABLE)
    if name:
        install(name)
    return name or None


def require_unmutated(what: str) -> None:
    """Refuse to go on in a mutated process, or below one.

    Args:
        what: what may not be done there, in words.

    Raises:
        LockstepError: MUTATION_INSTALLED.
    """
    name = installed() or os.environ.get(VARIABLE)
    if name:
        raise LockstepError("MUTATION_INSTALLED", what, "the engine as it is", f"mutated by {name}")


def apply(text: str, edits: Sequence[Edit], where: str) -> str:
    """Give a text with edits, each of which is one of the text as it was.

    Raises:
        LockstepError: MUTATION_NOT_APPLICABLE, an old text does not occur exactly once, or two
            of them overlap.
    """
    places = []
    for edit in edits:
        count = text.count(edit.old)
        if count != 1:
            told = (
                f"{where}: {edit.old.strip().splitlines()[0][:60]}" if edit.old.strip() else where
            )
            raise LockstepError("MUTATION_NOT_APPLICABLE", told, "one occurrence", count)
        places.append((text.index(edit.old), edit))
    places.sort(key=lambda pair: pair[0])
    made, end = [], 0
    for begin, edit in places:
        if begin < end:
            raise LockstepError("MUTATION_NOT_APPLICABLE", where, "edits apart", "overlapping ones")
        made += [text[end:begin], edit.new]
        end = begin + len(edit.old)
    return "".join([*made, text[end:]])


def source_of(module: str) -> tuple[Path, str]:
    """Give the path and the real text of a module, importing nothing but its packages' paths.

    Raises:
        LockstepError: MUTATION_NOT_APPLICABLE, there is no such module.
    """
    folder = Path(__file__).resolve().parent.parent
    first, *names = module.split(".")
    path = folder.joinpath(*names) if first == "lockstep" else folder / "nothing"
    for candidate in (path.with_suffix(".py"), path / "__init__.py"):
        if candidate.is_file():
            return candidate, candidate.read_text("utf-8")
    raise LockstepError("MUTATION_NOT_APPLICABLE", module, "a module of the engine", "none")


def _edited(name: str, module: str, edits: Sequence[Edit]) -> tuple[Path, str]:
    path, text = source_of(module)
    return path, apply(text, edits, f"operator {name}: {module}")


class _Finder(MetaPathFinder):
    """Finds the edited modules, and no others."""

    def __init__(self, name: str, texts: Mapping[str, tuple[Path, str]]) -> None:
        self._name = name
        self._texts = texts

    def find_spec(
        self, fullname: str, path: object = None, target: object = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Give the spec of an edited module; its origin stays the real file."""
        if fullname not in self._texts:
            return None
        origin, text = self._texts[fullname]
        package = origin.name == "__init__.py"
        loader = _Loader(self._name, fullname, text, package)
        locations = [str(origin.parent)] if package else None
        return spec_from_file_location(
            fullname, origin, loader=loader, submodule_search_locations=locations
        )


class _Loader(InspectLoader):
    """Compiles an edited text under a file name of its own, so that tracebacks show it."""

    def __init__(self, name: str, module: str, text: str, package: bool) -> None:
        self._text = text
        self._package = package
        self._file = f"<mutation {name}>/{module.replace('.', '/')}.py"

    def is_package(self, fullname: str) -> bool:
        """Whether the module is a package."""
        return self._package

    def get_source(self, fullname: str) -> str:
        """Give the edited text."""
        return self._text

    def get_code(self, fullname: str) -> CodeType:
        """Compile the edited text."""
        lines = self._text.splitlines(keepends=True)
        linecache.cache[self._file] = (len(self._text), None, lines, self._file)
        code: CodeType = compile(self._text, self._file, "exec", dont_inherit=True)
        return code

    def exec_module(self, module: ModuleType) -> None:
        """Run the edited text, which finds `sentinel` and `real` among its names."""
        module.__dict__["sentinel"] = sentinel
        module.__dict__["real"] = Real(module.__name__)
        super().exec_module(module)


class Real:
    """An edited module as it would be unedited: what a fault's value is compared with.

    It is made at its first use; what it imports are the modules of the process.

    Args:
        module: the module's full name.
    """

    def __init__(self, module: str) -> None:
        self._name = module
        self._made: ModuleType | None = None

    def __getattr__(self, name: str) -> Any:
        if self._made is None:
            path, text = source_of(self._name)
            made = ModuleType(self._name)
            made.__dict__.update(__file__=str(path), __package__=self._name.rpartition(".")[0])
            exec(compile(text, str(path), "exec", dont_inherit=True), made.__dict__)  # noqa: S102
            self._made = made
        return getattr(self._made, name)
