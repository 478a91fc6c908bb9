"""Faults planted in sources: what Lean alone would let pass, and the guard that does not."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from lockstep.errors import LockstepError
from lockstep.lean import lemmas, object_gate, source_gate
from lockstep.lean.declarations import Quotient
from lockstep.lean.environment import load

if TYPE_CHECKING:
    from .conftest import Tree

# One process builds what these tests share.
pytestmark = pytest.mark.xdist_group("lean")

FOIL = "Lockstep.Foil"
HEADER = "prelude\nimport Lockstep.Accelerated\nset_option linter.all false\n"


def refusal(tree: Tree, module: str, text: str | None = None) -> str:
    """Build a module that must not build, and give what is told."""
    if text is not None:
        tree.write(module, text)
    with pytest.raises(LockstepError) as caught:
        tree.build(module)
    assert caught.value.code == "LEAN_BUILD_FAILED"
    assert not tree.object(module).exists()
    return str(caught.value)


def gate(text: str) -> list[str]:
    return [found.word for found in source_gate.findings(FOIL, "Lockstep/Foil.lean", text)]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("theorem t : 1 = 2 := sorry\n", "declaration uses `sorry`"),
        ("theorem t (n : Nat) : n + 1 = n := by rfl\n", "Tactic `rfl` failed"),
        ("theorem t : 2 + 2 = 5 := by decide\n", "Tactic `decide` proved that the proposition"),
        ("theorem t : 7 / 2 = 4 := by decide +kernel\n", "Tactic `decide` proved that"),
        ("theorem t : unknown = unknown := rfl\n", "Unknown identifier `unknown`"),
        ("def f (n : Nat) : Nat := f (n + 1)\n", "fail to show termination"),
        ("inductive T where\n  | mk (f : T → False) : T\n", "non positive occurrence"),
        (
            "theorem t : True := True.intro\ntheorem t : True := True.intro\n",
            "already been declared",
        ),
        ("theorem Nat.add_spec : True := True.intro\n", "already been declared"),
    ],
)
def test_lean_refuses(tree: Tree, text: str, said: str) -> None:
    assert said in refusal(tree, FOIL, HEADER + text)


def specification(tree: Tree, name: str) -> str:
    """A specification lemma as it stands in the sources."""
    text = tree.path("Lockstep.Accelerated").read_text("utf-8")
    match = re.search(rf"theorem {name}_spec .*?\n(?=\n)", text, re.DOTALL)
    assert match is not None, name
    return match[0].replace(f"theorem {name}_spec", f"theorem Nat.{name}_spec")


ADDITION = "  | n, .succ m => .succ (Nat.add n m)\n"
WRONG_ADDITION = "  | n, .succ m => .succ (.succ (Nat.add n m))\n"
FALSE = """\
theorem by_definition (n m : Nat) : Nat.add n (.succ m) = .succ (.succ (Nat.add n m)) := rfl
theorem two_is_three : 2 = 3 := by_definition 1 0
theorem wrong : False := Nat.ne_of_beq_eq_false (n := 2) (m := 3) rfl two_is_three
"""
CORE_ONLY = (
    "prelude\nimport Lockstep.Foundation.Show\nnoncomputable instance : Add Nat := ⟨Nat.add⟩\n"
)


def test_a_wrong_addition_would_prove_false_without_an_axiom(tree: Tree) -> None:
    """What the specification lemmas are for: the kernel believes name and definition both."""
    tree.replace("Lockstep.Foundation.Core", ADDITION, WRONG_ADDITION)
    tree.write(FOIL, CORE_ONLY + FALSE)
    tree.build(FOIL)
    (entry,) = [e for e in lemmas.entries(load(tree.output)) if e["name"] == "wrong"]
    assert entry["axioms"] == []
    assert gate(CORE_ONLY + FALSE) == []
    # The specification does not prove, though it would on literals: it is about variables.
    said = refusal(tree, "Lockstep.Specified", CORE_ONLY + specification(tree, "add"))
    assert "Lockstep/Specified.lean:6:8: error: Application type mismatch" in said
    assert "but is expected to have type\n  n.add m.succ = (n.add m).succ\n" in said
    on_literals = "theorem t : Nat.add 2 (.succ 2) = .succ (Nat.add 2 2) := by decide +kernel\n"
    tree.write("Lockstep.Literals", "prelude\nimport Lockstep.Foil\n" + on_literals)
    tree.build("Lockstep.Literals")
    # And without it the objects are refused.
    with pytest.raises(LockstepError, match=r"Nat\.add: .*registered theorem Nat\.add_spec"):
        object_gate.check(load(tree.output))


def test_the_right_addition_meets_its_specification(tree: Tree) -> None:
    tree.write(FOIL, CORE_ONLY + specification(tree, "add") + specification(tree, "mul"))
    tree.build(FOIL)


@pytest.mark.parametrize(
    ("module", "old", "new"),
    [
        (
            "Foundation.Core",
            "  | n, .succ m => Nat.add (Nat.mul n m) n\n",
            "  | n, .succ m => Nat.add (Nat.mul n m) m\n",
        ),
        (
            "Foundation.Core",
            "  | n, .succ m => Nat.pred (Nat.sub n m)\n",
            "  | n, .succ m => Nat.sub n m\n",
        ),
        ("Foundation.Core", "  | .zero, .succ _ => false\n", "  | .zero, .succ _ => true\n"),
        ("Foundation.Core", "  | .succ _, .zero => false\n  | .succ n, .succ m => Nat.ble", None),
        ("Arith", "+ 1) d) ⟨(divMod d n).1 + 1, 0⟩", "+ 1) d) ⟨(divMod d n).1, 0⟩"),
    ],
    ids=["mul", "sub", "beq", "ble", "div and mod"],
)
def test_another_wrong_operation_does_not_build(
    tree: Tree, module: str, old: str, new: str | None
) -> None:
    tree.replace(f"Lockstep.{module}", old, new or old.replace("false", "true"))
    refusal(tree, "Lockstep.Accelerated")


def test_an_axiom_is_refused_thrice(tree: Tree) -> None:
    """By its word, by its declaration, and by what rests on it."""
    text = HEADER + "axiom wrong : False\ntheorem t : 1 = 2 := wrong.elim\n"
    tree.write(FOIL, text)
    tree.build(FOIL)
    assert gate(text) == ["axiom"]
    environment = load(tree.output)
    with pytest.raises(LockstepError, match="no axiom but the foundation's"):
        object_gate.check(environment)
    with pytest.raises(LockstepError, match=r"AXIOM_NOT_ALLOWED at t: .*wrong"):
        lemmas.entries(environment)


def test_what_replaces_a_failed_proof_is_allowed_nowhere(tree: Tree) -> None:
    """Lean does not warn of `sorryAx` written out; what rests on it is refused all the same."""
    text = HEADER + "theorem t : 1 = 2 := sorryAx _ false\n"
    tree.write(FOIL, text)
    assert gate(text) == ["sorryAx"]
    with pytest.raises(LockstepError) as caught:
        tree.build(FOIL)
        lemmas.entries(load(tree.output))
    assert caught.value.code in {"LEAN_BUILD_FAILED", "AXIOM_NOT_ALLOWED"}


def test_a_lemma_that_the_kernel_did_not_see_is_refused(tree: Tree) -> None:
    """Lean lets it pass, and it rests on no axiom; only the source can tell."""
    text = HEADER + "set_option debug.skipKernelTC true\ntheorem t : 1 = 2 := by decide +kernel\n"
    tree.write(FOIL, text)
    tree.build(FOIL)
    (entry,) = [e for e in lemmas.entries(load(tree.output)) if e["name"] == "t"]
    assert entry["axioms"] == []
    assert set(gate(text)) == {"debug.skipKernelTC"}


@pytest.mark.parametrize(
    "text",
    [
        "opaque f : Nat := 1\n",
        "unsafe def f : Nat := 1\n",
        "def Lean.reduceNat (n : Nat) : Nat := n\n",
        "noncomputable def Nat.gcd (n m : Nat) : Nat := n\n",
        "theorem Nat.gcd_spec : True := True.intro\nnoncomputable def Nat.gcd (n m : Nat) := n\n",
    ],
)
def test_a_declaration_is_refused_whatever_the_words(tree: Tree, text: str) -> None:
    tree.write(FOIL, HEADER + text)
    tree.build(FOIL)
    with pytest.raises(LockstepError, match="LEAN_SOURCE_REFUSED"):
        object_gate.check(load(tree.output))


def judged(tree: Tree, *modules: str) -> LockstepError:
    """Build what Lean accepts and the gate of objects must not, and give the refusal."""
    tree.build(*modules)
    with pytest.raises(LockstepError) as caught:
        object_gate.check(load(tree.output))
    return caught.value


def test_an_operation_with_an_empty_specification_would_prove_false(tree: Tree) -> None:
    """Of what nothing specifies there is no definition, in the foundation as little as elsewhere.

    Its proof of falsehood is private, so that no registry would show it.
    """
    core = tree.path("Lockstep.Foundation.Core")
    wrong = "def Nat.gcd (_ _ : Nat) : Nat := 0\ntheorem Nat.gcd_spec : Nat.gcd = Nat.gcd := rfl\n"
    core.write_text(core.read_text("utf-8") + "\n" + wrong, "utf-8")
    proof = (
        "theorem by_definition (n m : Nat) : Nat.gcd n m = 0 := rfl\n"
        "theorem by_name : Nat.gcd 4 6 = 2 := by decide +kernel\n"
        "private theorem gone : False :=\n"
        "  Nat.succ_ne_zero 1 (by_name.symm.trans (by_definition 4 6))\n"
    )
    tree.write(FOIL, HEADER + proof)
    refused = judged(tree, FOIL)
    assert (refused.code, refused.pointer) == ("LEAN_SOURCE_REFUSED", "Nat.gcd")
    assert gate(HEADER + proof) == []
    assert list(source_gate.findings("Lockstep.Foundation.Core", "", core.read_text("utf-8"))) == []


EMPTY = "theorem add_spec : Nat.add = Nat.add := rfl\n"


@pytest.mark.parametrize("where", ["stating nothing", "private", "in the foundation", "gone"])
def test_a_specification_is_the_pinned_one_and_registered(
    tree: Tree, built: Tree, where: str
) -> None:
    text = tree.path("Lockstep.Accelerated").read_text("utf-8")
    stated = specification(tree, "add").replace("theorem Nat.add_spec", "theorem add_spec")
    assert text.count(stated) == 1
    instead = {"stating nothing": EMPTY, "private": f"private {stated}"}.get(where, "")
    prose = "/-- Addition adds one at a time. -/\n"
    tree.write("Lockstep.Accelerated", text.replace(prose + stated, instead))
    if where == "in the foundation":
        core = tree.path("Lockstep.Foundation.Core")
        whole = core.read_text("utf-8") + "\n" + specification(built, "add")
        core.write_text(whole, "utf-8")
    refused = judged(tree, "Lockstep.Accelerated")
    assert (refused.code, refused.pointer) == ("LEAN_SOURCE_REFUSED", "Nat.add")
    assert (refused.got != "none") == (where == "stating nothing")


@pytest.mark.parametrize("added", ["def Nat.another := 1", "theorem Nat.another : 1 = 1 := rfl"])
def test_a_foundation_of_another_meaning_is_told(tree: Tree, added: str) -> None:
    core = tree.path("Lockstep.Foundation.Core")
    core.write_text(f"{core.read_text('utf-8')}\n{added}\n", "utf-8")
    refused = judged(tree, "Lockstep.Accelerated")
    assert refused.code == "LEAN_FOUNDATION_CHANGED"
    assert refused.expected == object_gate.PINNED["foundation_sha256"] != refused.got


def test_a_quotient_that_an_object_declares_is_refused(built: Tree) -> None:
    environment = load(built.output)
    made = Quotient(("Quot",), (), environment.constant(("Nat",)).type, "type")
    environment.modules["Lockstep", "Accelerated"].constants["Quot",] = made
    with pytest.raises(LockstepError, match=r"Lockstep\.Accelerated: Quot: .*no quotient"):
        object_gate.check(environment)


def test_the_small_tree_passes(built: Tree) -> None:
    assert object_gate.check(load(built.output)) > 1000
