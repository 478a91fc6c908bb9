"""Replay in batches beside the plain path: pairwise times, and a search for a disagreement.

What is compared runs in turn, in one process, on the same positions, so that whatever else the
machine does slows both; what is told is the ratio of each pair. Time is the processor's, of one
core. All contestants judge positions by the same rules [SAMP-33], from texts to a token.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from decimal import Context, Decimal
from functools import partial
from typing import NamedTuple

import numpy as np

from lockstep import spec
from lockstep.sampling.batch import exp, numbers
from lockstep.sampling.batch.numbers import Integers, Numbers
from lockstep.sampling.batch.replay import Replay
from lockstep.sampling.document import Request, Signed
from lockstep.sampling.exp import exp as exactly
from lockstep.sampling.number import written
from lockstep.sampling.observe import shared
from lockstep.sampling.parameters import resolve
from lockstep.sampling.random_positions import HARD
from lockstep.sampling.replay import one_by_one, replay_position
from lockstep.sampling.seed import Origin

FLOORS = {5: 5.0, 64: 20.0, 256: 20.0}
"""How many times as fast as the plain path the batch must be, by tokens of a position."""
SIZES = tuple(FLOORS)
PLAIN = "plain"
"""The path that replay takes without NumPy."""
SEQUENCE = 1024
"""Positions that the batch is given: what a certificate of 256 tokens a position may hold."""
VOCABULARY = 150_000
ARGUMENTS = 100_000
"""Arguments that are compared at a time."""


class Ratios(NamedTuple):
    """Times of one way to judge a position over those of the batch, run by run.

    Attributes:
        name: the way.
        tokens: of each position.
        ratios: one a run.
    """

    name: str
    tokens: int
    ratios: tuple[float, ...]

    @property
    def median(self) -> float:
        """Give the median of the ratios."""
        return statistics.median(self.ratios)


class Agreement(NamedTuple):
    """What a comparison of exponentials came to.

    Attributes:
        arguments: how many were compared.
        undecided: of these, those that binary64 left to the exact exponential.
        differing: those on which the two disagree.
    """

    arguments: int
    undecided: int
    differing: int


def request_of(tokens: int) -> Request:
    """Give a request whose positions have so many tokens."""
    data, digest = spec.load("sampling.json"), "0" * 64
    parameters = resolve("0.7", tokens, "0.95")
    origin = Origin(1, "bench", "")
    return Request(
        version=data["contract"],
        seed_domain=data["seed_domain"],
        origin=origin,
        choices=1,
        parameters=parameters,
        min_tokens=0,
        max_tokens=1 << 20,
        stop_tokens=(),
        features=(),
        model_sha256=digest,
        tokenizer_sha256=digest,
        vocab_size=VOCABULARY,
    )


def positions(tokens: int, count: int, seed: int) -> tuple[Signed, ...]:
    """Draw positions as a model has them: their log-probabilities normalised, few of them large."""
    chosen = np.random.default_rng(seed)
    drawn = []
    for _ in range(count):
        logits = np.sort(chosen.normal(0, 3, tokens))
        logits -= logits.max() + np.log(np.exp(logits - logits.max()).sum())
        names = map(str, chosen.choice(VOCABULARY, tokens, replace=False).tolist())
        pairs = sorted(zip(names, map(written, logits.tolist()), strict=True))
        drawn.append(Signed(pairs[int(chosen.integers(tokens))][0], tuple(pairs)))
    return tuple(drawn)


def by_decimal(values: Sequence[Decimal], arithmetic: Context) -> list[Decimal]:
    """Give exponentials by the decimal library's own, which rounds correctly as well."""
    return [arithmetic.exp(value) for value in values]


def race(tokens: int, runs: int, scale: int) -> tuple[Ratios, ...]:
    """Time the plain path, with its own exponential and with decimal's, against the batch.

    Args:
        tokens: of each position.
        runs: pairs of each comparison.
        scale: tokens, about, that the plain paths judge in a run; the batch judges their positions
            over and over, as many as a long sequence has.

    Raises:
        AssertionError: the contestants disagree.
    """
    few = max(2, scale // tokens)
    request, some = request_of(tokens), positions(tokens, few, tokens)
    many = (some * -(-SEQUENCE // few))[: max(few, SEQUENCE)]

    def decimal() -> list[str]:
        return [
            replay_position(request, 0, index, signed, by_decimal).reason
            for index, signed in enumerate(some)
        ]

    contestants: dict[str, Callable[[], list[str]]] = {
        "decimal": decimal,
        PLAIN: lambda: one_by_one(request, 0, 0, some),
    }
    found: dict[str, list[float]] = {name: [] for name in contestants}
    for _ in range(runs):
        batch, reasons = _timed(lambda: Replay(request, 0, 0, many).reasons())
        for name, contestant in contestants.items():
            seconds, same = _timed(contestant)
            if same != reasons[:few]:
                raise AssertionError(f"{name} and the batch disagree at {tokens} tokens")
            found[name].append((seconds / few) / (batch / len(many)))
    return tuple(Ratios(name, tokens, tuple(ratios)) for name, ratios in found.items())


def _timed(act: Callable[[], list[str]]) -> tuple[float, list[str]]:
    started = time.process_time()
    found = act()
    return time.process_time() - started, found


def compare(
    count: int,
    seed: int,
    jobs: int = 1,
    progress: Callable[[Agreement], None] = lambda so_far: None,
) -> Agreement:
    """Compare exponentials of the batch with the exact ones.

    Args:
        count: arguments.
        seed: what they are drawn from.
        jobs: processes; they change nothing.
        progress: told what was found so far.
    """
    parts = [min(ARGUMENTS, count - start) for start in range(0, count, ARGUMENTS)]
    found = Agreement(0, 0, 0)
    for part in _mapped(partial(_compared, seed), parts, jobs):
        found = Agreement(*(one + more for one, more in zip(found, part, strict=True)))
        progress(found)
    return found


def _mapped(
    compared: Callable[[int, int], Agreement], parts: list[int], jobs: int
) -> Iterator[Agreement]:
    if jobs == 1:
        yield from map(compared, range(len(parts)), parts)
        return
    with ProcessPoolExecutor(jobs) as pool:
        yield from pool.map(compared, range(len(parts)), parts)


def _compared(seed: int, part: int, count: int) -> Agreement:
    given = arguments(count, seed, part)
    found = exp.exp(given)
    c, q = found.values.c.tolist(), found.values.q.tolist()
    differing = sum(
        exactly(-Decimal(one).scaleb(exponent)) != Decimal(found_c).scaleb(found_q)
        for one, exponent, found_c, found_q in zip(
            given.c.tolist(), given.q.tolist(), c, q, strict=True
        )
    )
    return Agreement(count, found.fallbacks, differing)


def arguments(count: int, seed: int, part: int) -> Numbers:
    """Draw arguments from 0 to 64: of all sizes, short ones, and some with results by midpoints."""
    chosen = np.random.default_rng((seed, part))
    exponents = chosen.integers(-21, -7, count)
    c = chosen.integers(numbers.ONE, numbers.END, count)
    short = numbers.POWERS[np.where(chosen.random(count) < 0.3, chosen.integers(0, 10, count), 0)]
    c -= c % short
    # (k + 1/2) · 10^-10, and next to it: e^-x is a midpoint less about x^2 / 2.
    middles = (10 * chosen.integers(1, 3_000, count) + 5) * 10**8
    middles += chosen.choice(np.array([0, 1, -1, 17, -300]), count)
    middle = numbers.written(middles, -19)
    hard = _hard()
    place = chosen.integers(0, len(hard.c), count)
    dice = chosen.random(count)
    c = np.where(dice < 0.1, middle.c, np.where(dice < 0.11, hard.c[place], c))
    q = np.where(dice < 0.1, middle.q, np.where(dice < 0.11, hard.q[place], exponents))
    found = Numbers(c, q)
    beyond = found.keys > numbers.least_key(Decimal(exp.MOST))
    return Numbers(c, np.where(beyond, q - 1, q))


def _hard() -> Numbers:
    read = [numbers.integer(Decimal(text)) for text in HARD]
    values: Integers = np.array([value for value, _ in read])
    exponents: Integers = np.array([exponent for _, exponent in read])
    return Numbers(*map(np.concatenate, zip(*map(_rounded, values, exponents), strict=True)))


def _rounded(value: np.int64, exponent: np.int64) -> Numbers:
    return numbers.written(np.array([value]), int(exponent))


def scaling(jobs: int, tokens: int = 64, count: int = 64) -> float:
    """Give how many times as fast as one process so many are, at the plain path, by wall time."""
    request, signed = request_of(tokens), positions(tokens, count, 1)
    started = time.perf_counter()
    one_by_one(request, 0, 0, signed)
    alone = time.perf_counter() - started
    with ProcessPoolExecutor(jobs) as pool:
        # The processes are there before time is taken.
        list(pool.map(abs, range(jobs)))
        started = time.perf_counter()
        shared(pool, jobs, one_by_one, request, 0, 0, signed)
        return alone / (time.perf_counter() - started)
