"""Distances of upstream, each digit of them, and what spec/distance.md makes of the same inputs."""

from __future__ import annotations

import math
from typing import Any

import pytest

from lockstep import spec
from lockstep.errors import LockstepError
from lockstep.sampling import upstream_distance as upstream
from lockstep.sampling.distance import measure, values
from lockstep.sampling.number import canonical
from tests.sampling.test_divergences import TEXT
from tests.sampling.vectors import DIVERGENCES, VECTORS

PAIRS = [one for one in VECTORS["distance"] if "executor" in one]


@pytest.mark.parametrize("vector", PAIRS, ids=lambda one: one["name"])
def test_each_digit(vector: dict[str, Any]) -> None:
    a, b = vector["executor"], vector["validator"]
    assert upstream.mae_support(a, b) == vector["mae_support"]
    assert upstream.vllm_validation_logic(a, b) == vector["vllm_validation_logic"]
    assert upstream.similarity_old_sum(a, b) == vector["gonka_go_similarity_old_sum"]
    assert upstream.position_means(a, b) == vector["gonka_common_position_mean"]
    assert upstream.mlnode_distance2(a, b) == vector["mlnode_distance2"]


def by_v1(vector: dict[str, Any]) -> list[int] | str:
    sides = [
        values({token: canonical(repr(value)) for token, value in vector[side][0].items()})
        for side in ("executor", "validator")
    ]
    try:
        return list(measure(*sides))
    except LockstepError as fault:
        return f"{fault.code} {fault.pointer}"


@pytest.mark.parametrize("vector", PAIRS, ids=lambda one: one["name"])
def test_it_differs_as_it_is_stated(vector: dict[str, Any]) -> None:
    stated = DIVERGENCES["distance"][vector["name"]]
    assert by_v1(vector) == stated["v1"]
    rows = [line for line in TEXT.splitlines() if f"`{vector['name']}`" in line]
    assert stated["defect"] in {row.split("|")[1].strip() for row in rows}


def test_every_pair_is_stated() -> None:
    assert set(DIVERGENCES["distance"]) == {one["name"] for one in PAIRS}


def test_other_lengths_and_nothing_at_all() -> None:
    one = {"5": -0.5}
    assert upstream.mae_support([one], [one, one]) == 10
    assert upstream.mae_support([{}], [one]) == 0
    assert upstream.mae_support([{}, one], [one, {"5": -1.0}]) == 0.5
    assert upstream.vllm_validation_logic([{}], [one]) == 1
    assert upstream.mlnode_distance2([one], [{}]) == 1 / 101
    # Two infinities differ by no number; the term is then half.
    assert upstream.position_means([{"5": -math.inf, "6": -1.0}], [{"5": -math.inf}]) == [0.5]


def test_many_bent_positions_pass_the_placeholder() -> None:
    # F4: one log-probability of twenty is raised by 2.5 nat at every position.
    honest = [{str(n): -0.5 - n / 4 for n in range(20)} for _ in range(100)]
    bent = [{**one, "19": one["19"] + 2.5} for one in honest]
    threshold = float(spec.load("distance-calibration.json")["upstream"]["mae_threshold"])
    assert upstream.mae_support(bent, honest) < threshold
