"""`lockstep lean` as people meet it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from lockstep import cli
from lockstep.lean import build, check, lemmas, source_text, toolchain
from lockstep.lean.object_records import Built

if TYPE_CHECKING:
    from .conftest import Tree

# One process builds what the tests of this folder share.
pytestmark = pytest.mark.xdist_group("lean")

THEOREM = {"name": "A.b", "statement_sha256": "0" * 64, "axioms": ["propext"]}


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    """Run `lockstep lean` and give status, output and error output."""

    def lean(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["lockstep", "lean", *arguments])
        status = cli.main()
        return status, *capsys.readouterr()

    return lean


def test_the_toolchain_is_named_by_its_bytes(run: Any, lean: toolchain.Toolchain) -> None:
    status, said, _ = run("toolchain")
    assert status == 0
    assert f"Lean {lean.version}, commit {lean.commit}, from {lean.builder}" in said
    assert lean.library_sha256 in said


def test_the_gate_counts_the_sources(run: Any) -> None:
    status, said, _ = run("gate")
    assert status == 0
    assert said.endswith("sources hold no word that is refused\n")


def test_stubs_are_compared(run: Any, lean: toolchain.Toolchain) -> None:
    assert run("stubs", "--check")[0] == 0


def test_stubs_are_written(
    run: Any, tree: Tree, monkeypatch: pytest.MonkeyPatch, lean: toolchain.Toolchain
) -> None:
    monkeypatch.setattr(build, "source_folder", lambda: tree.source)
    tree.write("Lockstep.Foundation.Show", "prelude\n")
    status, _, refused = run("stubs", "--check")
    assert (status, refused.split(" at ")[0]) == (3, "lockstep: LEAN_SOURCE_DRIFTED")
    assert run("stubs")[0] == 0
    assert tree.path("Lockstep.Foundation.Show").read_text("utf-8") != "prelude\n"


def test_modules_are_built_and_kept(run: Any, tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "source_folder", lambda: tree.source)
    where = ("--output", str(tree.output), "--incremental")
    tree.write("Lockstep.Foil", "prelude\nimport Lockstep.Arith\n")
    status, said, _ = run("build", *where, "Lockstep.Foil")
    assert status == 0
    assert [line.split()[-1] for line in said.splitlines()][-2:] == ["kept", "s"]
    tree.write("Lockstep.Foil", "prelude\nimport Lockstep.Arith\ntheorem t : 1 = 2 := rfl\n")
    status, _, refused = run("build", *where, "Lockstep.Foil")
    assert status == 3
    assert "lockstep: LEAN_BUILD_FAILED at Lockstep.Foil: " in refused
    assert "\n  Lockstep/Foil.lean:3:" in refused


@pytest.fixture
def checked(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """A check that finds the theorems of this list, without building."""
    theorems = [THEOREM]
    lean = toolchain.Toolchain("wheel", (), None, "4.35.0", "c" * 40, Path("library"), "d" * 64)
    done = check.Checked(lean, [Built("A", 1.0, "e" * 64)], 7, theorems)
    monkeypatch.setattr(check, "check", lambda **_: done)
    monkeypatch.setattr(check, "registered", lambda: {"modules": ["A"], "lemmas": [THEOREM]})
    return theorems


def test_check_names_theorem_axioms_and_digest(run: Any, checked: list[dict[str, Any]]) -> None:
    status, said, _ = run("check")
    assert status == 0
    lines = said.splitlines()
    assert lines[0] == f"A.b  propext  {'0' * 64}"
    assert lines[1].startswith("1 theorems as registered in spec/lemmas.json, 1 modules, 7 const")
    assert lines[2] == f"by Lean 4.35.0 at {'c' * 12} from wheel, library {'d' * 64}"


def test_check_fails_on_another_module(
    run: Any, checked: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(check, "registered", lambda: {"modules": ["A", "B"], "lemmas": [THEOREM]})
    status, said, refused = run("check")
    assert status == 3
    assert "as registered" not in said
    assert "lockstep: H3_PROOF_MISSING at spec/lemmas.json#/modules" in refused
    assert "\n  B: is registered, and no longer there" in refused


@pytest.mark.parametrize("absent", ["Lockstep.Verdict", "Lockstep"])
def test_a_registry_of_some_modules_is_not_written(
    run: Any, monkeypatch: pytest.MonkeyPatch, absent: str
) -> None:
    """Objects that were built one by one may lack a module, and hold one that has no source."""
    built = sorted({*source_text.modules(build.source_folder()), "Lockstep.Stale"} - {absent})
    monkeypatch.setattr(lemmas, "registry", lambda *_: {"modules": built})
    status, _, refused = run("lemmas", "--check")
    assert status == 3
    assert refused.startswith("lockstep: H3_PROOF_MISSING at ")
    assert "an object for each source" in refused
    assert absent in refused
    assert "Lockstep.Stale" in refused


def test_check_fails_on_a_drift(run: Any, checked: list[dict[str, Any]]) -> None:
    checked.append({**THEOREM, "name": "A.c", "axioms": []})
    status, said, refused = run("check")
    assert status == 3
    assert f"A.c  no axioms  {'0' * 64}" in said
    assert "as registered" not in said
    assert "lockstep: LEMMA_STATEMENT_MISMATCH at spec/lemmas.json#/lemmas" in refused
    assert "\n  A.c: is not registered" in refused
