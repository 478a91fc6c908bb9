"""The trajectory of an execution: a chain of digests, five parts a step [ENG-16] to [ENG-18].

Two executions with one final digest emitted the same tokens from the same logits, packed the same
rows, and kept the same blocks and the same index, at every step. Where they differ, the chain says
in which step first, and its parts say in what.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lockstep.engine.digest import framed, u64, u64s
from lockstep.engine.events import Work
from lockstep.engine.ledger import Ledger
from lockstep.lifecycle import Pool


class Parts(NamedTuple):
    """Digests of a step's parts, in the order in which they are compared and chained."""

    emitted: bytes
    logits: bytes
    work: bytes
    ledger: bytes
    prefixes: bytes


class Difference(NamedTuple):
    """Where two trajectories part.

    Attributes:
        step: the first step that differs.
        part: the first of its parts that differs: a name of `Parts`, `pool` where the pools
            differ, or `length` where one trajectory ends before the step.
    """

    step: int
    part: str


@dataclass(frozen=True)
class Trajectory:
    """What is known of an execution by digests.

    Attributes:
        pool: the pool's constants.
        steps: the parts of each step.
    """

    pool: Pool
    steps: tuple[Parts, ...] = ()

    @property
    def chain(self) -> tuple[bytes, ...]:
        """The chained digest before the first step and after each [ENG-17]."""
        chain = [start(self.pool)]
        for number, parts in enumerate(self.steps):
            chain.append(link(chain[-1], number, parts))
        return tuple(chain)

    @property
    def sha256(self) -> str:
        """The digest of the whole, in hex."""
        return self.chain[-1].hex()


def start(pool: Pool) -> bytes:
    """Give what the chain begins with."""
    return framed("lockstep/trajectory/1", u64(pool.blocks), u64(pool.block_size))


def link(previous: bytes, step: int, parts: Parts) -> bytes:
    """Give the chained digest after a step."""
    return framed("lockstep/step/1", previous, u64(step), *parts)


def first_difference(a: Trajectory, b: Trajectory) -> Difference | None:
    """Name the first step in which two trajectories differ, and the part; None where they agree."""
    if a.pool != b.pool:
        return Difference(0, "pool")
    for number, (left, right) in enumerate(zip(a.steps, b.steps, strict=False)):
        for name, mine, other in zip(Parts._fields, left, right, strict=True):
            if mine != other:
                return Difference(number, name)
    if len(a.steps) != len(b.steps):
        return Difference(min(len(a.steps), len(b.steps)), "length")
    return None


class Recorder:
    """Digests the steps of an execution as they end.

    Args:
        pool: the pool's constants.
    """

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._steps: list[Parts] = []

    def record(
        self,
        ledger: Ledger,
        work: Sequence[Work],
        logits: NDArray[np.float32],
        tokens: Sequence[int],
    ) -> Parts:
        """Digest a step that has just ended: its rows, its output, and the ledger after it."""
        parts = Parts(
            emitted=framed("lockstep/emitted/1", emitted_bytes(work, tokens)),
            logits=framed("lockstep/logits/1", logit_bytes(logits)),
            work=framed("lockstep/rows/1", work_bytes(work, ledger.pool.size)),
            ledger=framed("lockstep/ledger/1", ledger_bytes(ledger)),
            prefixes=framed("lockstep/prefixes/1", prefix_bytes(ledger)),
        )
        self._steps.append(parts)
        return parts

    def trajectory(self) -> Trajectory:
        """Give the trajectory so far."""
        return Trajectory(self._pool, tuple(self._steps))


def emitted_bytes(work: Sequence[Work], tokens: Sequence[int]) -> bytes:
    """Give request, position and token of each emission, in packing order."""
    emitting = [item for item in work if item.emits]
    return b"".join(
        u64s((item.number, item.first + len(item.tokens), token))
        for item, token in zip(emitting, tokens, strict=True)
    )


def logit_bytes(logits: NDArray[np.float32]) -> bytes:
    """Give the logits of rows, in order, as they are: binary32, the lowest byte first."""
    return np.ascontiguousarray(logits, dtype="<f4").tobytes()


def work_bytes(work: Sequence[Work], block_size: int) -> bytes:
    """Give request, position, token, slot, and 1 where logits are wanted, of each packed row."""
    rows: list[int] = []
    for item in work:
        last = len(item.tokens) - 1
        for row, (block, offset) in enumerate(item.slots(block_size)):
            output = int(item.emits and row == last)
            slot = block * block_size + offset
            rows += (item.number, item.first + row, item.tokens[row], slot, output)
    return np.array(rows, dtype=">u8").tobytes()


def ledger_bytes(ledger: Ledger) -> bytes:
    """Give references and flags of blocks, who goes next, requests and tables, and the queue."""
    state, pool = ledger.state, ledger.pool
    states = ledger.machine.relation.states
    numbers = [len(pool.references)]
    for references, cached, written in zip(pool.references, pool.cached, pool.written, strict=True):
        numbers += (references, int(cached), written)
    numbers += (len(pool.evictable), *pool.evictable, len(state.requests))
    for number, request in enumerate(state.requests):
        numbers += (states.index(request.state), request.computed, request.outputs)
        numbers += (int(ledger.stopped(number)), len(request.table), *request.table)
    numbers += (len(state.queue), *state.queue)
    return np.array(numbers, dtype=">u8").tobytes()


def prefix_bytes(ledger: Ledger) -> bytes:
    """Give block and hash of each entry of the prefix index, by the block's number."""
    return b"".join(u64(block) + digest for block, digest in ledger.index.entries())
