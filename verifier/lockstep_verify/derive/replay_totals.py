"""Coverage and counts of an execution [RPL-5] [RPL-6]."""

from typing import Any

from lockstep_verify import spec
from lockstep_verify.derive.replay_ledger import Row
from lockstep_verify.errors import Refusal

_AT = "/predicate"
_COUNTS = "H10_COUNTS_DO_NOT_RECOMPUTE"
SPLIT = 512
"""Positions of an attention split [KERN-14]."""


def legal(n: int) -> int:
    """Give the number of legal n-grams [LIFE-3]; cells for n = 1 [RPL-5]."""
    cells = spec.load("lifecycle.json")["cells"]
    if n == 1:
        return len(cells)
    words: set[tuple[tuple[str, ...], str]] = {((cell["event"],), cell["next"]) for cell in cells}
    for _ in range(n - 1):
        words = {
            ((*word, cell["event"]), cell["next"])
            for word, state in words
            for cell in cells
            if cell["state"] == state
        }
    return len({word for word, _ in words})


def _cells(logs: list[list[str]]) -> int:
    """Give the number of distinct cells that logs of events show."""
    data = spec.load("lifecycle.json")
    following = {(cell["state"], cell["event"]): cell["next"] for cell in data["cells"]}
    shown = set()
    for log in logs:
        state = data["initial"]
        for event in log:
            shown.add((state, event))
            state = following[state, event]
    return len(shown)


def check_coverage(stated: dict[str, Any], logs: list[list[str]]) -> None:
    """Compare what the relation admits, and what the requests show of it.

    Raises:
        Refusal: COVERAGE_DENOMINATOR_NOT_DERIVED, H10_COUNTS_DO_NOT_RECOMPUTE.
    """
    seen: dict[tuple[str, ...], int] = {}
    for n in (2, 3):
        for log in logs:
            for first in range(len(log) - n + 1):
                word = tuple(log[first : first + n])
                seen[word] = seen.get(word, 0) + 1
    shown = {1: _cells(logs), **{n: sum(len(word) == n for word in seen) for n in (2, 3)}}
    for i, covered in enumerate(stated["covered"]):
        at = f"{_AT}/coverage/covered/{i}"
        for code, member, value in (
            (_COUNTS, "n", i + 1),
            ("COVERAGE_DENOMINATOR_NOT_DERIVED", "legal", legal(i + 1)),
            (_COUNTS, "shown", shown[i + 1]),
        ):
            if covered[member] != value:
                raise Refusal(code, f"{at}/{member}", value, covered[member])
    ordered = sorted(seen.items(), key=lambda item: (len(item[0]), item[0]))
    expected = [{"events": list(word), "count": count} for word, count in ordered]
    if stated["n_grams"] != expected:
        raise Refusal(_COUNTS, f"{_AT}/coverage/n_grams", expected, "other n-grams")


def check_totals(predicate: dict[str, Any], rows: list[Row]) -> dict[str, int]:
    """Compare the counts, and give them [RPL-6].

    Raises:
        Refusal: H10_COUNTS_DO_NOT_RECOMPUTE.
    """
    events = [event for step in predicate["events"] for event in step]
    named = [event["event"] for event in events]
    hits = (event for event in events if event["event"] == "cache_hit")
    counts = {
        "steps": len(predicate["events"]),
        "batches": sum(
            any(event["event"] in ("chunk", "decode") for event in step)
            for step in predicate["events"]
        ),
        "requests": len(predicate["outputs"]),
        "events": len(events),
        "rows": len(rows),
        "tokens": sum(row.output for row in rows),
        "hit_blocks": sum(len(event["blocks"]) for event in hits),
        "evictions": named.count("evict"),
        "preemptions": named.count("preempt_rc"),
        "stopped": sum(output["reason"] == "eos" for output in predicate["outputs"]),
        "split_rows": sum(row.position >= SPLIT for row in rows),
    }
    for name, count in counts.items():
        if predicate["counts"][name] != count:
            at = f"{_AT}/counts/{name}"
            raise Refusal(_COUNTS, at, count, predicate["counts"][name])
    return counts
