"""An execution: a pure function of model, workload and schedule [ENG-1] [SCHED-12].

The schedule comes in as data, or from a policy that is asked action by action; then what it said
is recorded, and the record, executed, gives the same run.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from lockstep.engine.batch import pack
from lockstep.engine.counters import Counters
from lockstep.engine.events import Event, Work
from lockstep.engine.ledger import Ledger
from lockstep.engine.model import LayerCache, Model
from lockstep.engine.run import Output, Run
from lockstep.engine.sampler import Drawing, sample
from lockstep.engine.trajectory import Recorder
from lockstep.engine.view import LedgerView
from lockstep.errors import LockstepError
from lockstep.lifecycle import Machine, Pool
from lockstep.schedule.schedule import Action, Schedule, require_fit, require_requests
from lockstep.schedule.workload import Request, Workload, require_model

Float32 = NDArray[np.float32]


@dataclass(frozen=True)
class StepView:
    """What an observer sees of a step that has ended.

    Attributes:
        step: its number.
        events: what took effect in it, in order.
        work: its chunks and decodes, in packing order.
        logits: [R, vocabulary], a row for each decode.
        tokens: what the decodes emitted.
        execution: whose step it was, for its caches and its ledger.
    """

    step: int
    events: tuple[Event, ...]
    work: tuple[Work, ...]
    logits: Float32
    tokens: tuple[int, ...]
    execution: "Execution"


class Observer(Protocol):
    """Watches an execution and changes nothing [ENG-21]."""

    def after_step(self, view: StepView) -> None:
        """See a step after its end."""
        ...


class Execution:
    """A model, a pool and a workload, taken step by step.

    Args:
        model: what computes.
        workload: all requests; each is submitted at the step of its arrival.
        pool: the pool's constants.
        observer: sees each step after its end.
        machine: the lifecycle's rules; weakened ones for a foil.

    Attributes:
        model: as given.
        workload: as given.
        ledger: requests, blocks and prefix index.
        view: what a policy is shown.
        caches: keys and values, layer by layer.

    Raises:
        LockstepError: REQUEST_NEVER_FITS, TOKEN_OUT_OF_RANGE or SEQUENCE_TOO_LONG for a request
            that cannot be served, before anything is computed; MEMORY_SHORT, as
            `Model.new_caches`.
    """

    def __init__(
        self,
        model: Model,
        workload: Workload,
        pool: Pool,
        observer: Observer | None = None,
        machine: Machine | None = None,
    ) -> None:
        config = model.config
        require_model(workload, config.vocab_size, config.max_position_embeddings)
        require_fit(workload, pool)
        self.model = model
        self.workload = workload
        self.ledger = Ledger(pool, model.digest, frozenset(config.eos_token_ids), machine)
        self.view = LedgerView(self.ledger, workload)
        self.caches: list[LayerCache] = model.new_caches(pool.blocks, pool.block_size)
        self._observer = observer
        self._recorder = Recorder(pool)
        self._counters = Counters()
        self._events: list[Event] = []
        self._step_begins = 0
        self._digests: list[list[str]] = []
        self._submit()

    @property
    def unfinished(self) -> tuple[str, ...]:
        """The ids of requests that are not finished, those still to arrive among them."""
        return self.view.unfinished

    def act(self, action: Action) -> Event:
        """Apply the next action of the open step; errors as `Ledger.apply`."""
        place = len(self._events) - self._step_begins
        event = self.ledger.apply(action, f"/steps/{self.ledger.step}/{place}")
        self._events.append(event)
        self._counters.event(event)
        return event

    def end_step(self) -> None:
        """Run the step's rows as one batch, sample, publish, record; then open the next step."""
        ledger, work = self.ledger, self.ledger.work
        ledger.assert_exclusive()
        logits = self._forward(work)
        drawings = self._drawings(work)
        names = [ledger.request(item.number).id for item in work if item.emits]
        tokens = sample(self.model.backend, logits, drawings, names)
        step = ledger.step
        ledger.complete(tokens)
        self._recorder.record(ledger, work, logits, tokens)
        self._count(work, drawings, logits)
        if self._observer is not None:
            events = tuple(self._events[self._step_begins :])
            view = StepView(step, events, work, logits, tuple(tokens), self)
            self._observer.after_step(view)
        self._step_begins = len(self._events)
        self._submit()

    def keys_values(self, number: int) -> tuple[list[NDArray[np.generic]], ...]:
        """Give what an active request has computed, gathered by position.

        Returns:
            Keys and values, each a list over layers of [computed, kv_heads, head_dim].
        """
        request, numpy = self.ledger.state.requests[number], self.model.backend.numpy
        table = list(request.table)
        keys: list[NDArray[np.generic]] = []
        values: list[NDArray[np.generic]] = []
        for cache in self.caches:
            for gathered, whole in ((keys, cache.keys), (values, cache.values)):
                blocks = numpy(whole)[table]
                gathered.append(blocks.reshape(-1, *blocks.shape[2:])[: request.computed])
        return keys, values

    def run(self) -> Run:
        """Give what has come of the execution so far."""
        outputs = {request.id: self._output(request) for request in self.workload.requests}
        totals = self._counters.totals()
        return Run(outputs, self._recorder.trajectory(), totals, tuple(self._events))

    def _submit(self) -> None:
        """Submit the requests that arrive with the step that opens [SCHED-8]."""
        for request in self.view.arriving:
            if request.arrival == self.ledger.step:
                self.ledger.submit(request)
                self._digests.append([])

    def _forward(self, work: Sequence[Work]) -> Float32:
        if not work:
            return np.zeros((0, self.model.config.vocab_size), dtype=np.float32)
        batch = pack(work, self.ledger.pool.size)
        logits: Float32 = self.model.backend.numpy(self.model.forward(batch, self.caches))
        return logits

    def _drawings(self, work: Sequence[Work]) -> list[Drawing]:
        return [
            Drawing(*request.stream, self._outputs(item), request.sampling)
            for item in work
            if item.emits
            for request in [self.ledger.request(item.number)]
        ]

    def _outputs(self, item: Work) -> int:
        """Give how many tokens a decode's request has emitted before it."""
        return item.first + len(item.tokens) - len(self.ledger.request(item.number).prompt)

    def _count(self, work: Sequence[Work], drawings: Sequence[Drawing], logits: Float32) -> None:
        self._counters.batch(work, sum(not drawing.sampling.greedy for drawing in drawings))
        emitting = [item.number for item in work if item.emits]
        for number, row in zip(emitting, logits, strict=True):
            self._digests[number].append(hashlib.sha256(row.astype("<f4").tobytes()).hexdigest())
            if self.ledger.stopped(number):
                self._counters.stopped()

    def _output(self, request: Request) -> Output:
        number = self.ledger.number(request.id)
        if number is None:
            return Output((), (), "unfinished")
        tokens = self.ledger.tokens(number)[len(request.prompt) :]
        finished = self.ledger.state.requests[number].state == "FINISHED"
        ending = "eos" if self.ledger.stopped(number) else "length"
        return Output(tokens, tuple(self._digests[number]), ending if finished else "unfinished")


def execute(
    model: Model,
    workload: Workload,
    schedule: Schedule,
    observer: Observer | None = None,
    machine: Machine | None = None,
    partial: bool = False,
) -> Run:
    """Run a workload under a schedule.

    Args:
        model: what computes.
        workload: all requests.
        schedule: what happens in each step.
        observer: sees each step after its end.
        machine: the lifecycle's rules; weakened ones for a foil.
        partial: whether the schedule may leave requests unfinished; they say so in their outputs.

    Raises:
        LockstepError: a request that cannot be served, as `Execution`; REQUEST_UNKNOWN or
            NOT_ARRIVED; an action that is not legal where it stands, as `Ledger.apply`, named as
            `/steps/STEP/ACTION`; SCHEDULE_UNFINISHED.
    """
    execution = Execution(model, workload, schedule.pool, observer, machine)
    require_requests(schedule, workload)
    for actions in schedule.steps:
        for action in actions:
            execution.act(action)
        execution.end_step()
    run = execution.run()
    if run.unfinished and not partial:
        named = ", ".join(run.unfinished)
        raise LockstepError("SCHEDULE_UNFINISHED", "/steps", "every request finished", named)
    return run
