"""The reference machine: what a step needs and what it changes (spec/lifecycle.md).

Nothing is chosen here: which request steps, which blocks are granted, taken, evicted or
published comes in with the step. So a scheduler's log and a solver's witness run alike.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from lockstep import spec
from lockstep.errors import LockstepError
from lockstep.lifecycle.guards import Clause, Weakened, clauses
from lockstep.lifecycle.relation import Relation, relation
from lockstep.lifecycle.state import Request, State, Step, ceil_div


@dataclass(frozen=True)
class Machine:
    """The rules, as they stand or weakened.

    Attributes:
        relation: the relation that each step must have a cell in.
        weakened: names of the weakenings in force; a foil's machine has one, any other none.

    Raises:
        LockstepError: BAD_VALUE, a name that is no weakening of the spec.
    """

    relation: Relation = field(default_factory=relation)
    weakened: Weakened = frozenset()

    def __post_init__(self) -> None:
        known = {entry["name"] for entry in spec.load("lifecycle.json")["weakenings"]}
        if unknown := self.weakened - known:
            got = ", ".join(sorted(unknown))
            raise LockstepError("BAD_VALUE", "weakened", f"among {sorted(known)}", got)

    def submit(self, state: State, prompt: int, max_new: int) -> State:
        """Give the state with one more request at the end of the queue [LIFE-9].

        Raises:
            LockstepError: BAD_VALUE, a length below 1; REQUEST_NEVER_FITS, a need above the pool.
        """
        number = len(state.requests)
        for name, tokens in (("prompt", prompt), ("max_new", max_new)):
            if tokens < 1:
                raise LockstepError("BAD_VALUE", f"request {number}: {name}", "1 or more", tokens)
        request = Request(prompt, max_new, self.relation.initial)
        need, blocks = request.need(state.pool), state.pool.blocks
        if need > blocks and "never_fitting_accepted" not in self.weakened:
            where = f"request {number}"
            raise LockstepError("REQUEST_NEVER_FITS", where, f"at most {blocks} blocks", need)
        return replace(state, requests=(*state.requests, request), queue=(*state.queue, number))

    def refusal(self, state: State, step: Step) -> Clause | None:
        """Give the first clause of the step's guard that does not hold, or None."""
        return next((c for c in clauses(state, step, self.weakened) if not c.holds), None)

    def step(self, state: State, step: Step) -> State:
        """Give the state after a step.

        Raises:
            LockstepError: EVENT_NOT_ALLOWED, no such request or event, the relation has no cell,
                or a clause of the guard does not hold.
        """
        where = f"request {step.request}: {step.event}"
        if not 0 <= step.request < len(state.requests):
            raise LockstepError("EVENT_NOT_ALLOWED", where, "a submitted request", step.request)
        if step.event not in self.relation.events:
            raise LockstepError("EVENT_NOT_ALLOWED", where, "an event", step.event)
        before = state.requests[step.request]
        after = self.relation.next_state(before.state, step.event)
        if after is None:
            raise LockstepError("EVENT_NOT_ALLOWED", where, "a cell", f"state {before.state}")
        if failed := self.refusal(state, step):
            raise LockstepError("EVENT_NOT_ALLOWED", where, failed.expected, failed.got)
        state = state.with_request(step.request, replace(before, state=after))
        if step.event in ("admit", "resume"):
            return replace(state, queue=state.queue[1:])
        if step.event == "cache_hit":
            return _grant(state, step)
        if step.event in ("chunk", "decode"):
            return _compute(state, step)
        if step.event == "evict":
            return state.with_cached({step.blocks[0]: False})
        return self._release(state, step)

    def run(self, state: State, steps: tuple[Step, ...]) -> State:
        """Give the state after several steps; errors as `step`, at the step's place."""
        for place, step in enumerate(steps):
            try:
                state = self.step(state, step)
            except LockstepError as fault:
                raise LockstepError(
                    fault.code, f"step {place}: {fault.pointer}", fault.expected, fault.got
                ) from None
        return state

    def _release(self, state: State, step: Step) -> State:
        """Apply preempt_rc or finish [LIFE-17]."""
        request, preempted = state.requests[step.request], step.event == "preempt_rc"
        if preempted:
            state = replace(state, queue=(step.request, *state.queue))
        if preempted and "preempted_keeps_blocks" in self.weakened:
            return state.with_request(step.request, replace(request, computed=0))
        shared = "shared_release" in self.weakened
        counts = {b: 0 if shared else state.references[b] - 1 for b in request.table}
        state = state.with_request(step.request, replace(request, computed=0, table=()))
        return state.with_references(counts)


def written(state: State, step: Step) -> tuple[int, ...]:
    """Give the blocks that a chunk or a decode writes, ascending by position [LIFE-14]."""
    if step.event not in ("chunk", "decode"):
        return ()
    request, size = state.requests[step.request], state.pool.block_size
    table = request.table + step.blocks
    return table[request.computed // size : ceil_div(_computed_after(request, step), size)]


def not_exclusive(state: State, step: Step) -> tuple[int, ...]:
    """Give the blocks that a step would write and that another holds or is offered [LIFE-14]."""
    held = state.requests[step.request].table
    return tuple(
        block
        for block in written(state, step)
        if state.cached[block] or (block in held and state.references[block] != 1)
    )


def _computed_after(request: Request, step: Step) -> int:
    return request.computed + step.tokens if step.event == "chunk" else request.known


def _grant(state: State, step: Step) -> State:
    """Apply cache_hit [LIFE-11]."""
    request = state.requests[step.request]
    computed = len(step.blocks) * state.pool.block_size
    state = state.with_references({b: state.references[b] + 1 for b in step.blocks})
    return state.with_request(
        step.request, replace(request, computed=computed, table=request.table + step.blocks)
    )


def _compute(state: State, step: Step) -> State:
    """Apply chunk or decode [LIFE-12] [LIFE-13] [LIFE-15]."""
    request = state.requests[step.request]
    after = replace(
        request,
        computed=_computed_after(request, step),
        outputs=request.outputs + (step.event == "decode"),
        table=request.table + step.blocks,
    )
    state = state.with_references(dict.fromkeys(step.blocks, 1))
    state = state.with_cached(dict.fromkeys(step.published, True))
    return state.with_request(step.request, after)
