"""How a run of the certifier goes on: a live table on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from lockstep.certify import plan as plans
from lockstep.certify.watch import PlanOnly

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.live import Live

    from lockstep.certify.adapters.adapter import Adapter
    from lockstep.certify.cells import PlannedCell
    from lockstep.certify.observation import Round
    from lockstep.certify.probe import Found
    from lockstep.certify.results import Records


class Progress:
    """What is known of each cell of a run while it goes on; verdicts come with its end.

    Everything goes to standard error, so that standard output is the result's.

    Args:
        plan_only: whether to stop once the plan is told.
        quiet: whether only what a user must know is told.
        records: of the run; those of an earlier one that it goes on with count as done.

    Attributes:
        model: that is asked; empty until the plan is known.
    """

    def __init__(
        self, plan_only: bool = False, quiet: bool = False, records: Records | None = None
    ) -> None:
        self.model = ""
        self._plan_only = plan_only
        self._quiet = quiet
        self._cells: Sequence[PlannedCell] = ()
        self._records = records
        self._made: Counter[int] = Counter()
        self._peaks: dict[int, int] = {}
        self._failures: dict[int, int] = {}
        self._began = time.monotonic()
        self._expected = 0.0
        self._live: Live | None = None

    def say(self, text: str) -> None:
        """Take a line for people."""
        if self._live is not None:
            self._live.console.print(text, markup=False, highlight=False)
        elif not self._quiet:
            print(f"lockstep: {text}", file=sys.stderr, flush=True)

    def planned(
        self, adapter: Adapter, plan: dict[str, Any], cells: Sequence[PlannedCell], found: Found
    ) -> None:
        """Take the plan, and tell it."""
        from lockstep.certify.adapters.catalogue import is_verified

        self._cells, self._expected = cells, plans.seconds(cells, found)
        self._began = time.monotonic()
        self.model = adapter.model
        if self._plan_only:
            for line in (
                f"adapter {adapter.name}, model {adapter.model}",
                *_told(plan, cells, found),
            ):
                print(line)
            raise PlanOnly
        self.say(f"adapter {adapter.name}, model {adapter.model}")
        if not is_verified(adapter.name):
            self.say("unverified adapter: no certificate of a real server of this kind is at hand")
        for line in plans.show(plan, cells, found):
            self.say(line)

    def made(self, cell: int, one: Round) -> None:
        """Take a round."""
        self._made[cell] += 1
        self._peaks[cell] = max(self._peaks.get(cell, 0), one.peak_running or 0)
        self._failures[cell] = self._failures.get(cell, 0) + len(one.failures)
        if self._live is not None:
            self._live.update(self._table())
        elif not self._quiet and one.number == self._cells[cell].per_lifetime - 1:
            self.say(self._line(cell))

    def ended(self) -> None:
        """Say how long the rounds took that were made, beside what was expected of all."""
        made = sum(self._made.values())
        every = sum(one.lifetimes * one.per_lifetime for one in self._cells)
        took = time.monotonic() - self._began
        self.say(
            f"{made:,} of {every:,} rounds in {took:.0f} s; "
            f"for all of them {self._expected:.0f} s were expected"
        )

    @contextmanager
    def shown(self) -> Iterator[None]:
        """Show a table that follows the run, where somebody looks at it."""
        if self._plan_only or self._quiet or not sys.stderr.isatty():
            yield
            return
        from rich.console import Console
        from rich.live import Live

        with Live(console=Console(stderr=True), transient=True, refresh_per_second=4) as self._live:
            try:
                yield
            finally:
                self._live = None

    @property
    def _done(self) -> Counter[int]:
        """Rounds of each cell that are done."""
        if self._records is None:
            return self._made
        return Counter(cell for cell, _, _ in self._records.rounds)

    def _line(self, at: int) -> str:
        cell, done = self._cells[at], self._done
        total = sum(done.values())
        every = sum(one.lifetimes * one.per_lifetime for one in self._cells)
        failed = f", {self._failures[at]} failures" if self._failures[at] else ""
        return (
            f"{total}/{every} {_name(cell)}: {done[at]} rounds, "
            f"at most {self._peaks[at]} running{failed}"
        )

    def _table(self) -> RenderableType:
        from rich import box
        from rich.table import Table
        from rich.text import Text

        done = self._done
        total = sum(done.values())
        every = sum(one.lifetimes * one.per_lifetime for one in self._cells)
        spent = int(time.monotonic() - self._began)
        title = f"{total} of {every} rounds, {spent} s (about {int(self._expected) + 1} s in all)"
        table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD)
        for column in ("case", "cells", "rounds", "running at most", "failures"):
            table.add_column(column)
        for case in dict.fromkeys(one.case for one in self._cells):
            places = [at for at, one in enumerate(self._cells) if one.case == case]
            wanted = sum(self._cells[at].lifetimes * self._cells[at].per_lifetime for at in places)
            row = (
                case,
                str(len(places)),
                f"{sum(done[at] for at in places)}/{wanted}",
                str(max(self._peaks.get(at, 0) for at in places)),
                str(sum(self._failures.get(at, 0) for at in places)),
            )
            table.add_row(*map(Text, row))
        return table


def _told(plan: dict[str, Any], cells: Sequence[PlannedCell], found: Found) -> list[str]:
    """Give the plan with a line for each of its cells."""
    lines = plans.show(plan, cells, found)
    return [*lines, *(f"    {_name(one)}: {len(one.requests)} requests" for one in cells)]


def _name(cell: PlannedCell) -> str:
    if cell.control is not None:
        return f"{cell.case} [{cell.control}]"
    return f"{cell.case} cache {cell.cache}, filler {cell.filler}, order {cell.order}"
