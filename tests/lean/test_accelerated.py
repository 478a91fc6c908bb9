"""The list of what the kernel computes by name is what the kernel does compute by name."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from lockstep.errors import LockstepError
from lockstep.lean import object_gate
from lockstep.lean.environment import load
from lockstep.lean.terms import show

if TYPE_CHECKING:
    from .conftest import Tree

# One process builds what these tests share.
pytestmark = pytest.mark.xdist_group("lean")

HEADER = (
    "prelude\nimport Lockstep.Accelerated\nset_option linter.all false\nnoncomputable section\n"
)
# Operations of Lean's library on one or two numbers, whether or not the kernel knows them.
KNOWN = (
    "add sub mul div mod gcd pow beq ble land lor xor shiftLeft shiftRight lcm log2 testBit min "
    "max pred succ blt sqrt toDigit isPowerOfTwo bitwise imax divExact dist choose decLe2"
)
DEFINED = ("add", "sub", "mul", "div", "mod", "pow", "beq", "ble")
UNARY = {"log2", "pred", "succ", "sqrt", "toDigit", "isPowerOfTwo"}


def defined(tree: Tree) -> set[str]:
    return {show(name) for name in load(tree.output).constants}


def test_what_is_not_defined_is_computed_by_name_if_it_is_listed(tree: Tree) -> None:
    """Under each name stands a constant function; the kernel says otherwise where it computes."""
    there = defined(tree)
    names = [name for name in KNOWN.split() if f"Nat.{name}" not in there]
    lines = []
    for name in names:
        arguments = "8" if name in UNARY else "8 2"
        parameters = "n" if name in UNARY else "n m"
        lines.append(
            f"def Nat.{name} ({parameters} : Nat) : Nat := 777 "
            f"theorem t_{name} : Nat.{name} {arguments} = 777 := by decide +kernel"
        )
    tree.write("Lockstep.Foil", HEADER + "\n".join(lines) + "\n")
    with pytest.raises(LockstepError) as caught:
        tree.build("Lockstep.Foil")
    first = HEADER.count("\n") + 1
    found = re.findall(r"Foil\.lean:(\d+):\d+: error: Tactic `decide` proved", str(caught.value))
    computed = {f"Nat.{names[int(line) - first]}" for line in found}
    assert computed == set(object_gate.ACCELERATED) - there


def test_what_is_defined_is_computed_by_name(tree: Tree) -> None:
    """By its definition none of these would end: each takes as many steps as the number says."""
    big = 10**18
    claims = [
        f"{big} + {big} = {2 * big}",
        f"{big} - 7 = {big - 7}",
        f"{big} * {big} = {big * big}",
        f"{big} / 7 = {big // 7}",
        f"{big} % 7 = {big % 7}",
        f"Nat.pow 10 18 = {big}",
        f"(if Nat.beq {big} {big} = true then 1 else 0) = 1",
        f"(if Nat.ble {big} {big} = true then 1 else 0) = 1",
    ]
    decision = (
        "instance truth (a b : Bool) : Decidable (a = b) :=\n"
        "  match a, b with\n"
        "  | true, true => isTrue rfl\n"
        "  | false, false => isTrue rfl\n"
        "  | true, false => isFalse fun h => Bool.clash h.symm\n"
        "  | false, true => isFalse Bool.clash\n"
    )
    theorems = [f"theorem t{i} : {c} := by decide +kernel\n" for i, c in enumerate(claims)]
    tree.write("Lockstep.Foil", HEADER + decision + "".join(theorems))
    tree.build("Lockstep.Foil")
    assert defined(tree) & set(object_gate.ACCELERATED) == {
        "Nat",
        *(f"Nat.{name}" for name in DEFINED),
    }


def test_each_specification_is_in_one_module(built: Tree) -> None:
    environment = load(built.output)
    there = {show(name) for name in environment.constants}
    here = environment.modules[("Lockstep", "Accelerated")].constants
    found = {show(name) for name in here if show(name).endswith("_spec")}
    wanted = {f"Nat.{lemma}" for name, lemma in object_gate.ACCELERATED.items() if name in there}
    assert found == wanted == {f"Nat.{lemma}" for lemma in object_gate.PINNED["specifications"]}
