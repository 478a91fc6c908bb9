"""Four benchmark designs on simulated servers of a known ratio (docs/benchmark-designs.md).

Time is simulated and everything is drawn from a seed: a run is the same everywhere. Each bias is
shown beside the design that removes it, and the claim is folded from the fourth.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field

from lockstep.claims.throughput import Criterion, predicate
from lockstep.claims.throughput_ratios import Ratio, interval
from lockstep.measure.order import shuffled
from tests.measure.runs import run

TRUE = {"invariant": 1100, "fast": 1000}
"""Walls of the work itself, in thousandths of a second: invariance costs 10 %."""
ARMS = tuple(TRUE)
BLOCKS = 15
SEED = 3


@dataclass
class Process:
    """A process that asks or serves.

    Attributes:
        compiled: arms whose kernels it has.
        held: arms whose memory is still taken on the machine while it runs.
    """

    compiled: set[str] = field(default_factory=set)
    held: set[str] = field(default_factory=set)


class Machine:
    """A machine on which samples take time.

    Args:
        drift: by how much of itself everything slows down from the first sample to the 30th.
        held: by how much of itself a sample slows down for memory that another arm still has.
        compiling: what a process takes once for an arm's kernels, in thousandths of a second.
    """

    def __init__(self, drift: float = 0, held: float = 0, compiling: int = 0) -> None:
        self._random = random.Random(SEED)
        self._drift, self._held, self._compiling = drift, held, compiling
        self._taken = 0

    def sample(self, arm: str, process: Process, timed: bool = True) -> int:
        """Give the wall of a sample of an arm in a process."""
        wall = TRUE[arm] * (1 + self._drift * self._taken / 30) * self._random.uniform(0.99, 1.01)
        if process.held - {arm}:
            wall *= 1 + self._held
        if arm not in process.compiled:
            wall += self._compiling
        process.compiled.add(arm)
        process.held.add(arm)
        self._taken += timed
        return round(wall)


def blocked(machine: Machine) -> dict[str, list[int]]:
    """All samples of one arm, then all of the other, each in a process of its own, warm."""
    found: dict[str, list[int]] = {}
    for arm in ARMS:
        process = Process(compiled=set(ARMS))
        found[arm] = [machine.sample(arm, process) for _ in range(BLOCKS)]
    return found


def turns() -> Iterator[str]:
    for block in range(BLOCKS):
        yield from shuffled(SEED, block, ARMS)


def interleaved(machine: Machine) -> dict[str, list[int]]:
    """Arms take turns; `fast` runs in the benchmark's own process, whose memory the other feels."""
    found: dict[str, list[int]] = {arm: [] for arm in ARMS}
    parent = Process(compiled=set(ARMS), held={"fast"})
    for arm in turns():
        process = parent if arm == "fast" else Process(set(ARMS), set(parent.held))
        found[arm].append(machine.sample(arm, process))
    return found


def isolated(machine: Machine, warm_up: bool) -> dict[str, list[int]]:
    """Arms take turns, each sample in a process of its own; one untimed pass before, or none."""
    found: dict[str, list[int]] = {arm: [] for arm in ARMS}
    for arm in turns():
        process = Process()
        if warm_up:
            machine.sample(arm, process, timed=False)
        found[arm].append(machine.sample(arm, process))
    return found


def ratio(walls: dict[str, list[int]]) -> tuple[float, float, float]:
    pairs = zip(walls["invariant"], walls["fast"], strict=True)
    found = interval([Ratio(block, *pair) for block, pair in enumerate(pairs)], 950)
    assert found is not None
    low, median, high = (one.a / one.b for one in found[:3])
    return low, median, high


def holds(walls: dict[str, list[int]]) -> bool:
    """Whether the interval has the true ratio."""
    low, _, high = ratio(walls)
    return low <= 1.1 <= high


def test_blocked_maps_drift_onto_the_ratio() -> None:
    low, median, _ = ratio(blocked(Machine(drift=-0.5)))
    assert median > 1.3
    assert low > 1.2
    other = ratio(blocked(Machine(drift=0.5)))
    assert other[1] < 0.95, "the same code on another day: an impossible ratio"


def test_interleaving_takes_drift_out() -> None:
    for drift in (-0.5, 0.5):
        assert holds(interleaved(Machine(drift=drift)))
        assert holds(isolated(Machine(drift=drift), warm_up=True))


def test_interleaved_in_one_process_lies_under_what_is_left_behind() -> None:
    walls = interleaved(Machine(held=0.2))
    low, median, _ = ratio(walls)
    assert low > 1.25
    # Nothing in the samples shows it: both spreads are small.
    assert all(max(one) / min(one) < 1.05 for one in walls.values()), walls
    assert median > 1.3


def test_isolation_takes_contamination_out() -> None:
    assert holds(isolated(Machine(held=0.2), warm_up=True))


def test_isolated_times_what_is_done_once() -> None:
    """The faster arm compiles longer, as where a just-in-time compiler has more to choose from."""

    class Jit(Machine):
        def sample(self, arm: str, process: Process, timed: bool = True) -> int:
            self._compiling = 500 if arm == "fast" else 320
            return super().sample(arm, process, timed)

    _, median, high = ratio(isolated(Jit(), warm_up=False))
    assert median < 1
    assert high < 1, "the constrained arm cannot be the faster one"
    assert holds(isolated(Jit(), warm_up=True))


def test_the_fourth_design_stands_against_all_three_at_once() -> None:
    machine = Machine(drift=0.5, held=0.2, compiling=400)
    low, median, high = ratio(isolated(machine, warm_up=True))
    assert low <= 1.1 <= high
    assert abs(median - 1.1) < 0.02


def claim(walls: dict[str, list[int]], threshold_ppm: int) -> dict[str, object]:
    return predicate(
        run(walls),
        [("invariant", "fast")],
        [Criterion(0, threshold_ppm, "above")],
        issued_at="2026-01-01T00:00:00Z",
        producer={},
    )


def test_an_impossible_reading_is_kept_as_one() -> None:
    found = claim(isolated(Machine(), warm_up=False), 1_150_000)
    assert found["verdict"] == "MEASURED"
    walls = isolated(Machine(), warm_up=True)
    swapped = {"invariant": walls["fast"], "fast": walls["invariant"]}
    assert claim(swapped, 1_150_000)["verdict"] == "IMPLAUSIBLE"


def test_a_criterion_within_the_interval_is_not_separable() -> None:
    walls = isolated(Machine(drift=0.5), warm_up=True)
    for threshold, outcome in ((1_150_000, "below"), (1_050_000, "above")):
        assert claim(walls, threshold)["criteria"][0]["outcome"] == outcome  # type: ignore[index]
    _, median, _ = ratio(walls)
    near = claim(walls, round(median * 1_000_000))
    assert near["criteria"][0]["outcome"] == "not_separable"  # type: ignore[index]
