"""Re-derivation of experiments on sampling: each refusal, and that both sides agree."""

from __future__ import annotations

import time
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest

from lockstep import spec
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
        ("series/0/parameters", lambda old: None, BAD),
        ("series/0/parameters", lambda old: {**old, "temperature": "0"}, BAD),
        ("series/0/parameters", lambda old: {**old, "temperature": "0.000009"}, BAD),
        ("series/0/parameters", lambda old: {**old, "top_p": "1"}, BAD),
        ("series/0/parameters", lambda old: {**old, "min_p": "0"}, BAD),
        ("series/0/parameters", lambda old: {**old, "min_p": "2"}, BAD),
        ("series/0/differing", lambda old: old + "0", BAD),
        ("series/0/differing", lambda old: old[:-1] + "1", BAD),
        ("series/1/count", lambda old: old - 1, H10),
        ("series/1/low_ppm", lambda old: old - 1, H10),
        ("series/1/high_ppm", lambda old: old + 1, H10),
        ("distances/0/role", lambda old: "int8", BAD),
        ("distances/0/values/0", lambda old: old + 1, H10),
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
    assert pointer.startswith(f"{P}/{at.removesuffix('/3/name').removesuffix('/values/0')}")


def test_nothing_is_counted_twice(statement: Statement) -> None:
    series, distances = statement["predicate"]["series"], statement["predicate"]["distances"]
    series.append({**series[0], "parameters": {**series[0]["parameters"], "top_p": "0.9"}})
    assert refusal(statement) == (H10, f"{P}/counts/series")
    series[-1] = {**series[0], "differing": "000", "count": 0}
    assert refusal(statement) == (BAD, f"{P}/series/{len(series) - 1}/of")
    del series[-1]
    distances.append({**distances[0], "values": [7]})
    assert refusal(statement) == (BAD, f"{P}/distances/{len(distances) - 1}/of")


def test_repetition_draws_nothing(statement: Statement) -> None:
    at = first(statement, "again")
    put(statement, f"{P}/series/{at}/parameters", statement["predicate"]["series"][0]["parameters"])
    assert refusal(statement) == (BAD, f"{P}/series/{at}/parameters")


@pytest.mark.parametrize("value", [0, 65_537])
def test_so_many_seeds_are_not_tried(statement: Statement, value: int) -> None:
    distances = statement["predicate"]["distances"]
    at = next(i for i, one in enumerate(distances) if one["measure"] == "attempts")
    put(statement, f"{P}/distances/{at}/values/2", value)
    assert refusal(statement) == (BAD, f"{P}/distances/{at}/values/2")


def test_a_bit_that_is_taken_away_is_seen(statement: Statement) -> None:
    at = first(statement, "binary32")
    put(statement, f"{P}/series/{at}/differing", "000")
    assert refusal(statement) == (H10, f"{P}/series/{at}/count")


@pytest.mark.parametrize(
    ("limit", "count", "at"),
    [
        ("EXPERIMENT_POSITIONS", "positions", "series"),
        ("EXPERIMENT_VALUES", "values", "distances"),
    ],
)
def test_more_than_is_looked_at(
    monkeypatch: pytest.MonkeyPatch, statement: Statement, limit: str, count: str, at: str
) -> None:
    most = statement["predicate"]["counts"][count]
    monkeypatch.setattr(limits, limit, most)
    judge(statement)
    monkeypatch.setattr(limits, limit, most - 1)
    assert refusal(statement) == ("LIMIT_SIZE", f"{P}/{at}")


def test_limits_are_those_of_the_data() -> None:
    data = spec.load("sampling-experiments.json")
    assert data["positions_most"] == limits.EXPERIMENT_POSITIONS
    assert data["values_most"] == limits.EXPERIMENT_VALUES
    assert data["positions_most"] >= data["rollout"]["positions_least"]
    schema = spec.load("schemas/sampling-experiments.schema.json")
    series, entry = schema["$defs"]["series"], schema["$defs"]["distance"]
    assert schema["properties"]["series"]["maxItems"] == data["series_most"]
    assert schema["properties"]["distances"]["maxItems"] == data["distances_most"]
    assert series["properties"]["positions"]["maximum"] == data["series_positions_most"]
    assert entry["properties"]["values"]["maxItems"] == data["entry_values_most"]


def test_a_full_series_is_derived_at_once() -> None:
    """A stranger may ask for many; a verifier that sums integers would take days."""
    full = records.series()[0]._replace(differing=(True, False) * 8_192)
    began = time.process_time()
    assert judge(records.statement(records.experiments([full], []))).verdict == "diverged"
    assert time.process_time() - began < 5


def test_observations_are_bound(statement: Statement) -> None:
    put(statement, f"{P}/series/0/of", "another comparison")
    assert refusal(statement)[0] == "SUBJECT_MISMATCH"
    del statement["subject"][-1]
    assert refusal(statement) == ("SUBJECT_MISMATCH", "/subject")
