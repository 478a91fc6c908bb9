"""Builds keep no object that is not checked: order, deletion, records, failures, names."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from lockstep.errors import LockstepError
from lockstep.lean import build
from lockstep.lean.object_records import Built

if TYPE_CHECKING:
    from .conftest import Tree

# One process builds what these tests share.
pytestmark = pytest.mark.xdist_group("lean")

FIRST = "prelude\nimport Lockstep.Foundation.Show\n/-- One. -/\ndef one : Nat := .succ .zero\n"
SECOND = "prelude\nimport Lockstep.First\ntheorem second : one = .succ .zero := rfl\n"
CHAIN = ["Lockstep.First", "Lockstep.Second", "Lockstep.Third"]
THIRD = "prelude\nimport Lockstep.Second\ntheorem third : one = .succ .zero := second\n"


def chain(tree: Tree) -> Tree:
    for name, text in (("First", FIRST), ("Second", SECOND), ("Third", THIRD)):
        tree.write(f"Lockstep.{name}", text)
    return tree


def made(built: list[Built]) -> list[str]:
    """The modules that Lean ran for."""
    return [module.name for module in built if module.seconds is not None]


def test_the_closure_lists_imports_first() -> None:
    names = [module.name for module in build.closure(build.source_folder())]
    for module in build.closure(build.source_folder()):
        assert all(names.index(name) < names.index(module.name) for name in module.imports)


def test_an_import_without_source_is_refused(tmp_path: Path) -> None:
    (tmp_path / "A.lean").write_text("prelude\nimport Init\n", "utf-8")
    with pytest.raises(LockstepError, match=r"LEAN_BUILD_FAILED at A: .*got import Init"):
        build.closure(tmp_path)


def test_a_circle_of_imports_is_refused(tmp_path: Path) -> None:
    (tmp_path / "A.lean").write_text("prelude\nimport B\n", "utf-8")
    (tmp_path / "B.lean").write_text("prelude\nimport A\n", "utf-8")
    with pytest.raises(LockstepError, match=r"LEAN_BUILD_FAILED at B: .*got import A"):
        build.closure(tmp_path)


def test_what_is_unchanged_is_kept(tree: Tree) -> None:
    chain(tree)
    assert made(tree.build("Lockstep.Third")) == [
        f"Lockstep.{n}" for n in ("First", "Second", "Third")
    ]
    assert made(tree.build("Lockstep.Third")) == []
    # Times alone change nothing.
    tree.path("Lockstep.First").touch()
    assert made(tree.build("Lockstep.Third")) == []


def test_a_change_builds_what_rests_on_it(tree: Tree) -> None:
    chain(tree).build("Lockstep.Third")
    tree.write("Lockstep.Second", SECOND.replace("second", "other"))
    tree.write("Lockstep.Third", THIRD.replace(":= second", ":= other"))
    assert made(tree.build("Lockstep.Third")) == ["Lockstep.Second", "Lockstep.Third"]


def test_an_object_that_is_not_as_recorded_is_built_anew(tree: Tree) -> None:
    chain(tree).build("Lockstep.Third")
    shutil.copyfile(tree.object("Lockstep.Second"), tree.object("Lockstep.First"))
    assert made(tree.build("Lockstep.Third"))[0] == "Lockstep.First"


def test_an_object_without_record_is_built_anew(tree: Tree) -> None:
    chain(tree).build("Lockstep.Third")
    tree.object("Lockstep.Second").with_suffix(".built.json").unlink()
    assert made(tree.build("Lockstep.Third")) == ["Lockstep.Second", "Lockstep.Third"]


def test_a_stale_object_does_not_outlive_a_failure(tree: Tree) -> None:
    """A proof that no longer holds must not be believed because it once held."""
    chain(tree).build("Lockstep.Third")
    tree.write("Lockstep.First", FIRST.replace("one : Nat := .succ .zero", "one : Nat := .zero"))
    with pytest.raises(LockstepError, match=r"LEAN_BUILD_FAILED at Lockstep\.Second: "):
        tree.build("Lockstep.Third")
    left = {path.stem for path in tree.output.rglob("*.olean")}
    assert "First" in left
    assert not left & {"Second", "Third"}


def test_a_stale_object_does_not_stand_in_for_a_lost_source(tree: Tree) -> None:
    chain(tree).build("Lockstep.Third")
    tree.path("Lockstep.First").unlink()
    with pytest.raises(LockstepError, match=r"Lockstep\.Second: .*got import Lockstep\.First"):
        tree.build("Lockstep.Third")
    tree.write("Lockstep.Second", SECOND.replace("Lockstep.First", "Lockstep.Foundation.Show"))
    with pytest.raises(LockstepError, match="Unknown identifier `one`"):
        tree.build("Lockstep.Second")
    assert not tree.object("Lockstep.First").exists()


def test_a_whole_build_keeps_nothing(built: Tree, tmp_path: Path) -> None:
    output = tmp_path / "output"
    foreign = output / "Lockstep" / "Gone.olean"
    foreign.parent.mkdir(parents=True)
    foreign.write_bytes(b"olean")
    module = "Lockstep.Foundation.Base"
    for _ in range(2):
        done = build.build([module], source=built.source, output=output)
        assert made(done) == [module]
        assert not foreign.exists()


def test_builds_repeat_byte_for_byte(built: Tree, tmp_path: Path) -> None:
    done = build.build(
        ["Lockstep.Foundation.Syntax"], source=built.source, output=tmp_path / "output", jobs=1
    )
    for module in done:
        there = hashlib.sha256(built.object(module.name).read_bytes()).hexdigest()
        assert module.sha256 == there, module.name


def test_nothing_is_begun_after_a_failure(tree: Tree) -> None:
    chain(tree)
    tree.write("Lockstep.First", FIRST + "theorem wrong : one = .zero := rfl\n")
    told: list[str] = []
    with pytest.raises(LockstepError, match=r"LEAN_BUILD_FAILED at Lockstep\.First: "):
        build.build(
            ["Lockstep.Third"],
            source=tree.source,
            output=tree.output,
            incremental=True,
            tell=lambda module: told.append(module.name),
        )
    assert not {"Lockstep.First", "Lockstep.Second", "Lockstep.Third"} & set(told)
    assert not list(tree.output.rglob("*.part"))


def test_the_place_of_a_fault_is_shown_without_the_machine(tree: Tree) -> None:
    tree.write("Lockstep.First", FIRST + "theorem wrong : one = .zero := rfl\n")
    with pytest.raises(LockstepError) as caught:
        tree.build("Lockstep.First")
    assert "\nLockstep/First.lean:5:" in str(caught.value)
    assert str(tree.source) not in str(caught.value)


def test_names_of_instances_come_from_the_module_name(tree: Tree) -> None:
    """Told no root, Lean would take another module name and add it to the instance's name."""
    tree.write("Lockstep.First", FIRST + "instance : LT Bool := ⟨fun a b => a ≠ b⟩\n")
    tree.write(
        "Lockstep.Second",
        "prelude\nimport Lockstep.First\ntheorem t : instLTBool = instLTBool := rfl\n",
    )
    assert made(tree.build("Lockstep.Second")) == ["Lockstep.First", "Lockstep.Second"]
