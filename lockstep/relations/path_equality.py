"""PATH-EQ: what is observed is what is served [REL-21].

There is one forward for both, by construction; here a request's logits in the engine, in company
and in pieces, are compared with those of the forward called on its tokens directly.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from lockstep.engine.batch import Batch
from lockstep.engine.model import LayerCache
from lockstep.relations.context import Context
from lockstep.relations.requests import OVER_TWO_SPLITS, request
from lockstep.schedule.policies import CONTINUOUS, Batching
from lockstep.schedule.workload import Request, Workload

CHUNK = 37
"""Rows of a direct forward in chunks; no divisor of a block or a split."""


def run(context: Context) -> None:
    """Serve requests in a batch, then forward each one's tokens, and compare logits."""
    size = context.block_size
    short = tuple(request(context, n, n * size + n, max_new=6) for n in (1, 2))
    long = request(context, 3, OVER_TWO_SPLITS, max_new=6)
    members = (*short, long)
    workload = Workload(members)
    settings = replace(CONTINUOUS, chunks=("S+1", "S-1", "S"))
    _, served = context.drive("served", workload, context.pool(members), Batching(settings))
    for member in members:
        output = served.outputs[member.id]
        known = member.prompt + output.tokens[:-1]
        whole = _digests(context, known, len(known))
        ways = {"chunked": CHUNK, "single": 1} if member is not long else {"chunked": CHUNK}
        context.counters["whole_positions"] += len(whole)
        for way, rows in ways.items():
            context.counters[f"{way}_positions"] += len(whole)
            _compare(context, f"forward, {way}", member, 0, whole, _digests(context, known, rows))
        first = len(member.prompt) - 1
        context.notes.requests += 1
        context.counters["served_positions"] += len(output.logit_digests)
        _compare(context, "served", member, first, whole[first:], list(output.logit_digests))


def _compare(
    context: Context, execution: str, member: Request, first: int, left: list[str], right: list[str]
) -> None:
    context.compare(execution, member.id, None, "length", len(left), len(right))
    for position, (mine, other) in enumerate(zip(left, right, strict=False), first):
        context.compare(execution, member.id, position, "logits", mine, other)


def _digests(context: Context, known: tuple[int, ...], rows: int) -> list[str]:
    """Give the digest of the logits at each position, forwarded so many rows at a time."""
    model, size = context.model, context.block_size
    caches = model.new_caches(-(-len(known) // size), size)
    digests = []
    for batch in _batches(known, rows, size):
        for row in _logits(context, batch, caches):
            digests.append(hashlib.sha256(row.astype("<f4").tobytes()).hexdigest())
    return digests


def _logits(context: Context, batch: Batch, caches: list[LayerCache]) -> NDArray[np.float32]:
    logits: NDArray[np.float32] = context.model.backend.numpy(context.model.forward(batch, caches))
    return logits


def _batches(known: tuple[int, ...], rows: int, block_size: int) -> Iterator[Batch]:
    """Give the tokens as batches whose every row is wanted, over blocks in ascending order."""
    blocks = np.arange(-(-len(known) // block_size), dtype=np.int32)
    for start in range(0, len(known), rows):
        positions = np.arange(start, min(start + rows, len(known)), dtype=np.int64)
        yield Batch(
            tokens=np.array(known, dtype=np.int64)[positions],
            positions=positions,
            tables=np.tile(blocks, (len(positions), 1)),
            slots=positions,
            lengths=(positions + 1).astype(np.int32),
            output_rows=np.arange(len(positions), dtype=np.int64),
        )
