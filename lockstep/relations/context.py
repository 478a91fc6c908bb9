"""What a relation works with: executions that are counted, and comparisons that are noted."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from lockstep.engine.drive import drive
from lockstep.engine.execute import Observer, execute
from lockstep.engine.model import Model
from lockstep.engine.run import Output, Run
from lockstep.errors import LockstepError
from lockstep.lifecycle import Pool
from lockstep.relations import mechanisms
from lockstep.relations.observation import Difference
from lockstep.schedule.draws import Draws
from lockstep.schedule.policies import CANONICAL, Batching
from lockstep.schedule.policy import Policy
from lockstep.schedule.schedule import Schedule
from lockstep.schedule.workload import Request, Workload

LACKS = (
    "LIBRARY_MISSING",
    "DEVICE_MISSING",
    "MEMORY_SHORT",
    "SEQUENCE_TOO_LONG",
    "TOKEN_OUT_OF_RANGE",
)
"""Refusals that say that this run cannot be made with this model or on this machine."""

SHOWN = 96
"""Characters of a value in a difference."""


class Violated(Exception):
    """Ends a run early; its difference is noted already."""


class NotRun(Exception):
    """Ends a run that cannot be made here; says why."""


@dataclass
class Notes:
    """What a run has noted so far; the members are those of `observation.Observation`."""

    workloads: set[str]
    schedules: set[str]
    counters: Counter[str]
    n_grams: Counter[tuple[str, ...]]
    executions: int = 0
    requests: int = 0
    positions: int = 0
    differences: int = 0
    first_difference: Difference | None = None


class Context:
    """A model, a block size and a seed, and what a run notes of them.

    Args:
        model: what computes.
        folder: where the model was read from, for other processes.
        block_size: of all pools.
        seed: of all draws.
        stop: whether the first difference ends the run.

    Attributes:
        notes: what was executed and compared.
        draws: what the relation may draw from.
    """

    def __init__(
        self, model: Model, folder: Path, block_size: int, seed: int, stop: bool = False
    ) -> None:
        self.model = model
        self.folder = folder
        self.block_size = block_size
        self.seed = seed
        self.draws = Draws(seed)
        self._stop = stop
        self.notes = Notes(set(), set(), Counter(), Counter())
        self._references: dict[tuple[Request, int, tuple[int, ...]], Output] = {}

    @property
    def counters(self) -> Counter[str]:
        """The counters so far; a relation adds its own."""
        return self.notes.counters

    def pool(self, requests: Iterable[Request], spare: int = 0, size: int = 0) -> Pool:
        """Give a pool for all requests at once, and spare blocks beside."""
        size = size or self.block_size
        return Pool(sum(need(request, size) for request in requests) + spare, size)

    def tight_pool(self, requests: Iterable[Request], spare: int = 0) -> Pool:
        """Give a pool for the largest of the requests, and spare blocks beside."""
        return Pool(
            max(need(request, self.block_size) for request in requests) + spare, self.block_size
        )

    def reference(
        self, request: Request, block_size: int = 0, model: Model | None = None
    ) -> Output:
        """Give C(r) [REL-2], at the run's block size or another, of the model or another."""
        size, model = block_size or self.block_size, model or self.model
        alone = replace(request, arrival=0)
        key = (alone, size, model.config.eos_token_ids)
        if key not in self._references:
            pool = self.pool((alone,), size=size)
            with self._refusals(f"reference of {request.id}"):
                _, run = drive(model, Workload((alone,)), pool, Batching(CANONICAL))
            self._references[key] = run.outputs[request.id]
        return self._references[key]

    def drive(
        self,
        execution: str,
        workload: Workload,
        pool: Pool,
        policy: Policy,
        observer: Observer | None = None,
        model: Model | None = None,
    ) -> tuple[Schedule, Run]:
        """Run a workload under a policy, and count it.

        Args:
            execution: its name in a difference.
            workload: all requests.
            pool: the pool's constants.
            policy: a fresh one.
            observer: sees each step after its end.
            model: instead of the run's own.

        Raises:
            Violated: the engine refused, although a policy asks for what is legal alone.
        """
        with self._refusals(execution):
            schedule, run = drive(model or self.model, workload, pool, policy, observer)
        self.count(workload, schedule, run)
        return schedule, run

    def execute(
        self,
        execution: str,
        workload: Workload,
        schedule: Schedule,
        model: Model | None = None,
    ) -> Run:
        """Run a recorded schedule, and count it; raises `Violated` as `drive`."""
        with self._refusals(execution):
            run = execute(model or self.model, workload, schedule)
        self.count(workload, schedule, run)
        return run

    def count(self, workload: Workload, schedule: Schedule, run: Run) -> None:
        """Note an execution: its digests, counters and n-grams."""
        notes = self.notes
        notes.workloads.add(workload.sha256)
        notes.schedules.add(schedule.sha256)
        notes.executions += 1
        mechanisms.add(notes.counters, run.counters)
        for n in (2, 3):
            notes.n_grams.update(run.n_grams(n))

    def compare_with_references(
        self, execution: str, workload: Workload, run: Run, block_size: int = 0
    ) -> None:
        """Compare each request's output with its reference."""
        for request in workload.requests:
            expected = self.reference(request, block_size)
            self.compare_outputs(execution, request, expected, run.outputs[request.id])

    def compare_outputs(
        self, execution: str, request: Request, expected: Output, got: Output
    ) -> None:
        """Compare two outputs of a request, place by place, and then their ends [REL-6]."""
        self.notes.requests += 1
        sides = zip(
            expected.tokens, expected.logit_digests, got.tokens, got.logit_digests, strict=False
        )
        for place, (token, digest, other_token, other_digest) in enumerate(sides):
            position = len(request.prompt) + place
            # Logits come first: a token that differs is what follows from them.
            if digest != other_digest:
                self.compare(execution, request.id, position, "logits", digest, other_digest)
            else:
                self.compare(execution, request.id, position, "tokens", token, other_token)
        left_end, right_end = ((side.reason, len(side.tokens)) for side in (expected, got))
        self.compare(execution, request.id, None, "ending", left_end, right_end)

    def compare(
        self,
        execution: str,
        request: str,
        position: int | None,
        part: str,
        expected: object,
        got: object,
        layer: int | None = None,
    ) -> None:
        """Note a comparison, and where it fails, the first difference.

        Args:
            execution: which execution, in words.
            request: the request's id; empty where it is about a whole execution.
            position: a token's place in its sequence, or a step.
            part: what is compared.
            expected: the reference's side.
            got: the other side; equal to `expected` exactly where nothing differs.
            layer: the layer, for keys and values.

        Raises:
            Violated: they differ, and the run is to stop there.
        """
        notes = self.notes
        notes.positions += 1
        if expected == got:
            return
        notes.differences += 1
        if notes.first_difference is None:
            notes.first_difference = Difference(
                execution, request, position, layer, part, shown(expected), shown(got)
            )
        if self._stop:
            raise Violated

    def with_stop_tokens(self, tokens: Iterable[int]) -> Model:
        """Give the run's model with other tokens as ends of sequence, its weights shared."""
        model = copy.copy(self.model)
        model.config = replace(model.config, eos_token_ids=tuple(sorted(set(tokens))))
        return model

    def _refusals(self, execution: str) -> _Refusals:
        return _Refusals(self, execution)


class _Refusals:
    """Turns what the engine refuses, or stumbles over, into a difference [REL-6].

    What the model or the machine lacks makes it no run instead.
    """

    def __init__(self, context: Context, execution: str) -> None:
        self._context = context
        self._execution = execution

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, fault: BaseException | None, trace: object) -> None:
        if not isinstance(fault, Exception) or isinstance(fault, MemoryError):
            return
        if isinstance(fault, LockstepError):
            if fault.code in LACKS:
                raise NotRun(str(fault)) from fault
            part, got = "refusal", str(fault)
        else:
            part, got = "fault", f"{type(fault).__name__}: {fault}"
        self._context.compare(self._execution, "", None, part, "a run", got)
        raise Violated from fault


def need(request: Request, block_size: int) -> int:
    """Give the blocks of a request's reservation [LIFE-6]."""
    return -(-(len(request.prompt) + request.max_new) // block_size)


def shown(value: object) -> str:
    """Give a value, shortened, as a difference shows it."""
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 3]}..."
