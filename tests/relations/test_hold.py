"""Every relation holds on the host, and none of them by looking at nothing."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest

from lockstep.lifecycle.relation import relation as lifecycle
from lockstep.relations import batch_composition, cache_hits
from lockstep.relations.catalogue import batch_sizes, block_sizes, controls, declared
from lockstep.relations.observation import Difference, judge, parse_observation
from lockstep.relations.registry import RELATIONS

from .conftest import Observe

SPEC = Path(__file__).resolve().parents[2] / "spec"

QUICK = ("MR1", "MR3", "MR4", "MR4b", "MR5", "MR7", "MR8", "EOS", "PATH-EQ", "NEVER-FITS")
SLOW = tuple(name for name in declared() if name not in QUICK)


def test_what_is_declared_is_what_can_be_run() -> None:
    assert tuple(RELATIONS) == tuple(declared())
    for relation in declared().values():
        assert relation.rule in (SPEC / "relations.md").read_text("utf-8")
        assert set(relation.block_sizes) <= set(block_sizes())
        assert relation.counters
        assert len(set(relation.counters)) == len(relation.counters)
    assert {f"batches_of_{size}" for size in batch_sizes()} <= set(declared()["MR1"].counters)
    assert {control.relation for control in controls()} <= set(declared())


@pytest.mark.parametrize(
    "name", [*QUICK, *(pytest.param(name, marks=pytest.mark.slow) for name in SLOW)]
)
def test_it_holds_on_the_host(kept: Observe, name: str) -> None:
    observed = kept(name)
    if name == "KERNEL-EQ" and observed.outcome == "not_run":
        pytest.skip(f"not run: {observed.reason}")
    assert (observed.outcome, observed.reason, observed.first_difference) == ("holds", "", None)
    assert observed.positions > 0
    assert observed.differences == 0
    document = observed.document()
    schema = json.loads((SPEC / "schemas" / "relation-run.schema.json").read_text("utf-8"))
    jsonschema.validate(document, schema)
    assert parse_observation(document) == observed
    # Each counter that the relation demands makes the run vacuous by itself.
    relation = declared()[name]
    for counter in relation.counters:
        counters = {**observed.counters, counter: 0}
        outcome = judge(relation, observed.positions, 0, counters)
        assert outcome == ("vacuous", f"zero: {counter}")
    assert judge(relation, 0, 0, observed.counters) == ("vacuous", "zero: positions")
    assert judge(relation, observed.positions, 1, observed.counters) == ("violated", "")
    # What requests show is what the lifecycle allows.
    for n in (2, 3):
        seen = {events for events in observed.n_grams if len(events) == n}
        assert seen <= lifecycle().n_grams(n)


@pytest.mark.parametrize("name", ["EOS", "NEVER-FITS", "MR5"])
def test_a_run_is_recorded_alike_each_time(observe_once: Observe, kept: Observe, name: str) -> None:
    assert observe_once(name) == kept(name)


def test_another_seed_makes_other_workloads(observe_once: Observe, kept: Observe) -> None:
    other = observe_once("EOS", seed=1)
    assert other.outcome == "holds"
    assert not set(other.workloads) & set(kept("EOS").workloads)


def test_a_run_without_its_mechanism_is_vacuous(
    observe_once: Observe, monkeypatch: pytest.MonkeyPatch
) -> None:
    without = replace(cache_hits.CONTINUOUS, lookup=False)
    monkeypatch.setattr(cache_hits, "CONTINUOUS", without)
    observed = observe_once("MR4")
    assert observed.outcome == "vacuous"
    assert observed.reason.startswith("zero: cache_hits, hit_blocks, foreign_hit_blocks")
    assert observed.positions > 0


def test_a_missing_batch_size_is_vacuous(
    observe_once: Observe, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch_composition, "batch_sizes", lambda: (1, 2, 3, 4))
    observed = observe_once("MR1")
    assert observed.outcome == "vacuous"
    assert "batches_of_8, batches_of_16, batches_of_31, batches_of_32" in observed.reason


def test_a_difference_is_told_in_plain_text() -> None:
    long = Difference("an\u00e9xecution", "r", 1, None, "keys", "x" * 1000, "\x1b[31m")
    document = long.document()
    assert document["execution"] == "an?xecution"
    assert len(document["expected"]) == 400
    assert document["got"] == "?[31m"
