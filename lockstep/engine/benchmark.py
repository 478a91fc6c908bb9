"""Pairwise timings of two backends, and what a device's kernels achieve of its measured peaks.

Two things that are compared run in turn, in one process, so that whatever else the machine does
slows both; what is told is the ratio of each pair. Peaks are measured too, in the same process,
by a copy and by a product of the device's own library, never taken from a data sheet.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from lockstep.engine.backend import Array, Backend
from lockstep.engine.drive import drive
from lockstep.engine.model import Model
from lockstep.engine.rope_tables import rope_tables
from lockstep.engine.sampling import Sampling
from lockstep.schedule.policies import CONTINUOUS, Batching
from lockstep.schedule.workload import Request, Workload
from lockstep.schedule.workloads import pool_for

Call = Callable[[], object]

BLOCK_SIZE = 16
FLOAT_BYTES = {"float32": 4, "float16": 2, "float64": 8}


class Spread(NamedTuple):
    """Least, median and greatest of some ratios."""

    least: float
    median: float
    greatest: float


@dataclass(frozen=True)
class Case:
    """One kernel at one size.

    Attributes:
        name: the kernel and its rows.
        operations: floating-point additions and multiplications.
        elements: elements in the compute dtype that it must read and write, each once.
        wide: elements in float32, likewise.
        prepare: gives a call of the kernel on a backend, its inputs in place.
    """

    name: str
    operations: int
    elements: int
    wide: int
    prepare: Callable[[Backend], Call]


class Achieved(NamedTuple):
    """What a kernel achieved on a device.

    Attributes:
        name: the kernel and its rows.
        seconds: the median of one call.
        bandwidth: its share of the measured bandwidth.
        rate: its share of the measured rate of operations.
    """

    name: str
    seconds: float
    bandwidth: float
    rate: float


def spread(ratios: Sequence[float]) -> Spread:
    """Give least, median and greatest."""
    return Spread(min(ratios), statistics.median(ratios), max(ratios))


def ratios(one: Call, other: Call, pairs: int) -> list[float]:
    """Time two calls in turn, in turned order every other time, and give one / other by pair."""
    one()
    other()
    found = []
    for pair in range(pairs):
        first, second = (one, other) if pair % 2 == 0 else (other, one)
        times = seconds(first), seconds(second)
        found.append(times[0] / times[1] if pair % 2 == 0 else times[1] / times[0])
    return found


def seconds(call: Call) -> float:
    """Give the wall time of a call."""
    started = time.perf_counter()
    call()
    return time.perf_counter() - started


def workloads(vocab_size: int) -> dict[str, Workload]:
    """Give what is executed: a decode alone, a batch of decodes, a long prefill."""
    return {
        "one request, 64 decodes": _workload(1, 8, 64, vocab_size),
        "16 requests, 16 decodes each": _workload(16, 8, 16, vocab_size),
        "a prefill of 640 tokens": _workload(1, 640, 1, vocab_size),
    }


def execution(model: Model, workload: Workload) -> Call:
    """Give a call that executes a workload, under continuous batching."""
    pool = pool_for(workload, BLOCK_SIZE)
    return lambda: drive(model, workload, pool, Batching(CONTINUOUS))


def cases(
    width: int = 1024, heads: int = 16, head_dim: int = 64, context: int = 1024
) -> list[Case]:
    """Give each kernel for a row alone, as in a decode, and for many, as in a prefill.

    Args:
        width: of activations and projections.
        heads: query heads; half as many of keys and values.
        head_dim: of a head.
        context: positions that each row attends to.
    """
    found: list[Case] = []
    for rows in (1, 32):
        size, head_size = rows * width, rows * heads * head_dim
        read = head_size * (context + 2)
        listed: tuple[tuple[str, int, int, int, Callable[[Backend], Call]], ...] = (
            ("matmul", 2 * size * width, 2 * size + width * width, 0,
             partial(_matmul, rows=rows, width=width)),
            ("rms_norm", 4 * size, 2 * size + width, 0, partial(_rms_norm, rows=rows, width=width)),
            ("rope", 3 * head_size, 2 * head_size, rows * head_dim,
             partial(_rope, rows=rows, heads=heads, head_dim=head_dim)),
            ("swiglu", 5 * size, 3 * size, 0, partial(_swiglu, rows=rows, width=width)),
            (f"attention over {context}", 4 * head_size * context, read, 0,
             partial(_attention, rows=rows, heads=heads, head_dim=head_dim, context=context)),
            ("log_softmax", 4 * size, 0, 2 * size, partial(_log_softmax, rows=rows, width=width)),
        )  # fmt: skip
        for name, operations, elements, wide, prepare in listed:
            found.append(Case(f"{name}, {rows} rows", operations, elements, wide, prepare))
    return found


def achieved(
    backend: Backend, synchronise: Call, bandwidth: float, rate: float, runs: int = 20
) -> list[Achieved]:
    """Time each kernel on a device and give its shares of the device's measured peaks.

    Args:
        backend: on the device.
        synchronise: waits for the device.
        bandwidth: bytes a second, as measured there.
        rate: operations a second, as measured there.
        runs: calls of each kernel, after one that is not timed.
    """
    found = []
    for case in cases():
        call = case.prepare(backend)

        def timed(call: Call = call) -> None:
            call()
            synchronise()

        timed()
        spent = statistics.median(seconds(timed) for _ in range(runs))
        moved = case.elements * FLOAT_BYTES[backend.dtype] + 4 * case.wide
        shares = (moved / spent / bandwidth, case.operations / spent / rate)
        found.append(Achieved(case.name, spent, *shares))
    return found


def _workload(requests: int, prompt: int, max_new: int, vocab_size: int) -> Workload:
    made = [
        Request(
            id=f"r{number}",
            prompt=tuple(
                1 + (7 * number + 3 * place) % (vocab_size - 1) for place in range(prompt)
            ),
            max_new=max_new,
            arrival=0,
            salt="",
            ignore_eos=True,
            sampling=Sampling(temperature="0"),
        )
        for number in range(requests)
    ]
    return Workload(tuple(made))


def _values(*shape: int) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    """Give numbers between -1 and 1, the same in every run."""
    return np.random.default_rng(0).uniform(-1, 1, shape).astype(np.float32)


def _taken(backend: Backend, *shape: int) -> Array:
    return backend.array(_values(*shape).astype(backend.dtype))


def _matmul(backend: Backend, rows: int, width: int) -> Call:
    x = _taken(backend, rows, width)
    w = backend.weight(_values(width, width).astype(backend.dtype))
    return lambda: backend.matmul(x, w)


def _rms_norm(backend: Backend, rows: int, width: int) -> Call:
    x, weight = _taken(backend, rows, width), _taken(backend, width)
    return lambda: backend.rms_norm(x, weight, 1e-6)


def _rope(backend: Backend, rows: int, heads: int, head_dim: int) -> Call:
    cos, sin = map(backend.array, rope_tables(10000.0, head_dim, np.arange(rows)))
    x = _taken(backend, rows, heads, head_dim)
    return lambda: backend.rope(x, cos, sin)


def _swiglu(backend: Backend, rows: int, width: int) -> Call:
    gate, up = _taken(backend, rows, width), _taken(backend, rows, width)
    return lambda: backend.swiglu(gate, up)


def _attention(backend: Backend, rows: int, heads: int, head_dim: int, context: int) -> Call:
    """Give each row blocks of its own, as requests have that share nothing."""
    each = context // BLOCK_SIZE
    keys, values = (
        backend.new_cache(rows * each, BLOCK_SIZE, heads // 2, head_dim) for _ in range(2)
    )
    slots = np.arange(rows * context, dtype=np.int64)
    for cache in (keys, values):
        backend.write(cache, _taken(backend, rows * context, heads // 2, head_dim), slots)
    q = _taken(backend, rows, heads, head_dim)
    tables = np.arange(rows * each, dtype=np.int32).reshape(rows, each)
    lengths = np.full(rows, context, dtype=np.int32)
    return lambda: backend.attention(q, keys, values, tables, lengths, head_dim**-0.5)


def _log_softmax(backend: Backend, rows: int, width: int) -> Call:
    logits = backend.array(_values(rows, width))
    return lambda: backend.log_softmax(logits)
