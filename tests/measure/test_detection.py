"""A batch budget is found beside prefills that are refused, and left alone where all are."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from lockstep.measure.observation import Sample
from lockstep.measure.probe_records import budget_of
from lockstep.measure.probes import MOST_REFUSED, Design, Entry, Probing
from lockstep.measure.window import refusal
from tests.measure.probed import taken

BUDGET = 64


class Scripted(Probing):
    """Takes samples of a server that follows the law, the clock being set during some."""

    def __init__(self, stepped: set[int]) -> None:
        described = SimpleNamespace(chunk=None, context=4096)
        known = SimpleNamespace(
            metrics={"steps": "lockstep_steps_total"},
            found=SimpleNamespace(description=described),
            arm=SimpleNamespace(name="small"),
        )
        server: Any = SimpleNamespace(wanted=SimpleNamespace(name="small"), known=known)
        super().__init__([server], Design("tokens", 10, 246, 1, 1))
        self.stepped = stepped

    @asynccontextmanager
    async def _opened(self, server: Any) -> AsyncIterator[Any]:
        yield None, 0

    async def _sample(
        self, opened: Any, server: Any, entry: Entry, block: int, process: Any, warm_ups: int
    ) -> Sample:
        requests, around = taken(BUDGET, replace(entry, max_new=(1,)))
        place = len(self._detections)
        if place in self.stepped:
            around = replace(around, clock_us=around.clock_us + 10**9)
        name = f"small-{entry.name}"
        return Sample(name, "small", block, place, 0, warm_ups, 0, requests, around)


@pytest.mark.parametrize("stepped", [set[int](), {0}, {1, 3}])
def test_a_refused_prefill_is_kept_and_sent_again(stepped: set[int]) -> None:
    probing = Scripted(stepped)
    asyncio.run(probing.detect())
    seen = probing.seen(())
    assert [one.name for one in seen.detections] == [
        f"small-budget-{place}" for place in range(len(seen.detections))
    ]
    refused = {one.place for one in seen.detections if refusal(one) == "clock_step"}
    assert refused == stepped
    assert budget_of(seen, "small").exact == BUDGET


def test_a_server_whose_prefills_are_all_refused_is_left_alone() -> None:
    probing = Scripted(set(range(99)))
    asyncio.run(probing.detect())
    seen = probing.seen(())
    assert len(seen.detections) == MOST_REFUSED
    assert budget_of(seen, "small") == (None, None, None)
