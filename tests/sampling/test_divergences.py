"""sampling/v1 differs from upstream where DIVERGENCES.md says so, and nowhere else."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from lockstep.sampling import derive_seed
from lockstep.sampling.seed import Origin
from tests.refusals import refused
from tests.sampling.vectors import (
    DIVERGENCES,
    VECTORS,
    as_it_stands,
    by_value,
    sequence_by_v1,
)

TEXT = (Path(__file__).parents[2] / "DIVERGENCES.md").read_text("utf-8")
SEQUENCES = [one for one in VECTORS["sequence"] if "expected" in one]


def summary(made: dict[str, int] | str) -> Any:
    if isinstance(made, str) or len(made) <= 20:
        return made
    return {"tokens": len(made), "least": min(made.values()), "most": max(made.values())}


@pytest.mark.parametrize("vector", VECTORS["pipeline"], ids=lambda one: one["name"])
def test_weights_differ_only_where_it_is_stated(vector: dict[str, Any]) -> None:
    stated = DIVERGENCES["pipeline"].get(vector["name"])
    made = by_value(vector)
    if stated is not None:
        assert summary(made) == stated["v1"]
        assert made != vector.get("weights")
    elif "error" in vector:
        assert isinstance(made, str)
    else:
        assert made == vector["weights"]
    if not isinstance(made, str):
        assert sum(made.values()) == 65536
        assert min(made.values()) >= 0


def test_texts_are_refused_as_they_stand_only_where_it_is_stated() -> None:
    found = [
        one["name"]
        for one in VECTORS["pipeline"]
        if isinstance(as_it_stands(one), str) and not isinstance(by_value(one), str)
    ]
    assert found == DIVERGENCES["spelling"]


@pytest.mark.parametrize(
    ("name", "column"),
    [("apd_vs_libmpdec_weight_divergences", "python"), ("S2_prec10_vs_prec28", "prec10")],
)
def test_pairs_differ_only_where_it_is_stated(name: str, column: str) -> None:
    found = [n for n, one in enumerate(VECTORS[name]) if by_value(one) != one[column]]
    assert found == DIVERGENCES[name]
    for place in found:
        made, theirs = by_value(VECTORS[name][place]), VECTORS[name][place][column]
        assert isinstance(made, dict)
        assert {abs(made[token] - theirs[token]) for token in made} == {1}


@pytest.mark.parametrize("vector", SEQUENCES, ids=lambda one: one["name"])
def test_verdicts_differ_as_it_is_stated(vector: dict[str, Any]) -> None:
    stated = DIVERGENCES["sequence"][vector["name"]]
    assert sequence_by_v1(vector) == (stated["verdict"], stated["reason"])
    assert vector["expected"]["verdict"] == stated["upstream"]


def test_every_sequence_is_stated() -> None:
    assert set(DIVERGENCES["sequence"]) == {one["name"] for one in SEQUENCES}


def test_seeds_are_refused_alike_and_else_differ() -> None:
    for vector in VECTORS["seed_chain_bound"]:
        if vector.get("user_seed_is_python_literal"):
            continue
        expected = vector["v2_10655b21_and_go_b5372539"]
        origin = Origin(int(vector["user_seed"]), vector["inference_id"])
        if expected.startswith("REJECT:"):
            code = "MISSING_FIELD" if vector["inference_id"] is None else "BAD_VALUE"
            refused(code, lambda origin=origin: derive_seed(origin, 0, 0))  # type: ignore[misc]
        else:
            assert derive_seed(origin, 0, 0) != expected


def test_the_document_states_each_divergence_with_its_defect() -> None:
    rows = [line for line in TEXT.splitlines() if line.startswith("| ")]
    for part in ("pipeline", "sequence"):
        for name, stated in DIVERGENCES[part].items():
            row = [line for line in rows if f"`{name}`" in line]
            assert row, name
            assert any(line.split("|")[1].strip() == stated["defect"] for line in row), name
    for name in ("apd_vs_libmpdec_weight_divergences", "S2_prec10_vs_prec28"):
        assert f"`{name}`" in TEXT


def test_the_document_states_no_vector_that_there_is_not() -> None:
    known = {one["name"] for part in ("pipeline", "sequence", "distance") for one in VECTORS[part]}
    known |= set(VECTORS)
    for line in TEXT.splitlines():
        if line.startswith("| ") and line.count("|") == 6:
            assert set(re.findall(r"`([^`]+)`", line.split("|")[5])) <= known, line


def test_every_defect_of_the_list_has_a_row() -> None:
    first = {line.split("|")[1].strip() for line in TEXT.splitlines() if line.startswith("| ")}
    wanted = {"S1", "S1b", "S2", "S3", "E1", "A1", "A2", "6.6", "6.7", "6.8", "6.9", "6.10"}
    assert wanted | {f"F{n}" for n in range(1, 26)} <= first
