"""Statement digests: what changes them, what does not, and that two implementations agree."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from lockstep.errors import LockstepError
from lockstep.lean import declarations
from lockstep.lean.axioms import Axioms
from lockstep.lean.environment import Environment, load
from lockstep.lean.export import export, numeral
from lockstep.lean.lemmas import entries, registered, registry, selected
from lockstep.lean.statement_digest import StatementDigests
from lockstep.lean.terms import Name, show
from lockstep_verify.kernel.statement_digests import theorems

if TYPE_CHECKING:
    from pathlib import Path

    from .conftest import Tree

# One process builds what these tests share.
pytestmark = pytest.mark.xdist_group("lean")

HEADER = (
    "prelude\nimport Lockstep.Accelerated\nset_option linter.all false\nnoncomputable section\n"
)
SOURCE = """universe u
def Deep.base (n : Nat) : Nat := Nat.succ n
def Deep.middle (n : Nat) : Nat := Deep.base (Deep.base n)
structure Deep.Pair (A : Type u) where
  first : A
  second : Nat
inductive Deep.Tree (A : Type u) where
  | leaf : Deep.Tree A
  | node (left : Deep.Tree A) (value : A) (right : Deep.Tree A) : Deep.Tree A
theorem Deep.claim (A : Type u) (p : Deep.Pair A) (n : Nat) (h : n = 300) :
    Deep.middle p.second = Nat.succ (Nat.succ p.second) := rfl
theorem Deep.trees (A : Type u) (t : Deep.Tree A) : t = t := Eq.refl t
"""
CLAIM: Name = ("Deep", "claim")
TREES: Name = ("Deep", "trees")


def environment(tree: Tree, source: str, module: str = "Lockstep.Sample") -> Environment:
    tree.write(module, HEADER + source)
    tree.build(module)
    return load(tree.output, [tuple(module.split("."))])


def digest(tree: Tree, source: str, name: Name = CLAIM, module: str = "Lockstep.Sample") -> str:
    return StatementDigests(environment(tree, source, module)).statement(name)


def changed(old: str, new: str) -> str:
    assert old in SOURCE
    return SOURCE.replace(old, new)


@pytest.mark.parametrize(
    "source",
    [
        changed("(n : Nat) (h : n = 300)", "(m : Nat) (k : m = 300)"),
        changed("(A : Type u) (p : Deep.Pair A)", "{B : Type u} (p : Deep.Pair B)"),
        SOURCE.replace("universe u", "universe w").replace("Type u", "Type w"),
        changed("Nat.succ (Nat.succ p.second) := rfl", "Nat.succ (Nat.succ p.second) := Eq.refl _"),
        changed("universe u\n", "universe u\ndef Deep.other : Nat := 5\n"),
        re.sub(r"Deep\.base", "Deep.renamed", SOURCE),
    ],
    ids=["binders", "binder_kinds", "universes", "proof", "another_constant", "definition_renamed"],
)
def test_digest_stays(tree: Tree, source: str) -> None:
    assert digest(tree, source) == digest(tree, SOURCE)


def test_digest_does_not_depend_on_the_module(tree: Tree) -> None:
    assert digest(tree, SOURCE) == digest(tree, SOURCE, module="Lockstep.Elsewhere.Sample")


@pytest.mark.parametrize(
    ("source", "name"),
    [
        (
            changed(":= Nat.succ n", ":= Nat.add n 2").replace(
                "= Nat.succ (Nat.succ p.second) := rfl",
                "= 0 → True := fun _ => .intro",
            ),
            CLAIM,
        ),
        (changed(":= Nat.succ n", ":= Nat.add n 1"), CLAIM),
        (changed("n = 300", "n = 301"), CLAIM),
        (changed("n = 300", "n = Nat.zero"), CLAIM),
        (changed("  second : Nat", "  second : Nat\n  third : Nat"), CLAIM),
        (SOURCE.replace("Deep.Pair", "Deep.Couple"), CLAIM),
        (changed("leaf : Deep.Tree A", "tip : Deep.Tree A"), TREES),
        (changed("(value : A)", "(value : Nat)"), TREES),
        (
            changed("t = t := Eq.refl t", "True := .intro"),
            TREES,
        ),
    ],
    ids=[
        "deep_definition_and_statement",
        "deep_definition",
        "literal",
        "literal_as_constructor",
        "structure",
        "type_renamed",
        "constructor_renamed",
        "constructor",
        "proves_true",
    ],
)
def test_digest_changes(tree: Tree, source: str, name: Name) -> None:
    assert digest(tree, source, name) != digest(tree, SOURCE, name)


def test_verifier_derives_the_same_from_an_export(built: Tree) -> None:
    found = load(built.output)
    digests, axioms = StatementDigests(found), Axioms(found)
    safe = [one for one in found.constants.values() if not declarations.is_unsafe(one)]
    expected = {
        show(one.name): (digests.statement(one.name), tuple(axioms.of(one.name)))
        for one in safe
        if isinstance(one, declarations.Theorem)
    }
    assert len(expected) > 100
    assert ("propext",) in {axioms for _, axioms in expected.values()}
    assert theorems(export(found, [one.name for one in safe])) == expected


def test_export_depends_on_declarations_alone(built: Tree) -> None:
    found = load(built.output)
    other = load(built.output, list(reversed(found.modules)))
    names = registered(found)
    assert export(found, names) == export(other, list(reversed(names)))


def test_export_of_a_module_holds_what_it_rests_on(built: Tree) -> None:
    found = load(built.output)
    lines = export(found, selected(found, ["Lockstep.Accelerated"])).splitlines()
    assert lines[0].startswith(b'{"meta":{"exporter":{"name":"lockstep"')
    assert any(line.startswith(b'{"inductive":') for line in lines)
    with pytest.raises(LockstepError) as refused:
        selected(found, ["Lockstep.Nowhere"])
    assert refused.value.code == "USAGE"


@pytest.mark.parametrize(
    "value", [0, 7, 10**4000 - 1, 10**4000, 10**9001 + 5], ids=["0", "7", "one", "two", "three"]
)
def test_numerals_have_no_leading_zeros(value: int) -> None:
    text = numeral(value)
    read = 0
    for start in range(0, len(text), 1000):
        piece = text[start : start + 1000]
        read = read * 10 ** len(piece) + int(piece)
    assert (read, text[0] == "0") == (value, value == 0)


def test_registered_theorems_are_those_written_outside_the_foundation(tree: Tree) -> None:
    source = SOURCE + "private theorem Deep.hidden : True := .intro\n"
    found = {show(name) for name in registered(environment(tree, source))}
    assert {"Deep.claim", "Deep.trees", "Nat.add_comm", "Nat.div_mod_spec"} <= found
    assert not any("hidden" in name or "_proof" in name or "Eq.symm" in name for name in found)


def test_fields_of_structures_are_no_theorems_of_a_source(tree: Tree) -> None:
    source = SOURCE + (
        "structure Deep.Bounded (n : Nat) where\n  value : Nat\n  below : value = n\n"
        "structure Deep.Both (p q : Prop) : Prop where\n  left : p\n  right : q\n"
        "theorem Deep.Bounded.stated {n : Nat} (b : Deep.Bounded n) : b.value = n := b.below\n"
        "theorem Deep.Both.swap {p q : Prop} (b : Deep.Both p q) : Deep.Both q p := ⟨b.2, b.1⟩\n"
    )
    found = environment(tree, source)
    fields = {("Deep", "Bounded", "below"), ("Deep", "Both", "left"), ("Deep", "Both", "right")}
    assert all(isinstance(found.constant(name), declarations.Theorem) for name in fields)
    names = set(registered(found))
    assert not names & fields
    assert {("Deep", "Bounded", "stated"), ("Deep", "Both", "swap")} <= names


def test_axiom_outside_the_allow_list_is_refused(tree: Tree) -> None:
    source = "axiom Deep.oracle : False\ntheorem Deep.bad : 1 = 2 := Deep.oracle.elim\n"
    with pytest.raises(LockstepError) as refused:
        entries(environment(tree, source))
    assert (refused.value.code, refused.value.pointer) == ("AXIOM_NOT_ALLOWED", "Deep.bad")
    assert refused.value.got == ["Deep.oracle"]


def test_registry_asks_for_what_rows_and_layouts_name(built: Tree) -> None:
    with pytest.raises(LockstepError) as refused:
        registry(built.output, {})
    assert refused.value.code == "H3_PROOF_MISSING"
    assert refused.value.pointer == "ExactTransform.comp_roundtrip"


def test_missing_module_says_what_to_do(built: Tree, tmp_path: Path) -> None:
    with pytest.raises(LockstepError) as refused:
        load(built.output, [("Lockstep", "Absent")])
    assert refused.value.code == "FILE_UNREADABLE"
    with pytest.raises(LockstepError) as refused:
        load(tmp_path)
    assert "lockstep lean build" in str(refused.value)
