"""`make lean` from end to end over a small tree, and what it tells of a drift."""

from __future__ import annotations

import copy
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from lockstep.errors import LockstepError
from lockstep.lean import build, check, object_records, source_gate, source_text
from lockstep.lean.object_records import Built

if TYPE_CHECKING:
    from .conftest import Tree

# One process builds what these tests share.
pytestmark = pytest.mark.xdist_group("lean")

ROOT = Path(__file__).resolve().parents[2]
DIGEST = "0" * 64


def test_the_sources_pass_the_gate() -> None:
    assert source_gate.check(build.source_folder()) == len(
        source_text.modules(build.source_folder())
    )


def test_the_root_module_is_sorted() -> None:
    header = source_text.header((ROOT / "lean/Lockstep.lean").read_text("utf-8"))
    assert list(header.imports) == sorted(set(header.imports))


def test_the_readme_says_what_each_module_holds() -> None:
    text = (ROOT / "lean/README.md").read_text("utf-8")
    rows = [line.split("|")[1] for line in text.splitlines() if line.startswith("| `")]
    named = {name for row in rows for name in re.findall(r"`([^`]+)`", row)}
    for module in source_text.modules(build.source_folder()):
        path = module.removeprefix("Lockstep.").replace(".", "/")
        folder = path.partition("/")[0] + "/*"
        assert {path, folder} & named or module == "Lockstep", f"lean/README.md lacks {path}"


def test_both_builders_have_the_same_options() -> None:
    text = (ROOT / "lakefile.lean").read_text("utf-8")
    options = [
        option.removeprefix("-D") for option in object_records.OPTIONS if option.startswith("-D")
    ]
    assert options
    listed = ", ".join("⟨`{}, {}⟩".format(*option.split("=")) for option in options)
    assert f"leanOptions := #[{listed}]\n" in text
    # Whatever else would reach Lean is named so: moreLeanArgs, weakLeanArgs, moreServerOptions, …
    assert text.count("Options") == 1
    assert "Args" not in text


def test_a_tree_is_checked_from_words_to_theorems(built: Tree, tmp_path: Path) -> None:
    names = [name for name in source_text.modules(built.source) if name != "Lockstep"]
    tree = type(built)(tmp_path / "source", tmp_path / "output")
    for name in names:
        tree.write(name, built.path(name).read_text("utf-8"))
    tree.write("Lockstep", "prelude\n" + "".join(f"import {name}\n" for name in names))
    told: list[str] = []
    checked = check.check(
        source=tree.source, output=tree.output, tell=lambda module: told.append(module.name)
    )
    assert sorted(told) == sorted([*names, "Lockstep"]) == sorted(m.name for m in checked.modules)
    assert "Nat.add_spec" in {theorem["name"] for theorem in checked.theorems}
    assert all(theorem["axioms"] == [] for theorem in checked.theorems)
    # A word that is refused is refused before Lean reads any of it.
    tree.write("Lockstep.Foil", "prelude\naxiom wrong : False\n")
    with pytest.raises(LockstepError, match=r"LEAN_SOURCE_REFUSED .*\n.*no import Lockstep\.Foil"):
        check.check(source=tree.source, output=tmp_path / "untouched")
    assert not (tmp_path / "untouched").exists()


def test_sources_that_change_meanwhile_are_not_checked(
    built: Tree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the gate read must be what was built."""
    tree = type(built)(tmp_path / "source", tmp_path / "output")
    tree.write("Lockstep", "prelude\nimport Lockstep.Foil\n")
    tree.write("Lockstep.Foil", "prelude\n")
    monkeypatch.setattr(check.syntax_stubs, "check", lambda source, library: None)

    def change(**_: object) -> list[Built]:
        tree.write("Lockstep.Foil", "prelude\naxiom wrong : False\n")
        return []

    monkeypatch.setattr(build, "build", change)
    with pytest.raises(LockstepError, match=r"LEAN_BUILD_FAILED .*changed while"):
        check.check(source=tree.source, output=tree.output)


THEOREMS: list[dict[str, Any]] = [
    {"name": "a", "statement_sha256": DIGEST, "axioms": []},
    {"name": "b", "statement_sha256": DIGEST, "axioms": []},
]


def changed(name: str, **fields: object) -> list[dict[str, Any]]:
    theorems = copy.deepcopy(THEOREMS)
    next(theorem for theorem in theorems if theorem["name"] == name).update(fields)
    return theorems


@pytest.mark.parametrize(
    ("theorems", "said"),
    [
        (THEOREMS[:1], "b: is registered, and no longer proved"),
        ([*THEOREMS, {**THEOREMS[0], "name": "c"}], "c: is not registered"),
        (changed("a", statement_sha256="1" * 64), f"a: statement_sha256 is {'1' * 64}, "),
        (changed("b", axioms=["propext"]), "b: axioms is ['propext'], registered is []"),
    ],
)
def test_a_drift_is_told_by_name(theorems: list[dict[str, Any]], said: str) -> None:
    registry = {"lemmas": THEOREMS, "modules": []}
    check.require_registered(THEOREMS, registry)
    with pytest.raises(LockstepError) as caught:
        check.require_registered(theorems, registry)
    assert caught.value.code == "LEMMA_STATEMENT_MISMATCH"
    assert f"\n{said}" in str(caught.value)


@pytest.mark.parametrize(
    ("modules", "said"),
    [
        (["A"], "B: is registered, and no longer there"),
        (["A", "B", "Evil"], "Evil: is not registered"),
    ],
)
def test_modules_are_those_of_the_registry(modules: list[str], said: str) -> None:
    registry = {"modules": ["A", "B"]}
    check.require_modules(["B", "A"], registry)
    with pytest.raises(LockstepError) as caught:
        check.require_modules(modules, registry)
    assert caught.value.code == "H3_PROOF_MISSING"
    assert f"\n{said}" in str(caught.value)
