"""What a certificate of the lemmas is made from: a small tree, checked and read."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from lockstep.errors import LockstepError
from lockstep.lean import check, observe, source_text, toolchain

if TYPE_CHECKING:
    from .conftest import Tree

# One process builds what these tests share.
pytestmark = pytest.mark.xdist_group("lean")


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture
def whole(tree: Tree) -> Tree:
    """The small tree with a root that imports all of it, as the gate asks."""
    names = [name for name in source_text.modules(tree.source) if name != "Lockstep"]
    tree.write("Lockstep", "".join(["prelude\n", *(f"import {name}\n" for name in names)]))
    return tree


def test_a_tree_is_observed(whole: Tree, lean: toolchain.Toolchain) -> None:
    export = whole.source / "export.ndjson"
    steps: list[tuple[str, int, int]] = []
    seen = observe.observe(
        whole.source, whole.output, export=export, progress=lambda *step: steps.append(step)
    )
    assert seen.kernel == {
        "builder": lean.builder,
        "version": lean.version,
        "commit": lean.commit,
        "library_sha256": lean.library_sha256,
    }
    assert seen.modules == {
        ".".join(path.relative_to(whole.source).with_suffix("").parts): sha256(path)
        for path in whole.source.rglob("*.lean")
    }
    names = [theorem.name for theorem in seen.theorems]
    assert "Nat.add_spec" in names
    assert names == sorted(names)
    assert (seen.kernel_accepted, seen.gates_passed) == (True, True)
    assert seen.export == ("export.ndjson", sha256(export))
    whole = len(seen.modules)
    assert steps[-1] == ("building the lemmas", whole, whole)


def test_only_the_official_toolchain_agrees_and_only_with_the_registry(
    whole: Tree, lean: toolchain.Toolchain, monkeypatch: pytest.MonkeyPatch
) -> None:
    lemma = {"name": "t", "statement_sha256": "0" * 64, "axioms": []}
    monkeypatch.setattr(check, "registered", lambda: {"lemmas": [lemma]})
    other = {**lemma, "statement_sha256": "1" * 64}
    for builder, given, agrees in (
        ("wheel", [lemma], None),
        ("wheel", [], None),
        ("lake", [lemma], True),
        ("lake", [other], False),
        ("lake", [], False),
    ):
        found = toolchain.Toolchain(**{**vars(lean), "builder": builder})
        checked = check.Checked(found, [], 0, given)
        monkeypatch.setattr(check, "check", lambda checked=checked, **_: checked)
        seen = observe.observe(whole.source, whole.output)
        assert seen.official_toolchain_agrees is agrees
        assert seen.host == observe.HOSTS[builder]
        assert seen.export is None


@pytest.mark.parametrize(
    ("plant", "code"),
    [
        (lambda text: text + "\naxiom lie : False\n", "LEAN_SOURCE_REFUSED"),
        (lambda text: text + "\ntheorem lie : 0 = 1 := rfl\n", "LEAN_BUILD_FAILED"),
    ],
)
def test_nothing_is_observed_of_what_fails(
    whole: Tree, plant: Callable[[str], str], code: str
) -> None:
    path = whole.path("Lockstep.Accelerated")
    path.write_text(plant(path.read_text("utf-8")), "utf-8")
    with pytest.raises(LockstepError) as caught:
        observe.observe(whole.source, whole.output)
    assert caught.value.code == code


def test_a_source_that_changes_meanwhile_is_told(
    whole: Tree, lean: toolchain.Toolchain, monkeypatch: pytest.MonkeyPatch
) -> None:
    def change(**_: object) -> check.Checked:
        path = whole.path("Lockstep.Accelerated")
        path.write_text(path.read_text("utf-8") + "\n-- changed\n", "utf-8")
        return check.Checked(lean, [], 0, [])

    monkeypatch.setattr(check, "check", change)
    with pytest.raises(LockstepError) as caught:
        observe.observe(whole.source, whole.output)
    assert caught.value.code == "FILE_CHANGED"
