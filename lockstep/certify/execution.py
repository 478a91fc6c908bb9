"""The rounds of a plan against one server after another, from what is recorded to the last."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from lockstep.certify import prompts as own_prompts
from lockstep.certify.ask import Ask
from lockstep.certify.budget import Budget
from lockstep.certify.cells import POSITIVE, PlannedCell, eval_conditions, planned
from lockstep.certify.client import StatusError
from lockstep.certify.dialogue import Dialogue, Reply
from lockstep.certify.observation import CellSeen, PromptsSeen, Round
from lockstep.certify.plan import round_seconds
from lockstep.certify.rounds import run_round

if TYPE_CHECKING:
    from lockstep.certify.probe import Found
    from lockstep.certify.results import Records
    from lockstep.certify.watch import Watch

ALIVE_SECONDS = 10.0
"""For a request that only shows whether a server still answers."""


class Execution:
    """The rounds of a plan.

    Args:
        plan: its parameters.
        records: takes rounds as they come.
        watch: is told.
        own: the user's prompts; None for none.
        launched: whether the server is started here for each lifetime.
        run_id: parts the salts of this run from those of another.
        budget: the time that there is.
        found: what probing measured, by which a round's time is estimated.

    Attributes:
        cells: of the plan.
        costed: those, and the conditions of the user's prompts, as estimates need them.
        stopped: why no further round is made; empty as long as they are.
    """

    def __init__(
        self,
        plan: dict[str, Any],
        records: Records,
        watch: Watch,
        own: own_prompts.Prompts | None,
        launched: bool,
        run_id: str,
        budget: Budget,
        found: Found,
    ) -> None:
        self.cells = planned(plan)
        self._every = self.costed = self.cells
        if own is not None:
            self._every += (conditions := eval_conditions(plan, len(own.items)))
            self.costed += own_prompts.costed(own, conditions)
        self.stopped = ""
        self._plan = plan
        self._records = records
        self._watch = watch
        self._own = own
        self._launched = launched
        self._id = run_id
        self._budget = budget
        self._found = found

    def first_lifetime(self) -> int:
        """Give the lifetime to go on with; what a server that is gone had begun is made anew."""
        if not self._launched:
            return 0
        every = range(self._plan["lifetimes"])
        first = next((one for one in every if not self._complete(one)), len(every) - 1)
        if not self._complete(first):
            self._records.forget_lifetimes(first, self._main())
        return first

    def _complete(self, lifetime: int) -> bool:
        keys = {
            (at, lifetime, number)
            for at in self._main()
            if not self._why_not(self._every[at])
            for number in range(self._every[at].per_lifetime)
        }
        return keys <= set(self._records.rounds)

    def _main(self) -> list[int]:
        """Give the places of cells of the server itself, the user's prompts last."""
        return [at for at, cell in enumerate(self._every) if cell.control not in POSITIVE]

    async def lifetime(self, dialogue: Dialogue, lifetime: int) -> None:
        """Make the rounds of one lifetime that are not recorded yet."""
        await self.rounds(dialogue, self._main(), lifetime)

    async def rounds(self, dialogue: Dialogue, places: Iterable[int], lifetime: int) -> None:
        """Make the rounds of cells in a lifetime that are not recorded yet."""
        import httpx

        for at in places:
            cell = self._every[at]
            if self._why_not(cell):
                continue
            for number in range(cell.per_lifetime):
                if (at, lifetime, number) in self._records.rounds:
                    continue
                try:
                    one = await self._timed(dialogue, at, lifetime, number)
                except TimeoutError:
                    self.stop("budget", "the budget is spent")
                    return
                except (httpx.HTTPError, StatusError) as fault:
                    told = f"{type(fault).__name__} while its cache was reset"
                    self.stop("down", told)
                    return
                self._records.add(at, one)
                self._watch.made(at, one)
            if self._failed(at, lifetime) and not await self._alive(dialogue):
                self.stop("down", "the server answers no request any more")
                return

    async def _timed(self, dialogue: Dialogue, at: int, lifetime: int, number: int) -> Round:
        """Make a round that is expected to end in time; one that does not is ended.

        Raises:
            TimeoutError: there is no time for it, or no longer.
        """
        expected = round_seconds(self.costed[at], number, self._found)
        if not self._budget.allows(expected):
            raise TimeoutError
        began = time.monotonic()
        async with self._budget.limit():
            one = await self._round(dialogue, at, lifetime, number)
        self._budget.learn(expected, time.monotonic() - began)
        return one

    async def _round(self, dialogue: Dialogue, at: int, lifetime: int, number: int) -> Round:
        cell, place = self._every[at], self._records.place
        if at < len(self.cells) or self._own is None:
            return await run_round(dialogue, self._plan, cell, lifetime, number, place, self._id)
        return await own_prompts.run_round(
            dialogue,
            self._own,
            self._plan,
            cell,
            lifetime,
            number,
            place,
            self._id,
            self._watch.say,
        )

    def stop(self, reason: str, why: str) -> None:
        """Make no further rounds, for a reason of the data."""
        self.stopped = reason
        self._watch.say(f"no further rounds: {why}")

    def _failed(self, at: int, lifetime: int) -> bool:
        rounds = self._records.rounds.items()
        return any(one.failures for key, one in rounds if key[:2] == (at, lifetime))

    async def _alive(self, dialogue: Dialogue) -> bool:
        """Whether the server answers a small request."""
        units = (20, 21, 22) if self._plan["form"] == "tokens" else "the of and"
        reply, patience = Reply(), dialogue.timeout
        dialogue.timeout = min(patience, ALIVE_SECONDS)
        await dialogue.send(Ask(units, 1, stream=False), time.monotonic_ns, reply)
        dialogue.timeout = patience
        return reply.answer is not None

    def _why_not(self, cell: PlannedCell) -> str:
        """Give why a cell is not run at all; empty where it is."""
        if not set(cell.needs) <= set(self._plan["offers"]):
            return "not_offered"
        return "too_long" if cell.longest > self._plan["context"] else ""

    def reasons(self) -> dict[int, str]:
        """Give by place why rounds of a cell are lacking, the user's prompts last; else empty."""
        return {at: self._reason(at, cell) for at, cell in enumerate(self._every)}

    def _reason(self, at: int, cell: PlannedCell) -> str:
        made = sum(key[0] == at for key in self._records.rounds)
        lacking = made < cell.lifetimes * cell.per_lifetime
        return self._why_not(cell) or (self.stopped if lacking else "")

    def prompts_seen(self, cells: Sequence[CellSeen]) -> PromptsSeen | None:
        """Give what was seen of the user's prompts; None where there are none.

        Args:
            cells: all that were seen.
        """
        if self._own is None:
            return None
        return own_prompts.collected(self._own, tuple(cells[len(self.cells) :]))
