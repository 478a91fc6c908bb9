"""The rounds of a plan against one server after another, from what is recorded to the last."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from lockstep import spec
from lockstep.certify import prompts as own_prompts
from lockstep.certify.ask import Ask
from lockstep.certify.cells import POSITIVE, PlannedCell, planned
from lockstep.certify.client import StatusError
from lockstep.certify.dialogue import Dialogue, Reply
from lockstep.certify.observation import PromptsSeen, Round
from lockstep.certify.requests import FILE
from lockstep.certify.rounds import run_round

if TYPE_CHECKING:
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
        deadline: when no further round is begun, by `time.monotonic`; None for never.

    Attributes:
        cells: of the plan.
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
        deadline: float | None,
    ) -> None:
        self.cells = planned(plan)
        self.stopped = ""
        self._plan = plan
        self._records = records
        self._watch = watch
        self._own = own
        self._launched = launched
        self._id = run_id
        self._deadline = deadline

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
            if at >= len(self.cells) or not self._why_not(self.cells[at])
            for number in range(self._per_lifetime(at))
        }
        return keys <= set(self._records.rounds)

    def _main(self) -> range | list[int]:
        """Give the places of cells of the server itself, those of the user's prompts last."""
        cells = [at for at, cell in enumerate(self.cells) if cell.control not in POSITIVE]
        conditions = len(spec.load(FILE)["eval_conditions"]) if self._own is not None else 0
        return [*cells, *(len(self.cells) + at for at in range(conditions))]

    def _per_lifetime(self, at: int) -> int:
        if at < len(self.cells):
            return self.cells[at].per_lifetime
        return 0 if self._own is None else self._own.repeats

    async def lifetime(self, dialogue: Dialogue, lifetime: int) -> None:
        """Make the rounds of one lifetime that are not recorded yet."""
        await self.rounds(dialogue, (at for at in self._main() if at < len(self.cells)), lifetime)
        if self._own is None or self.stopped or self._prompts_done(lifetime):
            return
        seen = await own_prompts.run_lifetime(
            dialogue,
            self._own,
            lifetime,
            self._records.place,
            "stream" in self._plan["offers"],
            self._watch.say,
        )
        for at, rounds in enumerate(seen):
            for one in rounds:
                self._records.add(len(self.cells) + at, one)

    def _prompts_done(self, lifetime: int) -> bool:
        last = (len(self.cells) + 1, lifetime, (self._own.repeats if self._own else 0) - 1)
        return last in self._records.rounds

    async def rounds(self, dialogue: Dialogue, places: Iterable[int], lifetime: int) -> None:
        """Make the rounds of cells in a lifetime that are not recorded yet."""
        import httpx

        for at in places:
            cell = self.cells[at]
            if self._why_not(cell):
                continue
            for number in range(cell.per_lifetime):
                if (at, lifetime, number) in self._records.rounds:
                    continue
                if self._over_budget():
                    self.stopped = "budget"
                    return
                try:
                    one = await run_round(
                        dialogue, self._plan, cell, lifetime, number, self._records.place, self._id
                    )
                except (httpx.HTTPError, StatusError) as fault:
                    told = f"{type(fault).__name__} while its cache was reset"
                    self._stop("down", told)
                    return
                self._records.add(at, one)
                self._watch.made(at, one)
            if self._failed(at, lifetime) and not await self._alive(dialogue):
                self._stop("down", "the server answers no request any more")
                return

    def _stop(self, reason: str, why: str) -> None:
        self.stopped = reason
        self._watch.say(f"no further rounds: {why}")

    def _over_budget(self) -> bool:
        return self._deadline is not None and time.monotonic() > self._deadline

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

    def reason(self, at: int) -> str:
        """Give why rounds of a cell are lacking; empty where none are."""
        cell = self.cells[at]
        made = sum(key[0] == at for key in self._records.rounds)
        lacking = made < cell.lifetimes * cell.per_lifetime
        return self._why_not(cell) or (self.stopped if lacking else "")

    def prompts_seen(self, rounds: Sequence[tuple[Round, ...]]) -> PromptsSeen | None:
        """Give what was seen of the user's prompts; None where there are none."""
        if self._own is None:
            return None
        lifetimes = self._plan["lifetimes"]
        lacking = any(len(one) < lifetimes * self._own.repeats for one in rounds)
        reason = self.stopped if lacking else ""
        return own_prompts.collected(self._own, [rounds], lifetimes, reason)
