"""Outcomes, verdicts, coverage and counts over runs of relations [INV-6] to [INV-11]."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import Any

from lockstep import spec
from lockstep.lifecycle.relation import relation as lifecycle
from lockstep.relations.catalogue import declared
from lockstep.relations.observation import Observation

Combination = tuple[str, int]
"""A relation's name and a block size."""

VERDICTS = ("UNPROVEN", "VIOLATED", "INVARIANT")
"""From the least to the most that they say [INV-9]."""
OUTCOMES = ("not_run", "vacuous", "violated", "holds")
"""Of a run, from the least to the most that they say."""
ALL = "all"
"""The population of all runs."""
KERNEL_EQUALITY, KERNELS = "KERNEL-EQ", "kernels"


def outcomes(runs: Iterable[Observation]) -> dict[Combination, str]:
    """Give each combination the least that one of its runs says [INV-6]."""
    found: dict[Combination, str] = {}
    for run in runs:
        pair = (run.relation, run.block_size)
        least = min(OUTCOMES.index(run.outcome), OUTCOMES.index(found.get(pair, "holds")))
        found[pair] = OUTCOMES[least]
    return found


def shown(control: Observation, required: bool) -> str:
    """Say what a control came to [INV-7]."""
    if control.outcome == "violated":
        return "shown"
    return "not_comparable" if (control.outcome, required) == ("holds", False) else "not_shown"


def fold(found: Iterable[str], controls: Iterable[str], holds: str) -> str:
    """Give the verdict over outcomes of combinations and what controls came to [INV-8].

    Args:
        found: the outcomes.
        controls: what each control came to.
        holds: the verdict where every combination holds.
    """
    seen = set(found)
    if not seen or seen & {"not_run", "vacuous"} or "not_shown" in controls:
        return "UNPROVEN"
    return "VIOLATED" if "violated" in seen else holds


def weakening_never_raises() -> bool:
    """Decide over all assignments to three runs and two controls whether one ever does [INV-9].

    Neither verdict nor weakening looks at more than which outcomes occur, so that three runs show
    whatever any number of them shows.
    """
    runs, tried = OUTCOMES[::-1], ("violated", "holds", "vacuous", "not_run")
    for *seen, required, other in product(runs, runs, runs, tried, tried):
        before = _rank(seen, required, other)
        for place, value in enumerate(seen):
            for weaker in runs[runs.index(value) + 1 :]:
                if _rank([*seen[:place], weaker, *seen[place + 1 :]], required, other) > before:
                    return False
        for weaker in _weaker_controls(required):
            if _rank(seen, weaker, other) > before:
                return False
        for weaker in _weaker_controls(other):
            if _rank(seen, required, weaker) > before:
                return False
    return True


def _weaker_controls(outcome: str) -> tuple[str, ...]:
    return {"violated": ("holds", "vacuous", "not_run"), "holds": ("vacuous", "not_run")}.get(
        outcome, ()
    )


def _rank(seen: Sequence[str], required: str, other: str) -> int:
    words = [
        "shown" if outcome == "violated" else "not_shown" if must or outcome != "holds"
        else "not_comparable" for outcome, must in ((required, True), (other, False))
    ]  # fmt: skip
    return VERDICTS.index(fold(seen, words, VERDICTS[-1]))


def claims(found: Mapping[Combination, str], controls: Sequence[str]) -> list[dict[str, Any]]:
    """Give each claim with the fold over its relations' combinations [INV-8]."""
    listed = []
    for entry in spec.load("relations.json")["claims"]:
        own = [
            outcome
            for (name, _), outcome in found.items()
            if declared()[name].claim == entry["name"]
        ]
        listed.append(
            {
                "name": entry["name"],
                "demanded": len(own),
                "held": own.count("holds"),
                "verdict": fold(own, controls, "HOLDS"),
            }
        )
    return listed


def coverage(runs: Sequence[Observation]) -> tuple[list[dict[str, Any]], list[list[str]]]:
    """Give how much of the lifecycle each population shows, and what none shows [INV-10]."""
    rows: list[dict[str, Any]] = []
    unseen: list[list[str]] = []
    for name in (*declared(), ALL):
        grams = {gram for run in runs if name in (run.relation, ALL) for gram in run.n_grams}
        for n in (2, 3):
            legal = lifecycle().n_grams(n)
            row = {"population": name, "n": n, "observed": len(grams & legal), "legal": len(legal)}
            rows.append(row)
            if name == ALL:
                unseen += [list(gram) for gram in sorted(legal - grams)]
    return rows, unseen


def counts(
    runs: Sequence[Observation],
    found: Mapping[Combination, str],
    controls: Sequence[str],
    rows: Sequence[Mapping[str, Any]],
) -> dict[str, int]:
    """Give the counts [INV-11].

    Args:
        runs: the runs in order.
        found: the outcome of each combination.
        controls: what each control came to.
        rows: the coverage of each population, `all` last.
    """
    said = list(found.values())
    two, three = rows[-2:]
    equal = [
        run.counters.get(KERNELS, 0)
        for run in runs
        if (run.relation, run.outcome) == (KERNEL_EQUALITY, "holds")
    ]
    return {
        "relations": len(declared()),
        "demanded": len(found),
        **{name: said.count(name) for name in OUTCOMES[::-1]},
        "runs": len(runs),
        "executions": sum(run.executions for run in runs),
        "requests": sum(run.requests for run in runs),
        "positions": sum(run.positions for run in runs),
        "differences": sum(run.differences for run in runs),
        "workloads": len({digest for run in runs for digest in run.workloads}),
        "schedules": len({digest for run in runs for digest in run.schedules}),
        "controls": len(controls),
        "controls_shown": controls.count("shown"),
        "controls_not_comparable": controls.count("not_comparable"),
        "two_grams": two["observed"],
        "two_grams_legal": two["legal"],
        "three_grams": three["observed"],
        "three_grams_legal": three["legal"],
        "kernels_equal": max(equal, default=0),
    }
