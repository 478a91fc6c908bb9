"""Counters: each by a small execution whose counts are plain to see."""

from __future__ import annotations

from lockstep.engine.counters import NAMES, Counters
from lockstep.engine.events import Event, Work


def work(number: int, first: int, count: int, emits: bool = True) -> Work:
    return Work(number, first, (1,) * count, (0,), emits)


def test_what_did_not_happen_is_zero() -> None:
    assert Counters().totals() == dict.fromkeys(NAMES, 0)


def test_batches_and_rows() -> None:
    counters = Counters()
    counters.batch((work(0, 0, 5, emits=False), work(1, 0, 2)), drawn=1)
    counters.batch((), drawn=0)
    counters.batch((work(0, 5, 1),), drawn=0)
    totals = counters.totals()
    assert (totals["steps"], totals["batches"], totals["shared_batches"]) == (3, 2, 1)
    assert (totals["rows"], totals["output_rows"], totals["drawn_tokens"]) == (8, 2, 1)
    assert (totals["batch_rows_max"], totals["batch_requests_max"]) == (7, 2)


def test_events_by_kind_and_blocks() -> None:
    counters = Counters()
    for event in (
        Event(0, "a", "admit", 0, (), ()),
        Event(0, "a", "decode", 0, (0, 1, 2), (0, 1)),
        Event(1, "a", "preempt_rc", 0, (), ()),
        Event(1, "a", "resume", 0, (), ()),
        Event(1, "a", "cache_hit", 0, (0,), ()),
        Event(1, "b", "admit", 0, (), ()),
        Event(1, "b", "cache_hit", 0, (0, 1), ()),
        Event(1, "b", "evict", 0, (7,), ()),
        Event(1, "b", "chunk", 4, (5,), ()),
        Event(2, "a", "finish", 0, (), ()),
        # A block that is published anew belongs to its new publisher.
        Event(3, "b", "decode", 0, (), (1,)),
        Event(4, "b", "cache_hit", 0, (0, 1), ()),
    ):
        counters.event(event)
    totals = counters.totals()
    assert totals["admissions"] == 2 and totals["decodes"] == 2
    for name in ("preemptions", "resumes", "evictions", "chunks", "finishes"):
        assert totals[name] == 1, name
    assert (totals["cache_hits"], totals["hit_blocks"], totals["foreign_hit_blocks"]) == (3, 5, 3)
    assert totals["published_blocks"] == 3


def test_splits_are_crossed_at_512() -> None:
    def counted(first: int, count: int) -> tuple[int, int]:
        counters = Counters()
        counters.batch((work(0, first, count),), drawn=0)
        return counters.totals()["splits_crossed"], counters.totals()["split_rows"]

    assert counted(0, 512) == (0, 0)
    assert counted(0, 513) == counted(512, 1) == (1, 1)
    assert counted(513, 1) == (0, 1)
    assert counted(511, 2) == (1, 1)
    assert counted(0, 1025) == (2, 513)
    assert counted(1024, 5) == (1, 5)


def test_rows_that_were_computed_before() -> None:
    counters = Counters()
    for item in (
        work(0, 0, 6),
        work(1, 0, 3),
        work(0, 6, 1),
        work(0, 0, 4, emits=False),
        work(0, 4, 4),
    ):
        counters.batch((item,), drawn=0)
    assert counters.totals()["recomputed_rows"] == 4 + 3


def test_requests_that_stopped() -> None:
    counters = Counters()
    counters.stopped()
    counters.stopped()
    assert counters.totals()["stopped"] == 2
