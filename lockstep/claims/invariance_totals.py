"""Outcomes, verdicts, coverage and counts over runs of relations [INV-6] to [INV-11]."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
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
NOT_SHOWN = "not_shown"
STRAYS = "strays"
"""Of a control: it compared something else than its twin did."""
DOES_NOT_APPLY = "DOES_NOT_APPLY"
"""Of a claim: none of its relations applies."""
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


def shown(control: Observation, runs: Iterable[Observation], required: bool, backend: str) -> str:
    """Say what a control came to [INV-7].

    Args:
        control: its run.
        runs: all runs, of which one may be its twin.
        required: whether every machine shows it.
        backend: the subject's, which controls nothing.
    """
    if control.subject.backend == backend or not any(repeats(control, run) for run in runs):
        return NOT_SHOWN
    return _word(control.outcome, required)


def repeats(control: Observation, run: Observation) -> bool:
    """Say whether a control executed and compared what a run did [INV-7]."""
    alike = replace(
        run,
        subject=control.subject,
        outcome=control.outcome,
        reason=control.reason,
        differences=control.differences,
        first_difference=control.first_difference,
    )
    return control.positions > 0 and control == alike


def _word(outcome: str, required: bool) -> str:
    """Say what a control that repeats its twin came to."""
    if outcome == "violated":
        return "shown"
    return "not_comparable" if (outcome, required) == ("holds", False) else NOT_SHOWN


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
    runs, tried = OUTCOMES[::-1], ("violated", "holds", "vacuous", "not_run", STRAYS)
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
    less = ("vacuous", "not_run", STRAYS)
    return {"violated": ("holds", *less), "holds": less}.get(outcome, ())


def _rank(seen: Sequence[str], required: str, other: str) -> int:
    controls = ((required, True), (other, False))
    words = [NOT_SHOWN if outcome == STRAYS else _word(outcome, must) for outcome, must in controls]
    return VERDICTS.index(fold(seen, words, VERDICTS[-1]))


def exemptions(resolved: Mapping[str, str]) -> list[dict[str, Any]]:
    """List the combinations of relations that do not apply in an environment [INV-12].

    Args:
        resolved: the environment's settings in force, by name.
    """
    return [
        {"relation": name, "block_size": size, "reason": relation.exempt_reason}
        for name, relation in declared().items()
        if not relation.applies(resolved)
        for size in relation.block_sizes
    ]


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
                "verdict": fold(own, controls, "HOLDS") if own else DOES_NOT_APPLY,
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
    exempt: int,
) -> dict[str, int]:
    """Give the counts [INV-11].

    Args:
        runs: the runs in order.
        found: the outcome of each combination.
        controls: what each control came to.
        rows: the coverage of each population, `all` last.
        exempt: how many combinations do not apply.
    """
    said = list(found.values())
    two, three = rows[-2:]
    equal = [
        run.counters.get(KERNELS, 0)
        for run in runs
        if (run.relation, run.outcome) == (KERNEL_EQUALITY, "holds")
    ]
    return {
        "relations": len({name for name, _ in found}),
        "demanded": len(found),
        **{name: said.count(name) for name in OUTCOMES[::-1]},
        "does_not_apply": exempt,
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
