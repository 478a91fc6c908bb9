"""A solver's model told as a run of the reference machine, state by state [LIFE-27].

The solver's text and the machine are two readings of the rules. Where they disagree about one
state of a run, the run is refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lockstep.errors import LockstepError
from lockstep.lifecycle import claims
from lockstep.lifecycle.machine import Machine
from lockstep.lifecycle.relation import relation
from lockstep.lifecycle.state import Pool, State, Step, empty
from lockstep.proofs.lifecycle.transition_system import Run
from lockstep.proofs.solvers import Model as Values


@dataclass(frozen=True)
class Trace:
    """A run of the machine from the empty pool.

    Attributes:
        run: the query's run that the trace is a witness of.
        pool: the pool's constants.
        requests: prompt and max_new of each request, in their order of submission.
        steps: the run's steps; where the goal is one more step, it stands last.
    """

    run: Run
    pool: Pool
    requests: tuple[tuple[int, int], ...]
    steps: tuple[Step, ...]

    @property
    def machine(self) -> Machine:
        """The machine whose run this is."""
        return Machine(weakened=frozenset(filter(None, [self.run.weakening])))

    def start(self) -> State:
        """Give the state after all submissions."""
        state = empty(self.pool)
        for prompt, max_new in self.requests:
            state = self.machine.submit(state, prompt, max_new)
        return state

    def document(self) -> dict[str, Any]:
        """Give the trace as a certificate carries it."""
        return {
            "name": self.run.query.name,
            "requests": [{"prompt": p, "max_new": m} for p, m in self.requests],
            "steps": [
                {
                    "request": step.request,
                    "event": step.event,
                    "tokens": step.tokens,
                    "blocks": list(step.blocks),
                    "published": list(step.published),
                }
                for step in self.steps
            ],
        }


def replay(run: Run, values: Values) -> Trace:
    """Run a model on the machine, compare each state, and see that the goal is reached.

    Raises:
        LockstepError: COUNTEREXAMPLE_NOT_REPLAYED, the machine refuses a step, comes to another
            state than the model, or does not show what the query is about.
    """
    name, model = run.query.name, run.model
    order = sorted(range(model.requests), key=lambda r: int(values[f"rank_{r}_0"]))
    requests = tuple((int(values[f"prompt_{r}"]), int(values[f"max_new_{r}"])) for r in order)
    last = run.goal in ("witness", "only_cells", "exclusive_write")
    steps = tuple(_step(run, values, order, time) for time in range(run.steps + last))
    trace = Trace(run, Pool(model.blocks, model.block_size), requests, steps)
    try:
        state = trace.start()
        _compare(run, values, order, 0, state)
        for time, step in enumerate(steps[: run.steps]):
            state = trace.machine.step(state, step)
            _compare(run, values, order, time + 1, state)
    except LockstepError as fault:
        if fault.code == "COUNTEREXAMPLE_NOT_REPLAYED":
            raise
        hint = "The template and the machine read a rule differently; find out which is wrong."
        raise LockstepError(
            "COUNTEREXAMPLE_NOT_REPLAYED", f"query {name}", "a step", str(fault), hint
        ) from None
    if not shows(trace, state):
        raise LockstepError("COUNTEREXAMPLE_NOT_REPLAYED", f"query {name}", run.goal, "not shown")
    return trace


def shows(trace: Trace, state: State) -> bool:
    """Whether the state before the goal, and the goal's step if any, show the goal."""
    run, machine = trace.run, trace.machine
    step = trace.steps[-1] if trace.steps else None
    if run.goal == "no_deadlock":
        return claims.stuck(machine, state)
    if run.goal == "only_cells":
        return step is not None and not claims.only_cells(machine, state, step)
    if run.goal == "exclusive_write":
        return step is not None and not claims.exclusive_write(state, step)
    if run.goal == "witness":
        if step is None:
            return False
        before = state.requests[step.request].state
        machine.step(state, step)
        return run.query.name == f"lifecycle/witness/{before}/{step.event}".lower()
    return run.goal in claims.broken(state)


def _step(run: Run, values: Values, order: list[int], time: int) -> Step:
    """Read the step at a time; taken blocks in the order of the entries that they get."""
    actor = int(values[f"actor_{time}"])
    blocks = range(run.model.blocks)
    event = relation().events[int(values[f"event_{time}"])]
    chosen = [block for block in blocks if values[f"chosen_{block}_{time}"]]
    if event in ("cache_hit", "chunk", "decode") and f"entry_{actor}_0_{time + 1}" in values:
        chosen.sort(key=lambda block: int(values[f"entry_{actor}_{block}_{time + 1}"]))
    published = [block for block in blocks if values[f"published_{block}_{time}"]]
    if time == run.steps and run.goal == "only_cells":
        published = []  # No state follows that step, so that nothing constrains them.
    return Step(
        order.index(actor), event, int(values[f"tokens_{time}"]), tuple(chosen), tuple(published)
    )


def _compare(run: Run, values: Values, order: list[int], time: int, state: State) -> None:
    """Hold a state of the machine against the model's at that time."""
    got: dict[str, object] = {}
    for number, r in enumerate(order):
        request = state.requests[number]
        got[f"state_{r}_{time}"] = relation().states.index(request.state)
        got[f"computed_{r}_{time}"] = request.computed
        got[f"outputs_{r}_{time}"] = request.outputs
        got[f"length_{r}_{time}"] = len(request.table)
        for block in range(run.model.blocks):
            entry = request.table.index(block) if block in request.table else -1
            got[f"entry_{r}_{block}_{time}"] = entry
    for block in range(run.model.blocks):
        got[f"references_{block}_{time}"] = state.references[block]
        got[f"cached_{block}_{time}"] = state.cached[block]
    waiting = [order[number] for number in state.queue]
    if waiting != sorted(waiting, key=lambda r: int(values[f"rank_{r}_{time}"])):
        raise LockstepError(
            "COUNTEREXAMPLE_NOT_REPLAYED", f"query {run.query.name}", "the queue by rank", waiting
        )
    for constant, value in got.items():
        if values[constant] != value:
            raise LockstepError(
                "COUNTEREXAMPLE_NOT_REPLAYED",
                f"query {run.query.name}: {constant}",
                values[constant],
                value,
            )
