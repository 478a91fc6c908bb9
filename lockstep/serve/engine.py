"""The engine's thread: takes requests in between steps, and executes one step after the other.

All that decides what is computed when is a policy of `lockstep.schedule.policies`, asked action by
action as in any driven execution; this thread says only when a request arrives [SERVE-2].
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from pathlib import Path

from lockstep.engine.model import Model
from lockstep.errors import LockstepError
from lockstep.lifecycle import Pool
from lockstep.schedule.schedule import require_fit
from lockstep.schedule.workload import Workload, require_model
from lockstep.serve.figures import Figures
from lockstep.serve.policy import Driving
from lockstep.serve.served import ServedExecution, Updates
from lockstep.serve.ticket import Ticket, Update

Deliver = Callable[[Updates], None]
"""Takes a step's updates in the engine's thread, and hands them to whoever waits."""
Log = Callable[[str, str], None]
"""Takes an event's name and a text."""

REPORT = "A defect of the server: report it with its log."


class Engine:
    """A model that serves, in a thread of its own.

    Args:
        model: what computes.
        pool: the constants of each execution's pool.
        driving: how executions are driven.
        max_waiting: requests that may wait outside of the execution.
        deliver: takes updates.
        log: takes what is worth a line.
        record: the folder for executions, None to keep none.

    Attributes:
        figures: what is counted.
    """

    def __init__(
        self,
        model: Model,
        pool: Pool,
        driving: Driving,
        max_waiting: int,
        deliver: Deliver,
        log: Log,
        record: Path | None = None,
    ) -> None:
        self.model = model
        self.pool = pool
        self.driving = driving
        self.figures = Figures()
        self._max_waiting = max_waiting
        self._deliver = deliver
        self._log = log
        self._record = record
        self._changed = threading.Condition()
        self._waiting: deque[Ticket] = deque()
        self._resets: list[Future[int]] = []
        self._execution: ServedExecution | None = None
        self._stopping = False
        self._thread = threading.Thread(target=self._serve, name="lockstep engine", daemon=True)

    @property
    def alive(self) -> bool:
        """Whether requests are executed."""
        return self._thread.is_alive() and not self._stopping

    def start(self) -> None:
        """Begin to serve."""
        self._thread.start()

    def stop(self) -> None:
        """End after the step at hand; requests that are not finished fail with SERVER_STOPPING."""
        with self._changed:
            self._stopping = True
            self._changed.notify()
        self._thread.join()

    def check(self, ticket: Ticket) -> None:
        """Refuse a request that could never be served.

        Raises:
            LockstepError: TOKEN_OUT_OF_RANGE, SEQUENCE_TOO_LONG or REQUEST_NEVER_FITS.
        """
        alone, config = Workload((ticket.request,)), self.model.config
        try:
            require_model(alone, config.vocab_size, config.max_position_embeddings)
            require_fit(alone, self.pool)
        except LockstepError as fault:
            raise LockstepError(fault.code, "/prompt", fault.expected, fault.got) from None

    def submit(self, tickets: Sequence[Ticket]) -> None:
        """Let requests wait for their turn, all of them or none.

        Raises:
            LockstepError: QUEUE_FULL, SERVER_STOPPING.
        """
        with self._changed:
            if not self.alive:
                raise LockstepError("SERVER_STOPPING", "", "an engine that runs")
            if len(self._waiting) + len(tickets) > self._max_waiting:
                expected = f"at most {self._max_waiting} requests that wait"
                raise LockstepError("QUEUE_FULL", "", expected, len(self._waiting))
            self._waiting.extend(tickets)
            self.figures.waiting += len(tickets)
            self._changed.notify()

    def drop(self, ticket: Ticket) -> None:
        """Forget a request: at once while it waits, else when it ends unheard [SERVE-5]."""
        with self._changed:
            if ticket.dropped:
                return
            ticket.dropped = True
            if ticket in self._waiting:
                self._waiting.remove(ticket)
                self.figures.outcomes["dropped"] += 1

    def reset(self) -> Future[int]:
        """Let a new execution begin, whose cache is empty, once the running requests have ended.

        Returns:
            The number of executions begun before.
        """
        done: Future[int] = Future()
        with self._changed:
            if not self.alive:
                raise LockstepError("SERVER_STOPPING", "", "an engine that runs")
            self._resets.append(done)
            self._changed.notify()
        return done

    def _serve(self) -> None:
        try:
            while self._await_work():
                self._turn()
                self._admit()
                self._step()
        except Exception as fault:
            # Nothing above this thread could tell it; requests learn of it as of a stop.
            self._log("engine_ended", f"{type(fault).__name__}: {fault}")
        finally:
            self._end()

    def _await_work(self) -> bool:
        """Wait until there is something to do; False when the server is to end."""
        with self._changed:
            self._changed.wait_for(
                lambda: (
                    self._stopping
                    or bool(self._waiting)
                    or bool(self._resets)
                    or (self._execution is not None and not self._execution.idle)
                )
            )
            return not self._stopping

    def _turn(self) -> None:
        """End an execution that is idle and is to make room for a new one."""
        execution = self._execution
        if execution is None or execution.idle:
            if execution is not None and (self._resets or execution.long):
                self._keep(execution, broken=False)
                self._execution = None
                self.figures.blocks_cached = 0
            with self._changed:
                resets, self._resets = self._resets, []
            for done in resets:
                # Whoever asked may have gone.
                if done.set_running_or_notify_cancel():
                    done.set_result(self.figures.executions)

    def _admit(self) -> None:
        """Let the requests arrive for which there is room."""
        execution = self._execution
        room = self.driving.max_batch if execution is None else execution.room
        while room > 0:
            with self._changed:
                full = self._execution is not None and self._execution.full
                if not self._waiting or self._resets or full:
                    return
                ticket = self._waiting.popleft()
            try:
                self._arrive(ticket)
                room -= 1
            except LockstepError as fault:
                self.figures.outcomes["failed"] += 1
                self._deliver([(ticket, Update(fault=fault))])

    def _arrive(self, ticket: Ticket) -> None:
        if self._execution is not None:
            self._execution.arrive(ticket)
            return
        number = self.figures.executions + 1
        recorded = self._record is not None
        self._execution = ServedExecution(
            number, self.model, self.pool, self.driving, ticket, self.figures, recorded
        )
        self.figures.executions = number

    def _step(self) -> None:
        execution = self._execution
        if execution is None or execution.idle:
            self._count_waiting()
            return
        try:
            updates = execution.step()
        except Exception as fault:
            self._fail(execution, fault)
        else:
            self._deliver(updates)
        self._count_waiting()

    def _fail(self, execution: ServedExecution, fault: Exception) -> None:
        """Give an execution up that a fault has broken; the next request begins a new one."""
        if not isinstance(fault, LockstepError):
            where, told = f"execution {execution.number}", f"{type(fault).__name__}: {fault}"
            fault = LockstepError("INTERNAL", where, "a step that ends", told, REPORT)
        self._log("execution_failed", f"execution {execution.number}: {fault}")
        tickets = list(execution.live.values())
        self.figures.failures += 1
        self.figures.outcomes["failed"] += len(tickets)
        self.figures.running = self.figures.blocks_used = self.figures.blocks_cached = 0
        self._execution = None
        self._deliver([(ticket, Update(fault=fault)) for ticket in tickets if not ticket.dropped])
        self._keep(execution, broken=True)

    def _count_waiting(self) -> None:
        execution = self._execution
        inside = 0 if execution is None else execution.waiting
        with self._changed:
            self.figures.waiting = len(self._waiting) + inside

    def _keep(self, execution: ServedExecution, broken: bool) -> None:
        if self._record is not None:
            folder = self._record / f"execution-{execution.number:06d}"
            execution.write(folder, broken)
            self._log("execution_recorded", str(folder))

    def _end(self) -> None:
        """Keep what was executed, and let nobody wait."""
        with self._changed:
            self._stopping = True
            left, self._waiting = list(self._waiting), deque()
            resets, self._resets = self._resets, []
        if self._execution is not None:
            left += self._execution.live.values()
        fault = LockstepError("SERVER_STOPPING", "", "an engine that runs")
        for done in resets:
            if done.set_running_or_notify_cancel():
                done.set_exception(fault)
        self._deliver([(ticket, Update(fault=fault)) for ticket in left if not ticket.dropped])
        if self._execution is not None:
            try:
                self._keep(self._execution, broken=False)
            except Exception as lost:
                self._log("execution_lost", f"{type(lost).__name__}: {lost}")
