"""Rules with a clause left out or a value changed, and the proof that no longer goes through."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from lockstep import spec
from lockstep.errors import LockstepError
from lockstep.lean import build

if TYPE_CHECKING:
    from .conftest import Tree

# One process builds what these tests share.
pytestmark = pytest.mark.xdist_group("lean")

VERDICT = "Lockstep.Verdict"
TABLE = "Lockstep.Verdict.Table"
SAMPLES = "Lockstep.ElementTypes.Samples"
DRAW = "Lockstep.Sampling.Draw"
POOL = "Lockstep.Lifecycle.Pool"
LAST = "Lockstep.Lifecycle.Progress"
WITNESSES = "Lockstep.Lifecycle.Witnesses"

WEAKENINGS = {
    "never_fitting_accepted": (
        "(fits : ceilDiv (prompt + maxNew) c.slots ≤ c.blocks) : Run",
        "(fits : 0 ≤ c.blocks) : Run",
        "Runs",
    ),
    "unreserved_admission": (
        "  | .admit => q.state = .queued ∧ (∃ others, m.queue = r :: others) ∧\n"
        "      q.need c.slots + owedByAll c.slots m.requests ≤",
        "  | .admit => q.state = .queued ∧ (∃ others, m.queue = r :: others) ∧\n      0 ≤",
        "Slack",
    ),
    "lazy_reservation": (
        "length fresh = q.owed c.slots ∧",
        "length fresh = ceilDiv q.known c.slots - length q.table ∧",
        "Runs",
    ),
    "decode_while_waiting": (
        "  | .decode fresh published => q.state.active = true ∧",
        "  | .decode fresh published => true = true ∧",
        "Guards",
    ),
    "early_publishing": ("∧ (i + 1) * c.slots ≤ computed", "∧ 0 ≤ computed", "Invariant"),
    "victim_without_tokens": (
        "  | .preempt => q.state.active = true ∧ 1 ≤ q.computed ∧",
        "  | .preempt => q.state.active = true ∧ 0 ≤ q.computed ∧",
        "Guards",
    ),
    "preempted_keeps_blocks": (
        "  | .preempt => ⟨q.prompt, q.maxNew, next, 0, q.outputs, []⟩",
        "  | .preempt => ⟨q.prompt, q.maxNew, next, 0, q.outputs, q.table⟩",
        "Runs",
    ),
    "shared_release": (
        "  | .preempt, b => m.references b - occurrences b q.table",
        "  | .preempt, b => cond (Nat.beq (occurrences b q.table) 0) (m.references b) 0",
        "Runs",
    ),
}
"""For each weakening of lifecycle.json: its change of Pool.lean, and the module that then fails."""

CHANGES = [
    (VERDICT, "| .notMade => false\n  | _ => true", "| _ => true", VERDICT, "verdict"),
    (
        TABLE,
        "(⟨.madeTrue, .madeFalse, .madeTrue, .madeTrue⟩, .exactToken)",
        "(⟨.madeTrue, .madeFalse, .madeTrue, .madeTrue⟩, .exactByte)",
        TABLE,
        "verdictTable",
    ),
    (TABLE, "(⟨.notMade, .notMade, .notMade, .notMade⟩, .unproven) ::", "", TABLE, "everyAss"),
    (SAMPLES, "  (15425, 57) ::", "  (15425, 56) ::", SAMPLES, "fp8Samples"),
    (
        WITNESSES,
        "def resumed : List Move := [.admit, .chunk 2 [0] [0], .chunk 2 [1] [1]",
        "def resumed : List Move := [.admit, .chunk 2 [0] [0], .chunk 3 [1] [1]",
        WITNESSES,
        "resumed",
    ),
    (DRAW, ":= range / n * n", ":= range", DRAW, "limit"),
]
"""Module, text, its change, the module that then fails, and a word of what is told."""


def _grow(tree: Tree, *modules: str) -> None:
    for module in build.closure(build.source_folder(), modules):
        tree.write(module.name, module.source.read_text("utf-8"))


def _told(tree: Tree, module: str) -> str:
    with pytest.raises(LockstepError) as caught:
        tree.build(module)
    assert caught.value.code == "LEAN_BUILD_FAILED"
    return str(caught.value)


def test_each_declared_weakening_has_its_foil() -> None:
    declared = spec.load("lifecycle.json")["weakenings"]
    assert {weakening["name"] for weakening in declared} == WEAKENINGS.keys()


@pytest.mark.slow
@pytest.mark.parametrize("name", WEAKENINGS)
def test_a_weakened_lifecycle_is_not_proved(tree: Tree, name: str) -> None:
    old, new, fails = WEAKENINGS[name]
    _grow(tree, LAST)
    tree.replace(POOL, old, new)
    assert f" at Lockstep.Lifecycle.{fails}:" in _told(tree, LAST)


@pytest.mark.parametrize(("module", "old", "new", "fails", "word"), CHANGES)
def test_a_changed_table_or_definition_is_not_proved(
    tree: Tree, module: str, old: str, new: str, fails: str, word: str
) -> None:
    _grow(tree, fails)
    tree.replace(module, old, new)
    told = _told(tree, fails)
    assert f" at {fails}:" in told
    assert word in told
