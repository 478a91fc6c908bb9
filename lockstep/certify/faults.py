"""The certifier against the built-in server under each fault of the mutation list, and none.

A server with a fault is driven hard, so that it preempts, evicts and queues: a small pool, chunks
of odd sizes, preemptions at powers of two. A fault that is declared invisible, and the engine as
it is, are asked the whole plan of a server with room.
"""

from __future__ import annotations

import json
import shlex
import shutil
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lockstep import spec
from lockstep.certify.cells import POSITIVE, PlannedCell
from lockstep.certify.config import Command, Config
from lockstep.certify.requests import FILE
from lockstep.certify.results import Records
from lockstep.certify.run import observe
from lockstep.certify.watch import EnoughSeen
from lockstep.mutation.operators import operators

if TYPE_CHECKING:
    from lockstep.certify.adapters.adapter import Adapter
    from lockstep.certify.observation import Round, Seen
    from lockstep.certify.probe import Found

SECONDS = 300
"""Within which a visible fault must be caught."""
ROOMY = ""
TIGHT = " --policy adversarial --pool-blocks 80 --max-batch 24"
"""80 blocks of 16 hold the longest request of the plan, and not many at once."""
WIDE = 24
"""Cases of a greater width do not become batches of that width in a tight server."""
OTHER_BACKEND = ("triton_kernels",)
"""Subsystems that the server on the host backend does not run."""
CAUGHT = ("divergent", "first_run_only", "malformed", "hang", "error", "not_cached")
"""Verdicts of cells by which a fault is caught; `not_batched` or `missing` tells of none."""


@dataclass(frozen=True)
class Trial:
    """A server to certify.

    Attributes:
        name: of the trial, and of its files.
        fault: an operator; None for the engine as it is.
        expected: `clean`, or `caught`.
        server: `tight` or `roomy`.
        lifetimes: to sample.
        reason: why it is expected.
    """

    name: str
    fault: str | None
    expected: str
    server: str
    lifetimes: int = 1
    reason: str = ""

    @property
    def config(self) -> Config:
        """What the certifier is asked."""
        command = served(TIGHT if self.server == "tight" else ROOMY)
        if self.fault is not None:
            command += f" --fault {self.fault}"
        plan: dict[str, Any] = {"lifetimes": self.lifetimes}
        if self.server == "tight" and self.expected == "clean":
            plan["cases"] = tuple(
                one["name"] for one in spec.load(FILE)["cases"] if one["width"] <= WIDE
            )
        budget = SECONDS if self.expected == "caught" else None
        return Config(adapter="lockstep", launch=Command(command), plan=plan, budget=budget)


def served(options: str) -> str:
    """Give the command of a built-in server: of this environment, whatever the path has."""
    program = shutil.which("lockstep", path=Path(sys.executable).parent) or "lockstep"
    return f"{shlex.quote(program)} serve --tiny --port {{port}}{options}"


def trials(lifetimes: int) -> Iterator[Trial]:
    """Give all trials: the engine as it is, then each operator that the server runs, in order.

    Args:
        lifetimes: of the server without a fault and with room.
    """
    yield Trial("none", None, "clean", "roomy", lifetimes, "No fault.")
    yield Trial("none-tight", None, "clean", "tight", 2, "No fault.")
    for operator in operators().values():
        if operator.subsystem in OTHER_BACKEND:
            continue
        visible = operator.black_box == "visible"
        yield Trial(
            operator.id,
            operator.id,
            "caught" if visible else "clean",
            "tight" if visible else "roomy",
            reason=operator.reason,
        )


class FirstDifference:
    """Watches a run, and has seen enough with the first failure or difference."""

    def __init__(self) -> None:
        self._cells: Sequence[PlannedCell] = ()
        self._plan: Mapping[str, Any] = {}
        self._seen: dict[str, int] = {}

    def say(self, text: str) -> None:
        """Pass over a line for people."""

    def planned(
        self, adapter: Adapter, plan: dict[str, Any], cells: Sequence[PlannedCell], found: Found
    ) -> None:
        """Take the plan."""
        self._cells = cells

    def made(self, cell: int, one: Round) -> None:
        """Take a round.

        Raises:
            EnoughSeen: a request failed, or got another answer than one that is alike.
        """
        planned = self._cells[cell]
        if planned.control in POSITIVE:
            return
        if one.failures:
            raise EnoughSeen
        for request, output in zip(planned.present(one.number), one.outputs, strict=True):
            sent = request.fields(one.number)
            is_drawn = request.seed is not None and sent["seed"] is None
            if request.role == "cancelled" or is_drawn or output is None:
                continue
            told = {**request.document(), **sent, "wave": None, "varying": None}
            alike = json.dumps([planned.case, told], sort_keys=True)
            if self._seen.setdefault(alike, output) != output:
                raise EnoughSeen


@dataclass
class Quiet(FirstDifference):
    """Watches a run to its end."""

    rounds: int = field(default=0)

    def made(self, cell: int, one: Round) -> None:
        """Count a round."""
        self.rounds += 1


async def run_trial(trial: Trial) -> tuple[Seen, float]:
    """Certify a trial's server; gives what was seen, and the seconds that it took.

    Raises:
        LockstepError: as `observe`.
    """
    began = time.monotonic()
    watch = FirstDifference() if trial.expected == "caught" else Quiet()
    seen = await observe(trial.config, Records(None, ""), watch)
    return seen, time.monotonic() - began


def row(trial: Trial, predicate: Mapping[str, Any], seconds: float) -> dict[str, Any]:
    """Give what a trial showed, by the predicate of its certificate."""
    cells = [one for one in predicate["cells"] if one["control"] not in POSITIVE]
    found = next((one for one in cells if one["verdict"] in CAUGHT), None)
    verdict = predicate["verdict"]
    caught = found is not None and verdict != "CLEAN"
    good = verdict == "CLEAN" if trial.expected == "clean" else caught and seconds <= SECONDS
    kept = ("case", "control", "cache", "filler", "order", "verdict", "kinds")
    return {
        "name": trial.name,
        "fault": trial.fault,
        "expected": trial.expected,
        "server": trial.server,
        "lifetimes": trial.lifetimes,
        "reason": trial.reason,
        "verdict": verdict,
        "as_expected": good,
        "shown_by": None if found is None else {name: found[name] for name in kept},
        "rounds": predicate["counts"]["rounds"],
        "milliseconds": round(seconds * 1000),
    }
