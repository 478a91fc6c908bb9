"""Re-derivation of experiments on sampling: each refusal, and that both sides agree."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest

from lockstep.sampling.experiments import Experiments
from lockstep_verify import limits
from tests import experiments_records as records
from tests.statements import judge, put, refusal

P = "/predicate"
H10, OUTCOME, BAD = "H10_COUNTS_DO_NOT_RECOMPUTE", "OUTCOME_NOT_DERIVED", "BAD_VALUE"
Statement = dict[str, Any]


@pytest.fixture(scope="module")
def held() -> Statement:
    return records.statement()


@pytest.fixture
def statement(held: Statement) -> Statement:
    return deepcopy(held)


def test_what_is_folded_is_derived(statement: Statement) -> None:
    found = judge(statement)
    assert found.verdict == statement["predicate"]["verdict"] == "shown"
    assert found.counts == statement["predicate"]["counts"]
    assert found.counts["shown"] == found.counts["experiments"] == 9


def replaced(role: str, bits: tuple[bool, ...]) -> Experiments:
    given = [one._replace(differing=bits) if one.role == role else one for one in records.series()]
    return records.experiments(given)


@pytest.mark.parametrize(
    ("seen", "verdict", "outcomes"),
    [
        (replaced("replay", (False, True)), "diverged", {1: "not_shown", 8: "not_shown"}),
        (replaced("binary32", (False,) * 9), "partly_shown", {1: "not_shown", 8: "not_shown"}),
        (replaced("again", (True,)), "partly_shown", {6: "not_shown"}),
        (
            records.experiments([one for one in records.series() if one.role != "fixed_20"]),
            "partly_shown",
            {2: "not_run"},
        ),
        (records.experiments(None, []), "partly_shown", {4: "not_run", 5: "not_run", 9: "not_run"}),
        (
            records.experiments(
                None,
                [
                    one._replace(values=(1,)) if one.role == "int4" else one
                    for one in records.distances()
                ],
            ),
            "partly_shown",
            {5: "not_shown"},
        ),
    ],
)
def test_what_is_not_as_wanted_shows(
    seen: Experiments, verdict: str, outcomes: dict[int, str]
) -> None:
    made = records.statement(seen)
    assert judge(made).verdict == verdict
    told = {one["experiment"]: one["outcome"] for one in made["predicate"]["experiments"]}
    assert {number: one for number, one in told.items() if one != "shown"} == outcomes


def first(statement: Statement, role: str) -> int:
    return next(i for i, one in enumerate(statement["predicate"]["series"]) if one["role"] == role)


@pytest.mark.parametrize(
    ("at", "change", "code"),
    [
        ("series/0/role", lambda old: "fixed_5", BAD),
        ("series/0/differing", lambda old: old + "0", BAD),
        ("series/0/differing", lambda old: old[:-1] + "1", BAD),
        ("series/1/count", lambda old: old - 1, H10),
        ("series/1/low_ppm", lambda old: old - 1, H10),
        ("series/1/high_ppm", lambda old: old + 1, H10),
        ("distances/0/role", lambda old: "int8", BAD),
        ("distances/0/quantiles", lambda old: [0, *old[1:]], H10),
        ("experiments", lambda old: old[:-1], BAD),
        ("experiments/3/name", lambda old: "other", BAD),
        ("experiments/0/outcome", lambda old: "not_shown", OUTCOME),
        ("counts/replay_positions", lambda old: old + 1, H10),
        ("counts/shown", lambda old: 8, H10),
        ("verdict", lambda old: "partly_shown", OUTCOME),
        ("not_run", lambda old: [*old[1:], "x"], BAD),
    ],
)
def test_each_refusal(
    statement: Statement, at: str, change: Callable[[Any], Any], code: str
) -> None:
    place: Any = statement["predicate"]
    *path, last = at.split("/")
    for step in path:
        place = place[int(step)] if step.isdigit() else place[step]
    put(statement, f"{P}/{at}", change(place[int(last)] if last.isdigit() else place[last]))
    found, pointer = refusal(statement)
    assert found == code
    assert pointer.startswith(f"{P}/{at.removesuffix('/3/name')}")


def test_a_bit_that_is_taken_away_is_seen(statement: Statement) -> None:
    at = first(statement, "binary32")
    put(statement, f"{P}/series/{at}/differing", "000")
    assert refusal(statement) == (H10, f"{P}/series/{at}/count")


@pytest.mark.parametrize(("positions", "values", "at"), [(8, 5, "series"), (1, 9, "distances")])
def test_more_than_is_looked_at(
    monkeypatch: pytest.MonkeyPatch, positions: int, values: int, at: str
) -> None:
    measured = [one._replace(values=(1,) * values) for one in records.distances()]
    made = records.statement(records.experiments(records.series(positions), measured))
    counts = made["predicate"]["counts"]
    most = max(counts["positions"], counts["values"])
    monkeypatch.setattr(limits, "EXPERIMENT_POSITIONS", most)
    judge(made)
    monkeypatch.setattr(limits, "EXPERIMENT_POSITIONS", most - 1)
    assert refusal(made) == ("LIMIT_SIZE", f"{P}/{at}")


def test_observations_are_bound(statement: Statement) -> None:
    put(statement, f"{P}/series/0/of", "another comparison")
    assert refusal(statement)[0] == "SUBJECT_MISMATCH"
    del statement["subject"][-1]
    assert refusal(statement) == ("SUBJECT_MISMATCH", "/subject")
