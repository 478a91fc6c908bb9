"""A small tree of Lean sources with its objects, copied for each test that changes something."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from lockstep.errors import LockstepError
from lockstep.lean import build, toolchain
from lockstep.lean.object_records import Built

MODULES = ("Lockstep.Accelerated",)
"""What the small tree holds, with all that it imports."""


@dataclass(frozen=True)
class Tree:
    """A folder of sources and one of objects."""

    source: Path
    output: Path

    def path(self, module: str) -> Path:
        return self.source.joinpath(*module.split(".")).with_suffix(".lean")

    def object(self, module: str) -> Path:
        return self.output.joinpath(*module.split(".")).with_suffix(".olean")

    def write(self, module: str, text: str) -> None:
        self.path(module).parent.mkdir(parents=True, exist_ok=True)
        self.path(module).write_text(text, "utf-8")

    def replace(self, module: str, old: str, new: str) -> None:
        """Put `new` in the one place where `old` stands."""
        text = self.path(module).read_text("utf-8")
        assert text.count(old) == 1, f"{module} has {text.count(old)} times {old!r}"
        self.write(module, text.replace(old, new))

    def build(self, *modules: str, incremental: bool = True) -> list[Built]:
        return build.build(modules, source=self.source, output=self.output, incremental=incremental)


@pytest.fixture(scope="session")
def lean() -> toolchain.Toolchain:
    """The Lean that builds the lemmas; the Makefile installs it wherever it can be had."""
    try:
        return toolchain.find()
    except LockstepError as error:
        pytest.skip(f"no Lean here, and its wheel is for Linux on x86-64 alone: {error.got}")


@pytest.fixture(scope="session")
def built(lean: toolchain.Toolchain, tmp_path_factory: pytest.TempPathFactory) -> Tree:
    """The small tree, built from nothing; to be copied, not changed."""
    folder = tmp_path_factory.mktemp("lean")
    tree = Tree(folder / "source", folder / "output")
    for module in build.closure(build.source_folder(), MODULES):
        tree.write(module.name, module.source.read_text("utf-8"))
    tree.build(incremental=False)
    return tree


@pytest.fixture
def tree(built: Tree, tmp_path: Path) -> Iterator[Tree]:
    """A copy of the small tree with its objects."""
    shutil.copytree(built.source, tmp_path / "source")
    shutil.copytree(built.output, tmp_path / "output")
    yield Tree(tmp_path / "source", tmp_path / "output")
