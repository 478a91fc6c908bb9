"""MR8: keys and values are the same bytes, however they were written [REL-19]."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from lockstep.engine.backend import SPLIT
from lockstep.engine.execute import StepView
from lockstep.engine.run import Run
from lockstep.relations.context import Context
from lockstep.relations.requests import request
from lockstep.schedule.policies import CANONICAL, CONTINUOUS, Batching, Settings
from lockstep.schedule.workload import Request, Workload

MARGIN = 64
"""Steps by which a request comes after those that write what it is granted."""

Layers = list[NDArray[np.generic]]


@dataclass
class Gather:
    """An observer that keeps the keys and values that a request had computed last.

    Attributes:
        request: the request's id.
        keys: of each layer [computed, kv_heads, head_dim].
        values: likewise.
    """

    request: str
    keys: Layers = field(default_factory=list)
    values: Layers = field(default_factory=list)

    def after_step(self, view: StepView) -> None:
        """Gather, where the request has computed in the step."""
        number = view.execution.ledger.number(self.request)
        if number is not None and any(work.number == number for work in view.work):
            self.keys, self.values = view.execution.keys_values(number)

    @property
    def computed(self) -> int:
        """Positions that were gathered."""
        return len(self.keys[0]) if self.keys else 0


def run(context: Context) -> None:
    """Write the same tokens by decodes, chunks and hits, and compare with one prefill."""
    size = context.block_size
    _compare(context, request(context, 0, size - 1, max_new=2 * size + 3), "")
    # Decoded across the end of the first split.
    _compare(context, request(context, 1, SPLIT - 3, max_new=8), ", over a split")


def _compare(context: Context, decoded: Request, where: str) -> None:
    prompt, output = decoded.prompt, context.reference(decoded).tokens
    # The last token that is emitted is computed by nobody.
    whole = replace(decoded, id="whole", prompt=prompt + output[:-1], max_new=1)
    beside = request(context, 2, context.block_size + 3, max_new=len(output))
    chunked = replace(whole, id="chunked")
    # By then the others have ended: they take a step a token, and some for their prefills.
    hit = replace(whole, id="hit", arrival=len(output) + MARGIN)
    expected, _ = _written(context, f"prefill{where}", whole, (whole,), CANONICAL)
    in_chunks = replace(CONTINUOUS, chunks=("S-1", "S+1", "7"), lookup=False)
    for one, members, settings in (
        (decoded, (decoded, beside), replace(CONTINUOUS, lookup=False)),
        (chunked, (beside, chunked), in_chunks),
        (hit, (beside, decoded, hit), CONTINUOUS),
    ):
        execution = f"{one.id} beside others{where}"
        got, done = _written(context, execution, one, members, settings)
        context.counters.update(_positions(done, one.id, context.block_size))
        _compare_bytes(context, execution, one.id, expected, got)


def _positions(run: Run, name: str, block_size: int) -> dict[str, int]:
    """Count how the positions of a request came about, its last prefill step not among them."""
    own = [event for event in run.events if event.request == name]
    decodes = sum(event.event == "decode" for event in own)
    return {
        "decoded_positions": decodes - 1,
        "chunked_positions": sum(event.tokens for event in own if event.event == "chunk"),
        "hit_positions": sum(
            len(event.blocks) * block_size for event in own if event.event == "cache_hit"
        ),
    }


def _written(
    context: Context,
    execution: str,
    one: Request,
    members: tuple[Request, ...],
    settings: Settings,
) -> tuple[Gather, Run]:
    gather = Gather(one.id)
    workload, pool = Workload(members), context.pool(members)
    _, done = context.drive(execution, workload, pool, Batching(settings), gather)
    context.notes.requests += 1
    return gather, done


def _compare_bytes(
    context: Context, execution: str, name: str, expected: Gather, got: Gather
) -> None:
    """Compare each position of each layer, and how many there are."""
    context.compare(execution, name, None, "computed", expected.computed, got.computed)
    context.counters["layers"] = len(expected.keys)
    for part in ("keys", "values"):
        sides = zip(getattr(expected, part), getattr(got, part), strict=True)
        for layer, (mine, other) in enumerate(sides):
            for position, (left, right) in enumerate(zip(mine, other, strict=False)):
                context.compare(
                    execution, name, position, part, left.tobytes(), right.tobytes(), layer
                )
