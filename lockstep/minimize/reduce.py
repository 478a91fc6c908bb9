"""Reducing a failing case in stages, and then by single removals until none is left [FIND-9].

The order is of coarse before fine: what ends the schedule early, whole requests and whole kinds of
actions first, runs of tokens by halving, so that the last sweep has little left to test. Making
prompts plain removes nothing, but lets many removals give one and the same case, tested once.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial

from lockstep.errors import LockstepError
from lockstep.fuzz.case import Case
from lockstep.minimize.ddmin import largest_removal, least
from lockstep.minimize.dimensions import Removal, amount, dimensions, removals, steps_of
from lockstep.minimize.hints import request_at, steps_until
from lockstep.minimize.memo import Memo, Outcome
from lockstep.minimize.plain import plain_cases
from lockstep.minimize.removals import without

Progress = Callable[[str, int], None]
KINDS = ("preempt_rc", "cache_hit", "evict", "finish", "chunk")
"""Kinds of actions that are tried to go as a whole, those that bring others with them first."""


@dataclass(frozen=True)
class Reduced:
    """A case of which nothing can be removed, and the proof.

    Attributes:
        case: the case.
        outcomes: of each single removal in its free dimensions, in normative order.
        checks: cases that the search had the predicate test.
        refused: cases that it came to and that are illegal.
    """

    case: Case
    outcomes: tuple[tuple[Removal, str, Outcome], ...]
    checks: int
    refused: int


def reduce(
    case: Case,
    tested: Memo,
    free: Collection[str] | None = None,
    where: str = "",
    tell: Progress = lambda stage, checks: None,
) -> Reduced:
    """Reduce a case until every single removal in the free dimensions no longer reproduces.

    Args:
        case: a case of steps that reproduces.
        tested: the memo, which tests.
        free: the dimensions that are reduced; None for all.
        where: the failure's pointer, which says where to look first.
        tell: told of each stage, with the checks so far.

    Raises:
        LockstepError: FINDING_NOT_REPRODUCED, the case itself does not show the failure.
    """
    names = dimensions() if free is None else tuple(n for n in dimensions() if n in free)
    outcome = tested.outcome(case)
    if not outcome.reproduces:
        got = f"{outcome.name} {outcome.code}".strip()
        raise LockstepError("FINDING_NOT_REPRODUCED", "/case", "the failure", got)
    search = _Search(case, tested, names)
    for name, stage in search.stages(where):
        tell(name, tested.checks)
        stage()
    tell("single removals", tested.checks)
    search.sweep()
    proof = tuple(
        (removal, smaller.sha256, outcome)
        for removal, (smaller, outcome) in zip(
            search.singles(), tested.all(search.single_cases()), strict=True
        )
    )
    return Reduced(search.case, proof, tested.checks, tested.refused)


class _Search:
    """The smallest case so far, and the stages that make it smaller."""

    def __init__(self, case: Case, tested: Memo, free: Collection[str]) -> None:
        self.case = case
        self._tested = tested
        self._free = free

    def stages(self, where: str) -> Iterator[tuple[str, Callable[[], None]]]:
        """Give the stages in their order, those of held dimensions left out."""
        needed = request_at(where)
        every: tuple[tuple[str, Callable[[], None]], ...] = (
            ("steps", lambda: self._cut(where)),
            ("requests", lambda: self._requests(needed)),
            ("prompt_tokens", self._plain),
            ("actions", self._kinds),
            ("actions", lambda: self._ddmin("actions")),
            ("arrivals", lambda: self._ddmin("arrivals")),
            ("steps", lambda: self._ddmin("steps")),
            ("named_blocks", lambda: self._ddmin("named_blocks")),
            ("prompt_tokens", self._prompts),
            ("new_tokens", lambda: self._amounts("new_tokens")),
            ("chunk_tokens", lambda: self._amounts("chunk_tokens")),
            ("arrivals", lambda: self._amounts("arrivals")),
            ("pool_blocks", lambda: self._amounts("pool_blocks")),
            ("block_size", lambda: self._amounts("block_size")),
        )
        return ((name, stage) for name, stage in every if name in self._free)

    def sweep(self) -> None:
        """Try single removals in turn until a whole round of them was in vain."""
        place = 0
        while True:
            singles = self.singles()
            place %= len(singles) or 1
            taken = self._take((removal,) for removal in singles[place:] + singles[:place])
            if taken is None:
                return
            place = singles.index(taken[0])
            self._more(taken[0])

    def _more(self, taken: Removal) -> None:
        """Remove more of what a single removal showed to be too much."""
        if taken.dimension in ("new_tokens", "chunk_tokens", "arrivals"):
            self._amounts(taken.dimension)
        elif taken.dimension == "prompt_tokens":
            number, place = taken.place
            rest = len(self._prompt(number)) - place
            self._smallest(rest, lambda left: _run(number, place, place + rest - left), place == 0)

    def singles(self) -> list[Removal]:
        """List the single removals of the case as it is."""
        return removals(self.case, self._free)

    def single_cases(self) -> list[Case]:
        """Give the case without each of its single removals."""
        return [without(self.case, (removal,)) for removal in self.singles()]

    def _take(self, sets: Iterable[tuple[Removal, ...]]) -> tuple[Removal, ...] | None:
        """Make the first of some removals that reproduces, and give it."""
        found = self._first(self.case, sets)
        if found is None:
            return None
        removed, self.case = found
        return removed

    def _first(
        self, case: Case, sets: Iterable[tuple[Removal, ...]]
    ) -> tuple[tuple[Removal, ...], Case] | None:
        built: list[tuple[tuple[Removal, ...], Case]] = []

        def cases() -> Iterator[Case]:
            for removed in sets:
                try:
                    smaller = without(case, removed)
                except ValueError:
                    continue
                built.append((removed, smaller))
                yield smaller

        found = self._tested.first(cases())
        return next((pair for pair in built if pair[1] is found), None)

    def _ddmin(self, dimension: str, first: Collection[Removal] = ()) -> None:
        """Remove as many units of a dimension as may go together."""
        singles = removals(self.case, (dimension,))
        singles.sort(key=lambda removal: removal not in first)
        self._most(singles)

    def _most(self, singles: list[Removal]) -> None:
        """Make as many of some removals as may be made together."""
        case = self.case
        found: dict[tuple[Removal, ...], Case] = {(): case}

        def chosen(sets: Iterator[tuple[Removal, ...]]) -> tuple[Removal, ...] | None:
            pair = self._first(case, sets)
            if pair is None:
                return None
            found[pair[0]] = pair[1]
            return pair[0]

        self.case = found[largest_removal(singles, chosen)]

    def _cut(self, where: str) -> None:
        """End the schedule as early as the failure shows."""
        case, steps = self.case, steps_of(self.case)
        ends: dict[int, Case] = {len(steps): case}

        def first(lengths: Iterator[int]) -> int | None:
            for length in lengths:
                ends[length] = replace(case, by=steps[:length])
                if self._tested.outcome(ends[length]).reproduces:
                    return length
            return None

        greatest = len(steps)
        hint = steps_until(case, where)
        if hint is not None and hint < greatest and first(iter((hint,))) is not None:
            greatest = hint
            # Where the failure is not seen one step before, it is hardly seen earlier.
            if greatest and first(iter((greatest - 1,))) is None:
                self.case = ends[greatest]
                return
        self.case = ends[least(greatest, first)]

    def _requests(self, needed: str | None) -> None:
        """Leave requests out, at first all but the one at which the failure shows."""
        requests = self.case.workload.requests
        others = tuple(
            Removal("requests", (number,)) for number, r in enumerate(requests) if r.id != needed
        )
        if len(others) < len(requests) and others and self._take([others]):
            return
        self._ddmin("requests", others)

    def _plain(self) -> None:
        """Make requests plain: all of them, or else each that can be."""
        found = self._tested.first(plain_cases(self.case))
        if found is not None:
            self.case = found
            return
        for number in range(len(self.case.workload.requests)):
            found = self._tested.first(plain_cases(self.case, number))
            self.case = self.case if found is None else found

    def _kinds(self) -> None:
        """Take whole kinds of actions away."""
        for kind in KINDS:
            gone = tuple(
                Removal("actions", (step, index))
                for step, actions in enumerate(steps_of(self.case))
                for index, action in enumerate(actions)
                if action.event == kind
            )
            if len(gone) > 1:
                self._take([gone])

    def _prompts(self) -> None:
        """Cut each prompt, the longest first: at its end, then at its beginning, then within."""
        requests = self.case.workload.requests
        order = sorted(range(len(requests)), key=lambda n: (-len(requests[n].prompt), n))
        for number in order:
            self._smallest(len(self._prompt(number)), partial(self._tail, number), low=1)
            if len(set(self._prompt(number))) > 1:
                self._smallest(len(self._prompt(number)), partial(self._head, number), low=1)
                singles = removals(self.case, ("prompt_tokens",))
                self._most([removal for removal in singles if removal.place[0] == number])

    def _prompt(self, number: int) -> tuple[int, ...]:
        return self.case.workload.requests[number].prompt

    def _tail(self, number: int, left: int) -> tuple[Removal, ...]:
        return _run(number, left, len(self._prompt(number)))

    def _head(self, number: int, left: int) -> tuple[Removal, ...]:
        return _run(number, 0, len(self._prompt(number)) - left)

    def _amounts(self, dimension: str) -> None:
        """Lower each number of a dimension as far as reproduces, by halving."""
        for removal in removals(self.case, (dimension,)):
            if removal in removals(self.case, (dimension,)):
                greatest = amount(self.case, removal)
                self._smallest(greatest, partial(_less, removal, greatest))

    def _smallest(
        self, greatest: int, removed: Callable[[int], tuple[Removal, ...]], low: int = 0
    ) -> None:
        case = self.case
        found: dict[int, Case] = {greatest: case}

        def first(numbers: Iterator[int]) -> int | None:
            for number in numbers:
                pair = self._first(case, [removed(number)])
                if pair is not None:
                    found[number] = pair[1]
                    return number
            return None

        self.case = found[least(greatest, first, low)]


def _less(removal: Removal, greatest: int, left: int) -> tuple[Removal, ...]:
    return (removal._replace(amount=greatest - left),)


def _run(number: int, begin: int, end: int) -> tuple[Removal, ...]:
    return tuple(Removal("prompt_tokens", (number, place)) for place in range(begin, end))
