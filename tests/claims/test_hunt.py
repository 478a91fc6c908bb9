from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from lockstep import spec
from lockstep.hunt import HuntObservations, Options, hunt
from lockstep.layouts.sets import load_set

Fold = Callable[[HuntObservations], dict[str, Any]]
PUBLISHED = Path(__file__).parents[2] / "conformance" / "published" / "seed-004.json"
POSITIONS = (
    "positions_checked",
    "positions_total",
    "source_positions_checked",
    "source_positions_total",
    "dest_padding_positions",
    "source_padding_positions",
    "unread_padding_positions",
    "dest_bijective",
    "source_bijective",
    "gather_agrees",
)


@pytest.fixture(scope="module")
def published() -> dict[str, Any]:
    document: dict[str, Any] = json.loads(PUBLISHED.read_text())
    return document


def test_the_predicate_has_the_shape_of_the_schema(folded: dict[str, Any]) -> None:
    jsonschema.Draft202012Validator(spec.load("schemas/hunt.schema.json")).validate(folded)


def test_each_row_is_that_of_the_published_document(
    folded: dict[str, Any], published: dict[str, Any]
) -> None:
    assert len(folded["rows"]) == len(published["rows"]) == 64
    transfer = {row["pair_id"]: row for row in folded["transfer"]["rows"]}
    for ours, theirs in zip(folded["rows"], published["rows"], strict=True):
        for field in ("pair_id", "src", "dst", "verdict", "frontier_code", "transformations"):
            assert ours[field] == theirs[field], ours["pair_id"]
        assert ours["observations"] == theirs["observations"], ours["pair_id"]
        if ours["verdict"] == "REFUSED":
            assert ours["proof"] is None
            assert ours["native_bytes"] is None
            continue
        assert ours["native_bytes"] == theirs["native_bytes"]
        for field in POSITIONS:
            assert ours["proof"][field] == theirs["proof"][field], (ours["pair_id"], field)
        if ours["verdict"] != "NOT_EXACT":
            moved = transfer[ours["pair_id"]]
            assert moved["roundtrip_diff_positions"] == theirs["proof"]["roundtrip_diff_positions"]


def test_totals_are_those_of_the_published_document(
    folded: dict[str, Any], published: dict[str, Any]
) -> None:
    counts, theirs = folded["counts"], published["observed"]
    verdicts = {name: counts[name.lower()] for name in theirs["verdict_counts"]}
    assert verdicts == theirs["verdict_counts"]
    assert [*verdicts.values()] == [21, 35, 2, 6, 0]
    assert counts["positions_checked"] == theirs["positions_checked_total"] == 90_880
    assert counts["source_positions_checked"] == theirs["source_positions_checked_total"] == 90_880
    assert counts["distinct_positions"] == theirs["distinct_positions"] == 12_544
    assert counts["distinct_images"] == theirs["distinct_index_spaces"] == 8
    assert counts["lossless_layouts"] == theirs["lossless_engines"]
    assert counts["identity_layouts"] == theirs["identity_map_engines"]
    assert counts["vocabulary"] == sorted(theirs["vocabulary_exercised"])
    assert counts["frontier_codes"] == theirs["frontier_codes"]


def test_every_check_and_limit_is_executed(folded: dict[str, Any]) -> None:
    outcomes = {check["name"]: check["outcome"] for check in folded["checks"]}
    assert set(outcomes.values()) == {"passed"}
    assert [check["name"] for check in folded["checks"]] == [
        check["name"] for check in spec.load("hunt.json")["checks"]
    ]
    assert all(limit["holds"] for limit in folded["known_limits"])


def test_a_hunt_without_a_decode_proves_nothing(fold: Fold) -> None:
    folded = fold(hunt(load_set("seed-004"), options=Options(decode=False)))
    jsonschema.Draft202012Validator(spec.load("schemas/hunt.schema.json")).validate(folded)
    assert folded["counts"]["unproven"] == 58
    assert folded["counts"]["exact_byte"] == folded["counts"]["exact_token"] == 0
    assert {row["observations"]["tokens_identical"] for row in folded["rows"]} == {None}
    assert folded["transfer"]["rows"] == folded["transfer"]["references"] == []
    outcomes = {check["name"]: check["outcome"] for check in folded["checks"]}
    assert outcomes["token_leg_is_not_vacuous"] == "not_made"
    assert outcomes["reference_tokens_are_not_degenerate"] == "not_made"


def test_a_walk_that_failed_is_not_claimed_to_have_succeeded(
    observed: HuntObservations, fold: Fold
) -> None:
    first = observed.layouts[0]
    assert first.probe is not None
    broken = replace(first, probe=replace(first.probe, bijective=False))
    folded = fold(replace(observed, layouts=(broken, *observed.layouts[1:])))
    assert folded["layouts"][0]["derived"]["bijective"] is False
    proofs = [row["proof"] for row in folded["rows"] if row["src"] == "vllm-fa" and row["proof"]]
    assert {proof["source_bijective"] for proof in proofs} == {False}


def test_a_pair_whose_walk_failed_does_not_agree(observed: HuntObservations, fold: Fold) -> None:
    name = "sglang->vllm-fa"
    rows = {**observed.rows, name: replace(observed.rows[name], walk_is_bijective=False)}
    folded = fold(replace(observed, rows=rows))
    row = next(row for row in folded["rows"] if row["pair_id"] == name)
    assert row["proof"]["gather_agrees"] is False


SCRIPT = """
import json, sys
from lockstep.claims.hunt import predicate
from lockstep.hunt import hunt
from lockstep.layouts.sets import load_set
folded = predicate(hunt(load_set("seed-004")), **json.loads(sys.argv[1]))
print(json.dumps(folded, sort_keys=True))
"""


def test_neither_hash_seed_nor_threads_change_the_predicate(
    folded: dict[str, Any], arguments: dict[str, Any]
) -> None:
    for seed, threads in (("1", "1"), ("271828", "2")):
        result = subprocess.run(
            [sys.executable, "-c", SCRIPT, json.dumps(arguments)],
            env={**os.environ, "PYTHONHASHSEED": seed, "OMP_NUM_THREADS": threads},
            cwd=Path(__file__).parents[2],
            capture_output=True,
            text=True,
            check=True,
        )
        assert result.stdout.strip() == json.dumps(folded, sort_keys=True)
