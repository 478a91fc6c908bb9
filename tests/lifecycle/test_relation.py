"""The relation, its n-grams by two derivations, and the text that states it."""

from __future__ import annotations

import copy
import re
from itertools import product
from typing import Any

import pytest

from lockstep import spec
from lockstep.errors import LockstepError
from lockstep.lifecycle.relation import Relation, observed_n_grams, parse, relation

# What the project that this lifecycle comes from published, for the relation as it stands and
# with a cell too many.
PUBLISHED_CELLS = 13
PUBLISHED = {2: 25, 3: 79}
PUBLISHED_WITH_ADMITTED_PREEMPTION = {2: 27, 3: 84}


def document() -> dict[str, Any]:
    return copy.deepcopy(spec.load("lifecycle.json"))


def with_cell(state: str, event: str, following: str) -> Relation:
    extended = document()
    extended["cells"].append({"state": state, "event": event, "next": following})
    pair = (state, event)
    extended["unreachable"] = [
        p for p in extended["unreachable"] if (p["state"], p["event"]) != pair
    ]
    return parse(extended)


def words_by_simulation(given: Relation, n: int) -> set[tuple[str, ...]]:
    """Run every word over the events through the automaton, from all states at once."""
    accepted = set()
    for word in product(given.events, repeat=n):
        alive = set(given.states)
        for event in word:
            alive = {c.next for c in given.cells if c.state in alive and c.event == event}
        if alive:
            accepted.add(word)
    return accepted


def test_cells_and_n_grams_are_those_published() -> None:
    given = relation()
    assert len(given.cells) == PUBLISHED_CELLS
    assert {n: len(given.n_grams(n)) for n in PUBLISHED} == PUBLISHED


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_n_grams_by_two_derivations(n: int) -> None:
    assert relation().n_grams(n) == words_by_simulation(relation(), n)


def test_a_cell_too_many_raises_the_denominators() -> None:
    extended = with_cell("ADMITTED", "preempt_rc", "PREEMPTED")
    assert {n: len(extended.n_grams(n)) for n in PUBLISHED} == PUBLISHED_WITH_ADMITTED_PREEMPTION
    assert relation().n_grams(3) < extended.n_grams(3)
    assert relation().n_grams(3) < with_cell("DECODING", "evict", "DECODING").n_grams(3)


@pytest.mark.parametrize(
    "word",
    [
        ("cache_hit", "evict"),
        ("evict", "chunk"),
        ("cache_hit", "chunk"),
        ("resume", "cache_hit"),
        ("preempt_rc", "resume", "cache_hit"),
    ],
)
def test_published_words_are_legal(word: tuple[str, ...]) -> None:
    assert word in relation().n_grams(len(word))


def test_every_state_is_reached_from_the_initial_one() -> None:
    given = relation()
    reached = {given.initial}
    while more := {c.next for c in given.cells if c.state in reached} - reached:
        reached |= more
    assert reached == set(given.states)


def test_table_of_the_text_is_the_data() -> None:
    text = spec.read("lifecycle.md").decode()
    cells = set()
    for state, row in re.findall(r"^\| ([A-Z]+) \| (.*) \|$", text, re.MULTILINE):
        cells |= {(state, *re.split(" → ", cell)) for cell in row.split(", ") if cell}
    assert cells == {tuple(cell) for cell in relation().cells}


def test_events_of_the_text_are_the_data() -> None:
    text = spec.read("lifecycle.md").decode()
    listed = re.findall(r"^\| ([a-z_]+) \| [^L]", text, re.MULTILINE)
    weakenings = [entry["name"] for entry in document()["weakenings"]]
    assert set(listed) - {"event", "state", "weakening"} - set(weakenings) == set(relation().events)


def test_observed_n_grams_count_overlapping_words() -> None:
    log = ("admit", "decode", "decode", "decode", "finish")
    assert observed_n_grams(log, 2)[("decode", "decode")] == 2
    assert sum(observed_n_grams(log, 3).values()) == 3
    assert not observed_n_grams(log, 6)


@pytest.mark.parametrize(
    ("member", "value", "got"),
    [
        ("states", ["QUEUED", *spec.load("lifecycle.json")["states"]], "QUEUED"),
        ("states", spec.load("lifecycle.json")["states"][1:], "QUEUED"),
        ("events", spec.load("lifecycle.json")["events"][1:], "admit"),
        ("events", ["admit", *spec.load("lifecycle.json")["events"]], "admit"),
        ("initial", "SUBMITTED", "SUBMITTED"),
        ("terminal", [], "FINISHED"),
        ("terminal", ["DECODING", "FINISHED"], "DECODING"),
        (
            "unreachable",
            [{"state": "DECODING", "event": "decode", "reason": "none"}],
            "('DECODING', 'decode')",
        ),
    ],
)
def test_broken_relation_is_refused(member: str, value: Any, got: str) -> None:
    broken = document()
    broken[member] = value
    with pytest.raises(LockstepError) as caught:
        parse(broken)
    assert caught.value.code == "BAD_VALUE"
    assert caught.value.pointer.startswith("lifecycle.json:/")
    assert caught.value.got == got


def test_second_cell_of_a_pair_is_refused() -> None:
    broken = document()
    broken["cells"].append({"state": "QUEUED", "event": "admit", "next": "DECODING"})
    with pytest.raises(LockstepError) as caught:
        parse(broken)
    assert (caught.value.code, caught.value.pointer) == ("BAD_VALUE", "lifecycle.json:/cells")


def test_data_of_the_proofs_names_what_the_relation_has() -> None:
    data = document()
    pairs = [(entry["state"], entry["event"]) for entry in data["witnesses"]]
    assert pairs == [(cell.state, cell.event) for cell in relation().cells]
    assert {entry["breaks"] for entry in data["weakenings"]} | {"witness"} == set(data["goals"])
    text = spec.read("lifecycle.md").decode()
    for entry in data["weakenings"]:
        assert f"| {entry['name']} | {entry['rule']}" in text
