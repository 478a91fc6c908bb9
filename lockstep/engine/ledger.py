"""Requests, blocks and prefix index together: each action is asserted here, and then takes effect.

The lifecycle's machine says what is legal and what follows [LIFE-10] to [LIFE-17]; the pool and
the index say which blocks. Both are kept, by different code, and must agree after every step
[ENG-3]. Nothing here computes a model: whoever has tokens, real or made up, can drive a ledger.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from lockstep.engine.blocks import BlockPool
from lockstep.engine.events import Event, Work
from lockstep.engine.prefix_cache import Chain, PrefixIndex, root
from lockstep.errors import LockstepError
from lockstep.lifecycle import Machine, Pool, State, Step, claims
from lockstep.lifecycle import Request as Lifecycle
from lockstep.lifecycle.guards import taken
from lockstep.lifecycle.state import empty
from lockstep.schedule.schedule import Action
from lockstep.schedule.workload import Request


@dataclass
class _Sequence:
    request: Request
    tokens: list[int]
    chain: Chain
    stopped: bool = False


@dataclass
class _OpenStep:
    """What the actions of a step leave to its end."""

    work: list[Work] = field(default_factory=list)
    published: list[tuple[int, bytes]] = field(default_factory=list)

    def computes(self, number: int) -> bool:
        return any(work.number == number for work in self.work)

    def publishes(self, digest: bytes) -> bool:
        return any(digest == other for _, other in self.published)


class Ledger:
    """All that an execution keeps apart from keys, values and logits.

    Args:
        pool: the pool's constants.
        model: digest of the model, which prefix hashes begin with.
        eos: tokens that end a sequence.
        machine: the rules; weakened ones for a foil.

    Attributes:
        state: the machine's state, after the actions so far.
        step: number of the open step.
        pool: the physical blocks.
        index: the prefix index.
    """

    def __init__(
        self, pool: Pool, model: bytes, eos: frozenset[int], machine: Machine | None = None
    ) -> None:
        self.machine = Machine() if machine is None else machine
        self.state: State = empty(pool)
        self.step = 0
        self.pool = BlockPool(pool)
        self.index = PrefixIndex()
        self._model = model
        self._eos = eos
        self._sequences: list[_Sequence] = []
        self._numbers: dict[str, int] = {}
        self._open = _OpenStep()

    @property
    def work(self) -> tuple[Work, ...]:
        """The chunks and decodes of the open step, in the order of its actions."""
        return tuple(self._open.work)

    def submit(self, request: Request) -> int:
        """Queue a request and give its number.

        Raises:
            LockstepError: BAD_VALUE and REQUEST_NEVER_FITS, as the machine's submit.
        """
        try:
            self.state = self.machine.submit(self.state, len(request.prompt), request.max_new)
        except LockstepError as fault:
            where = f"request {request.id}"
            raise LockstepError(fault.code, where, fault.expected, fault.got) from None
        size = self.state.pool.block_size
        chain = Chain(root(self._model, size, request.salt), size)
        self._numbers[request.id] = len(self._sequences)
        self._sequences.append(_Sequence(request, list(request.prompt), chain))
        return self._numbers[request.id]

    def number(self, name: str) -> int | None:
        """Give the number of a submitted request, None for another."""
        return self._numbers.get(name)

    def request(self, number: int) -> Request:
        """Give the request of a number."""
        return self._sequences[number].request

    def tokens(self, number: int) -> tuple[int, ...]:
        """Give a request's known tokens, those that this step is to emit not among them."""
        return tuple(self._sequences[number].tokens)

    def ended(self, number: int) -> bool:
        """Whether a request emitted a token that ends it, or as many as it may."""
        request = self.state.requests[number]
        return self._sequences[number].stopped or request.outputs >= request.max_new

    def stopped(self, number: int) -> bool:
        """Whether a request emitted a token that ends it."""
        return self._sequences[number].stopped

    def computes(self, number: int) -> bool:
        """Whether a chunk or decode of the request is among the actions of the open step."""
        return self._open.computes(number)

    def prefix(self, number: int) -> tuple[int, ...]:
        """Give the blocks that a cache_hit would grant at most [ENG-9]."""
        sequence = self._sequences[number]
        places = range((len(sequence.tokens) - 1) // self.pool.size)
        return self.index.longest_run(sequence.chain.of(sequence.tokens, p) for p in places)

    def apply(self, action: Action, pointer: str = "") -> Event:
        """Assert an action and let it take effect; rows and publications wait for the step's end.

        Raises:
            LockstepError: REQUEST_UNKNOWN, STEP_ORDER, REQUEST_ENDED, REQUEST_NOT_ENDED,
                PREFIX_NOT_HELD or EVENT_NOT_ALLOWED, at `pointer`; nothing has changed then.
        """
        number = self._numbers.get(action.request)
        if number is None:
            expected = "a request that was submitted"
            raise LockstepError("REQUEST_UNKNOWN", f"{pointer}/request", expected, action.request)
        told = f"{action.event} of {action.request}"
        self._assert_order(number, action.event, f"{told}: ", pointer)
        step = self._step(number, action, told, pointer)
        before = self.state.requests[number]
        try:
            state = self.machine.step(self.state, step)
        except LockstepError as fault:
            expected = f"{told}: {fault.expected}"
            raise LockstepError(fault.code, pointer, expected, fault.got) from None
        self.state = state
        self._move(step, before)
        return Event(
            self.step, action.request, step.event, step.tokens, step.blocks, step.published
        )

    def assert_exclusive(self) -> None:
        """Refuse the batch where a block that it writes is not its request's alone [ENG-6]."""
        size = self.pool.size
        for work in self._open.work:
            for place, (block, offset) in enumerate(work.slots(size)):
                # The pool wants slots in order; within the batch, a block's first stands for all.
                if place == 0 or offset == 0:
                    self.pool.assert_exclusive(block, offset)

    def complete(self, emitted: Sequence[int]) -> None:
        """End the step: its rows are written, its decodes emitted these tokens, in order.

        Raises:
            LockstepError: LEDGER_MISMATCH, BLOCK_NOT_EXCLUSIVE or BLOCK_NOT_WRITTEN where ledger
                and machine do not agree, which no action can bring about.
        """
        for work in self._open.work:
            for block, offset in work.slots(self.pool.size):
                self.pool.wrote(block, offset)
        emitting = [work.number for work in self._open.work if work.emits]
        for number, token in zip(emitting, emitted, strict=True):
            sequence = self._sequences[number]
            sequence.tokens.append(token)
            sequence.stopped = token in self._eos and not sequence.request.ignore_eos
        for block, digest in self._open.published:
            self.pool.publish(block)
            self.index.offer(block, digest)
        self._open = _OpenStep()
        self.check()
        self.step += 1

    def check(self) -> None:
        """Hold pool, index and tokens against the machine's state, and it against [LIFE-18].

        Raises:
            LockstepError: LEDGER_MISMATCH, naming what differs.
        """
        state, pool = self.state, self.pool
        entries = tuple(block for block, _ in self.index.entries())
        known = tuple(request.known for request in state.requests)
        for what, machine, ledger in (
            ("references", state.references, tuple(pool.references)),
            ("cached", state.cached, tuple(pool.cached)),
            ("free", state.free, pool.free),
            ("evictable", state.evictable, tuple(sorted(pool.evictable))),
            ("index", tuple(b for b, cached in enumerate(state.cached) if cached), entries),
            ("tokens", known, tuple(len(s.tokens) for s in self._sequences)),
            ("invariant", (), claims.broken(state)),
        ):
            if machine != ledger:
                raise LockstepError("LEDGER_MISMATCH", f"step {self.step}: {what}", machine, ledger)

    def _assert_order(self, number: int, event: str, told: str, pointer: str) -> None:
        """Refuse what the lifecycle leaves to the schedule [SCHED-13] [SCHED-15]."""
        if self._open.computes(number):
            expected = f"{told}no action of a request after its chunk or decode in one step"
            raise LockstepError("STEP_ORDER", pointer, expected)
        request, ended = self.state.requests[number], self.ended(number)
        if ended and request.active and event != "finish":
            last = self._sequences[number].tokens[-1]
            cause = f"token {last}, an end of sequence" if self.stopped(number) else "max_new"
            raise LockstepError("REQUEST_ENDED", pointer, f"{told}finish after {cause}", event)
        if event == "finish" and request.state == "DECODING" and not ended:
            expected = f"{told}an end of sequence, or {request.max_new} outputs"
            raise LockstepError("REQUEST_NOT_ENDED", pointer, expected, request.outputs)

    def _step(self, number: int, action: Action, told: str, pointer: str) -> Step:
        """Choose what an action leaves open; whether the outcome is legal, the machine says."""
        blocks = tuple(action.blocks)
        draft = Step(number, action.event, action.tokens, blocks)
        if action.event == "cache_hit":
            prefix = self.prefix(number)
            if blocks != prefix[: len(blocks)]:
                expected = f"{told}: blocks that hold its prefix, {list(prefix)}"
                raise LockstepError("PREFIX_NOT_HELD", pointer, expected, list(blocks))
            return Step(number, action.event, action.tokens, blocks or prefix)
        if action.event == "evict":
            return Step(number, action.event, action.tokens, blocks or self.pool.evictable[:1])
        if action.event not in ("chunk", "decode"):
            return draft
        if not blocks:
            blocks = self.pool.lowest_free(taken(self.state, draft, self.machine.weakened))
        if not self.pool.are_free(blocks):
            return draft  # which the machine refuses
        published = tuple(block for block, _ in self._publishable(draft, blocks))
        return Step(number, action.event, action.tokens, blocks, published)

    def _publishable(self, step: Step, blocks: tuple[int, ...]) -> list[tuple[int, bytes]]:
        """Give the request's whole blocks after a step whose content is not offered [ENG-7]."""
        request, sequence = self.state.requests[step.request], self._sequences[step.request]
        table = request.table + blocks
        computed = min(_computed_after(step, request), request.known)
        whole = min(computed // self.pool.size, len(table))
        found = []
        for place in range(whole):
            if not self.state.cached[table[place]]:
                digest = sequence.chain.of(sequence.tokens, place)
                if digest not in self.index and not self._open.publishes(digest):
                    found.append((table[place], digest))
        return found

    def _move(self, step: Step, before: Lifecycle) -> None:
        """Let an event take effect on the blocks, and note rows and publications."""
        if step.event == "cache_hit":
            self.pool.share(step.blocks)
        elif step.event == "evict":
            for block in step.blocks:
                self.index.withdraw(block)
                self.pool.evict(block)
        elif step.event in ("preempt_rc", "finish"):
            self.pool.release(before.table)
        elif step.event in ("chunk", "decode"):
            self.pool.take(step.blocks)
            self._compute(step, before)

    def _compute(self, step: Step, before: Lifecycle) -> None:
        sequence, table = self._sequences[step.request], before.table + step.blocks
        end = _computed_after(step, before)
        tokens = tuple(sequence.tokens[before.computed : end])
        emits = step.event == "decode"
        self._open.work.append(Work(step.request, before.computed, tokens, table, emits))
        places = {block: place for place, block in enumerate(table)}
        for block in step.published:
            digest = sequence.chain.of(sequence.tokens, places[block])
            self._open.published.append((block, digest))


def _computed_after(step: Step, request: Lifecycle) -> int:
    return request.computed + step.tokens if step.event == "chunk" else request.known
