"""Conversions beside memcpy and beside what a user would write instead, on the same maps."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lockstep.convert.execute import convert
from lockstep.convert.memory import empty
from lockstep.convert.names import resolve
from lockstep.convert.plan import Plan, plan
from lockstep.cores import cores
from lockstep.errors import LockstepError
from lockstep.layouts.geometry import Geometry

HEADS, BLOCK, PITCH = 8, 16, 1024
"""KV heads of a cache that is timed, tokens in a block, and a multiple of tokens that leaves no
layout of the cases any padding."""
LEAST_RUN = 64
"""Bytes of a run from which on memcpy's bandwidth is the measure."""
LEAST_SHARE = 0.8
"""The least share of memcpy's bandwidth there."""


class Case(NamedTuple):
    """A conversion, with the same map for each buffer as a pattern of einops.

    Attributes:
        source: a layout's name.
        destination: likewise.
        patterns: for each pair of buffers, source's and destination's axes.
        dims: of a head; they are float16.
    """

    source: str
    destination: str
    patterns: tuple[str, ...]
    dims: int = 128


CASES = (
    Case("vllm:NHD", "vllm:HND", ("b k n h d -> b k h n d",)),
    Case("vllm:NHD", "vllm:HND", ("b k n h d -> b k h n d",), 32),
    Case("vllm:NHD", "vllm:HND", ("b k n h d -> b k h n d",), 80),
    Case("vllm/vllm-0.22-nhd", "vllm:HND", ("k b n h d -> b k h n d",)),
    Case("vllm/vllm-0.22-nhd", "vllm/vllm-0.26-nhd", ("k b n h d -> b n h k d",)),
    Case("lmcache:KV_2TD", "lmcache:KV_T2D", ("k t h d -> t k h d",)),
    Case("llamacpp/llamacpp-flash", "huggingface/hf-dynamic", ("t h d -> h t d",) * 2),
    Case(
        "llamacpp/llamacpp-flash",
        "llamacpp/llamacpp-no-flash",
        ("t h d -> t h d", "t h d -> h d t"),
    ),
)


class Timed(NamedTuple):
    """Times of a case, in seconds, by contestant: one for each round, taken in turn."""

    case: Case
    run: int
    seconds: Mapping[str, list[float]]

    def ratio(self, one: str, other: str) -> list[float]:
        """Give how often as fast as `other` one is, round by round."""
        pairs = zip(self.seconds[other], self.seconds[one], strict=True)
        return [theirs / ours for theirs, ours in pairs]

    @property
    def share(self) -> float:
        """The median share of memcpy's bandwidth, with as many threads."""
        return statistics.median(self.ratio("lockstep", "memcpy"))

    @property
    def best_other(self) -> str:
        """The fastest of the others, by its median."""
        others = [one for one in self.seconds if one not in ("lockstep", "memcpy")]
        return min(others, key=lambda one: statistics.median(self.seconds[one]))

    @property
    def holds(self) -> bool:
        """Whether it is fast enough, and no slower than the best of the others."""
        fast = self.run < LEAST_RUN or self.share >= LEAST_SHARE
        return fast and statistics.median(self.ratio("lockstep", self.best_other)) >= 1


def timed(case: Case, size: int, rounds: int, threads: int | None = None) -> Timed:
    """Time a case against memcpy of the same bytes and threads, NumPy, torch and einops.

    All write to memory that has been written before, and each gives the same bytes; that is
    checked. Of each turn's two runs the second counts: the first bears what the contestant before
    has left, such as a core that was idle, or memory that is given back.

    Args:
        case: what is converted.
        size: bytes of the cache, about.
        rounds: in each of which everyone has a turn.
        threads: of Lockstep, of memcpy and of torch; None for one a core.

    Raises:
        LockstepError: INTERNAL where another gives other bytes: the pattern is not the map.
    """
    threads = threads or cores()
    tokens = max(1, size // (2 * HEADS * case.dims * 2) // PITCH) * PITCH
    geometry = Geometry(tokens, 1, HEADS, case.dims, 0, 0, "float16")
    made = plan(resolve(case.source), resolve(case.destination), geometry)
    rng = np.random.default_rng(1)
    source = [empty(one.bytes) for one in made.source.buffers]
    for one in source:
        one[:] = rng.integers(0, 256, len(one), dtype=np.uint8)
    contestants = _contestants(case, made, source, threads)
    due = [one.copy() for one in contestants["lockstep"]()]
    for name, run in contestants.items():
        found = run()
        if name != "memcpy":
            _require_same(case, name, found, due)
    seconds: dict[str, list[float]] = {name: [] for name in contestants}
    for _ in range(rounds):
        for name, run in contestants.items():
            run()
            started = time.perf_counter()
            run()
            seconds[name].append(time.perf_counter() - started)
    return Timed(case, min(copy.length for copy in made.copies), seconds)


def _require_same(
    case: Case, name: str, found: list[NDArray[Any]], due: list[NDArray[Any]]
) -> None:
    for one, other in zip(found, due, strict=True):
        if not np.array_equal(one.reshape(-1).view(np.uint8), other):
            raise LockstepError("INTERNAL", name, "the bytes of the plan", str(case))


def _contestants(
    case: Case, made: Plan, source: list[NDArray[np.uint8]], threads: int
) -> dict[str, Callable[[], list[NDArray[Any]]]]:
    """Give what is timed; memory of the destinations is there and has been written.

    Those that take new memory come last, and what copies with one thread first: for a while after
    memory has been given back, whoever copies is slow.
    """
    import einops
    import torch

    torch.set_num_threads(threads)
    into = [empty(one.bytes) for one in made.destination.buffers]
    for one in into:
        one.fill(1)
    shaped = [
        (array.view(np.float16).reshape(_extents(pattern, array, made)), pattern)
        for array, pattern in zip(source, case.patterns, strict=True)
    ]
    targets = [
        array.view(np.float16).reshape(_turned(one.shape, pattern))
        for array, (one, pattern) in zip(into, shaped, strict=True)
    ]
    tensors = [torch.from_numpy(one.view(np.int16)) for one, _ in shaped]
    into_tensors = [torch.from_numpy(one.view(np.int16)) for one in targets]
    orders = [_order(pattern) for pattern in case.patterns]
    pool = ThreadPoolExecutor(threads)

    def memcpy() -> list[NDArray[Any]]:
        for to, came in zip(into, source, strict=True):
            cut = [len(came) * at // threads for at in range(threads + 1)]
            list(pool.map(lambda a, b, to=to, came=came: np.copyto(to[a:b], came[a:b]),
                          cut[:-1], cut[1:]))  # fmt: skip
        return into

    def numpy() -> list[NDArray[Any]]:
        for to, (came, _), order in zip(targets, shaped, orders, strict=True):
            np.copyto(to, came.transpose(order))
        return targets

    def numpy_new() -> list[NDArray[Any]]:
        return [np.ascontiguousarray(came.transpose(order))
                for (came, _), order in zip(shaped, orders, strict=True)]  # fmt: skip

    def torch_copy() -> list[NDArray[Any]]:
        for to, came, order in zip(into_tensors, tensors, orders, strict=True):
            to.copy_(came.permute(order))
        return targets

    def torch_new() -> list[NDArray[Any]]:
        return [came.permute(order).contiguous().numpy()
                for came, order in zip(tensors, orders, strict=True)]  # fmt: skip

    def rearranged() -> list[NDArray[Any]]:
        return [np.ascontiguousarray(einops.rearrange(came, pattern)) for came, pattern in shaped]

    return {
        "numpy copyto": numpy,
        "lockstep": lambda: convert(made, source, into, threads=threads),
        "memcpy": memcpy,
        "torch copy_": torch_copy,
        "numpy transpose": numpy_new,
        "torch permute().contiguous()": torch_new,
        "einops": rearranged,
    }


def _extents(pattern: str, array: NDArray[np.uint8], made: Plan) -> tuple[int, ...]:
    """Give the extents of the source's axes."""
    known = {"k": 2, "n": BLOCK, "h": HEADS, "d": made.geometry.head_dim, "t": made.geometry.tokens}
    known["b"] = made.geometry.tokens // BLOCK
    return tuple(known[axis] for axis in pattern.split(" -> ")[0].split())


def _order(pattern: str) -> tuple[int, ...]:
    source, destination = (side.split() for side in pattern.split(" -> "))
    return tuple(source.index(axis) for axis in destination)


def _turned(shape: tuple[int, ...], pattern: str) -> tuple[int, ...]:
    return tuple(shape[at] for at in _order(pattern))
