"""Counts of what an execution exercised, so that a comparison can show that it was about it."""

from collections import Counter
from collections.abc import Sequence

from lockstep.engine.backend import SPLIT
from lockstep.engine.events import Event, Work

NAMES = (
    "steps",
    "batches",
    "rows",
    "output_rows",
    "batch_rows_max",
    "batch_requests_max",
    "shared_batches",
    "admissions",
    "cache_hits",
    "hit_blocks",
    "foreign_hit_blocks",
    "chunks",
    "decodes",
    "evictions",
    "preemptions",
    "resumes",
    "finishes",
    "published_blocks",
    "recomputed_rows",
    "split_rows",
    "splits_crossed",
    "drawn_tokens",
    "stopped",
)
"""Every counter [ENG-22]; one that nothing happened to is 0, not absent."""

_BY_EVENT = {
    "admit": "admissions",
    "cache_hit": "cache_hits",
    "chunk": "chunks",
    "decode": "decodes",
    "evict": "evictions",
    "preempt_rc": "preemptions",
    "resume": "resumes",
    "finish": "finishes",
}


class Counters:
    """The counters of one execution."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._computed: dict[int, int] = {}
        self._publishers: dict[int, str] = {}

    def event(self, event: Event) -> None:
        """Count an event that took effect."""
        self._counts[_BY_EVENT[event.event]] += 1
        self._counts["published_blocks"] += len(event.published)
        if event.event == "cache_hit":
            self._counts["hit_blocks"] += len(event.blocks)
            foreign = sum(self._publishers[block] != event.request for block in event.blocks)
            self._counts["foreign_hit_blocks"] += foreign
        self._publishers.update(dict.fromkeys(event.published, event.request))

    def batch(self, work: Sequence[Work], drawn: int) -> None:
        """Count a step's rows, of which `drawn` yielded a token by a draw."""
        counts = self._counts
        counts["steps"] += 1
        counts["drawn_tokens"] += drawn
        if not work:
            return
        rows = sum(len(item.tokens) for item in work)
        counts["batches"] += 1
        counts["rows"] += rows
        counts["output_rows"] += sum(item.emits for item in work)
        counts["shared_batches"] += len(work) > 1
        counts["batch_rows_max"] = max(counts["batch_rows_max"], rows)
        counts["batch_requests_max"] = max(counts["batch_requests_max"], len(work))
        for item in work:
            end = item.first + len(item.tokens)
            counts["split_rows"] += max(0, end - max(item.first, SPLIT))
            counts["splits_crossed"] += (end - 1) // SPLIT - max(item.first - 1, 0) // SPLIT
            before = self._computed.get(item.number, 0)
            counts["recomputed_rows"] += max(0, min(before, end) - item.first)
            self._computed[item.number] = max(before, end)

    def stopped(self) -> None:
        """Count a request that emitted a token that ends it."""
        self._counts["stopped"] += 1

    def totals(self) -> dict[str, int]:
        """Give every counter by name."""
        return {name: self._counts[name] for name in NAMES}
