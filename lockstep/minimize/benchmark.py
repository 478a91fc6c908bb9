"""This reduction beside others, on the same ten findings through the same predicate.

The ten are cases of the swarm under ten operators. All contestants are given the same units and
the same memo by digest, and for all alike only legal cases that no memo knew count as checks.
"""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from lockstep.errors import LockstepError
from lockstep.fuzz.case import Case, parse_case
from lockstep.minimize.dimensions import Removal, dimensions, removals, units
from lockstep.minimize.legality import Rules
from lockstep.minimize.memo import Memo
from lockstep.minimize.reduce import reduce
from lockstep.minimize.removals import without
from lockstep.minimize.shrink_ray import reduce_units
from lockstep.minimize.worker import Engine, Workers

CASES = Path(__file__).with_name("bench_cases.json")
HELD = ("pool_blocks", "block_size")
FREE = tuple(name for name in dimensions() if name not in HELD)
GOAL = 0.5
"""The most checks that this reduction may take, as a part of another's."""


@dataclass(frozen=True)
class Finding:
    """A case that fails under an operator."""

    mutation: str
    source: str
    case: Case


@dataclass(frozen=True)
class Effort:
    """What a reduction took.

    Attributes:
        checks: legal cases that were run.
        refused: cases that were illegal, and not run.
        seconds: of this process, waiting for workers included.
        left: units of the reduced case.
        removable: single removals of it that still show the failure; none where it is 1-minimal.
    """

    checks: int
    refused: int
    seconds: float
    left: int
    removable: int


Contestant = Callable[[Case, Memo, str], Case]
"""Reduces a case by testing; the text is the failure's pointer."""


def findings() -> tuple[Finding, ...]:
    """Give the ten findings, in their order."""
    return tuple(
        Finding(entry["mutation"], entry["source"], parse_case(entry["case"]))
        for entry in json.loads(CASES.read_bytes())
    )


def measure(finding: Finding, contestant: Contestant, jobs: int = 1) -> Effort:
    """Let a contestant reduce a finding, with workers and a memo of its own.

    Raises:
        LockstepError: FINDING_NOT_REPRODUCED, the case shows no failure; as `Workers`.
    """
    rules = Rules(finding.mutation)
    with Workers(Engine(finding.mutation), jobs) as workers:
        shown = workers.show(finding.case)
        if shown.failure is None or (wanted := shown.signature) is None:
            raise LockstepError("FINDING_NOT_REPRODUCED", finding.mutation, "a failure", "none")
        tested = Memo(rules.refusal, lambda cases: workers.test(cases, wanted), ahead=jobs)
        started = time.perf_counter()
        reduced = contestant(finding.case, tested, shown.failure["where"])
        seconds = time.perf_counter() - started
        checks, refused = tested.checks, tested.refused
        singles = [without(reduced, (removal,)) for removal in removals(reduced, FREE)]
        removable = sum(outcome.reproduces for _, outcome in tested.all(singles))
    return Effort(checks, refused, seconds, len(units(reduced, FREE)), removable)


def lockstep(case: Case, memo: Memo, where: str) -> Case:
    """Reduce as `lockstep minimize` does, the single removals included."""
    return reduce(case, memo, FREE, where).case


def picire(**settings: Any) -> Contestant:
    """Give picire's ddmin over all units in one list, under its settings.

    Raises:
        LockstepError: LIBRARY_MISSING.
    """
    library = _picire()

    def contestant(case: Case, memo: Memo, where: str) -> Case:
        every = units(case, FREE)
        built = partial(_of_units, case, every)

        def test(kept: Sequence[int], name: object) -> Any:
            smaller = built(kept)
            shows = smaller is not None and memo.outcome(smaller).reproduces
            return library.Outcome.FAIL if shows else library.Outcome.PASS

        reduced = built(library.DD(test, **settings)(list(range(len(every)))))
        if reduced is None:
            raise LockstepError("INTERNAL", "picire", "a case that reproduces", "none")
        return reduced

    return contestant


def picire_settings() -> dict[str, dict[str, Any]]:
    """Give the settings that picire is tried with, by a name that says what they are.

    Without subsets and with complements from behind is what its authors found to take fewest
    tests (R. Hodovan, A. Kiss, Practical Improvements to the Minimizing Delta Debugging, 2016).
    """
    library = _picire()
    iterators, splitters = library.config_iterators, library.config_splitters
    return {
        "defaults": {},
        "complements, backward": {
            "subset_iterator": iterators.skip,
            "complement_iterator": iterators.backward,
            "split": splitters.BalancedSplit(2),
        },
        "complements, forward": {
            "subset_iterator": iterators.skip,
            "complement_iterator": iterators.forward,
            "split": splitters.BalancedSplit(2),
        },
    }


def _picire() -> Any:
    """Import picire."""
    if find_spec("picire") is None:
        hint = "The extra 'dev' brings it: in a checkout, pip install '.[dev]'."
        raise LockstepError("LIBRARY_MISSING", "picire", "an installed library", "none", hint)
    with warnings.catch_warnings():
        # It looks its version up by a module that says of itself to be outdated.
        warnings.simplefilter("ignore")
        return import_module("picire")


def shrink_ray(case: Case, memo: Memo, where: str) -> Case:
    """Reduce by Shrink Ray, over all units in a file; errors as `reduce_units`."""
    every = units(case, FREE)
    return reduce_units(len(every), partial(_of_units, case, every), memo)


def _of_units(case: Case, every: Sequence[Removal], kept: Sequence[int]) -> Case | None:
    """Give the case of some of its units; None where nothing would be left of it."""
    gone = set(range(len(every))) - set(kept)
    try:
        return without(case, [every[number] for number in sorted(gone)])
    except ValueError:
        return None
