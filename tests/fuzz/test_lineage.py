"""Seeds make the same cases everywhere, and what they alter stays a case."""

from __future__ import annotations

import subprocess
import sys

import pytest

from lockstep.fuzz.alter import MOST_ARRIVAL, MOST_REQUESTS, altered
from lockstep.fuzz.lineage import Lineage, case_of, corpora, draws_of, parent
from lockstep.fuzz.live import fits
from lockstep.fuzz.populations import PROBES, round_size, targets
from lockstep.fuzz.probes import shows
from lockstep.lifecycle.relation import relation
from lockstep.schedule.simulate import simulate
from lockstep.schedule.workload import parse_workload

LINEAGES = [Lineage("swarm", (0, 17, 40)), Lineage("eviction", (3,)), Lineage(PROBES, (20,))]

SCRIPT = """
from lockstep.fuzz.lineage import Lineage, case_of
for population, seeds in {given!r}:
    print(case_of(Lineage(population, tuple(seeds))).sha256)
"""


def test_cases_are_the_same_in_any_process() -> None:
    given = [(one.population, list(one.seeds)) for one in LINEAGES]
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT.format(given=given)],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONHASHSEED": "1"},
    )
    assert done.stdout.split() == [case_of(one).sha256 for one in LINEAGES]


def test_distinct_seeds_make_distinct_cases() -> None:
    names = ("swarm", "eviction")
    cases = {case_of(Lineage(name, (seed,))).sha256 for name in names for seed in range(40)}
    assert len(cases) == 80


@pytest.mark.parametrize("population", ["swarm", "eviction"])
def test_altered_cases_are_cases(population: str) -> None:
    for root in range(12):
        case = case_of(Lineage(population, (root,)))
        fitted = fits(case)
        for seed in range(100, 110):
            case = altered(case, draws_of(population, seed))
            document = case.workload.document()
            assert parse_workload(document) == case.workload
            assert len(case.workload.requests) <= MOST_REQUESTS
            assert max(one.arrival for one in case.workload.requests) < 10 * MOST_ARRIVAL
            assert fits(case) or not fitted


def test_the_corpus_is_of_earlier_rounds() -> None:
    size = round_size()
    shown = [(seed, frozenset({seed // 3})) for seed in range(2 * size + 5)]
    by_round = corpora(shown)
    assert by_round[0] == ()
    assert by_round[1] == tuple(range(0, size, 3))
    assert by_round[2] == tuple(range(0, 2 * size, 3))
    assert 3 not in by_round


def test_parents() -> None:
    corpus = (3, 5, 9)
    found = [parent("swarm", seed, corpus) for seed in range(200)]
    assert set(found) == {None, *corpus}
    assert 60 < found.count(None) < 140
    assert {parent("swarm", seed, ()) for seed in range(50)} == {None}
    assert {parent(PROBES, seed, corpus) for seed in range(50)} == {None}


@pytest.mark.parametrize(
    "seeds",
    [range(0, 117, 9), pytest.param(range(117), marks=pytest.mark.slow)],
    ids=["few", "all"],
)
def test_every_probe_shows_its_target(seeds: range) -> None:
    for seed in seeds:
        case = case_of(Lineage(PROBES, (seed,)))
        run = simulate(case.workload, case.pool, case.by.policy()).run  # type: ignore[union-attr]
        assert shows(run, targets()[seed]), targets()[seed]


def test_targets_are_cells_then_legal_n_grams() -> None:
    held = relation()
    assert [target.cell for target in targets()[:13]] == [(c.state, c.event) for c in held.cells]
    grams = [target.gram for target in targets()[13:]]
    assert grams == sorted(held.n_grams(2)) + sorted(held.n_grams(3))
