"""A run of probes as if it had been made: two servers of one budget each, counted honestly."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lockstep.measure.observation import Body, Request, Sample, Window
from lockstep.measure.order import shuffled
from lockstep.measure.probe_claim import measurement_document
from lockstep.measure.probes import Design, Entry, Probed
from tests.measure.runs import arm, window

BODIES = tuple(
    Body(
        "/v1/completions",
        (
            ("ignore_eos", "on"),
            ("max_tokens", str(count)),
            ("stream", "on"),
            ("temperature", "0"),
            ("top_k", "-1"),
            ("top_p", "1"),
        ),
    )
    for count in (1, 4)
)
BUDGETS = {"small": 64, "large": 128}
ENTRIES = (
    Entry("prefill-32", "prefill", (32,), (1,)),
    Entry("prefill-65", "prefill", (65,), (1,)),
    Entry("prefill-200", "prefill", (200,), (1,)),
    Entry("decode", "decode", (16,), (4,)),
    Entry("stall-200", "stall", (16, 200), (4, 1), 2),
)
LENGTHS = (1, 64, 65, 128, 129)


def request(tokens: int, max_new: int, start: int, first: int, gap: int) -> Request:
    """Give a request whose tokens come one by one."""
    arrivals = tuple(first + gap * place for place in range(max_new))
    body = 0 if max_new == 1 else 1
    return Request(
        tokens, tokens, max_new, max_new, 0, start, first, arrivals[-1] + 1, arrivals, None, body
    )


def taken(budget: int, entry: Entry) -> tuple[tuple[Request, ...], Window]:
    """Give the requests of an entry and their window, by a law that fits exactly.

    A step takes 50 µs and a token 3; a request takes a step besides those of its chunks.
    """
    requests, steps = [], 1
    for at, (tokens, max_new) in enumerate(zip(entry.prompts, entry.max_new, strict=True)):
        chunks = -(-tokens // budget)
        took = 100 + 50 * (chunks + 1) + 3 * tokens
        gap = 60 if entry.probe != "stall" else 50 + 3 * budget
        start = requests[0].arrivals_us[entry.behind - 1] if at else 0
        requests.append(request(tokens, max_new, start, start + took, gap))
        steps += chunks
    tokens, answered = sum(entry.prompts), sum(entry.max_new)
    elapsed = max(one.end_us for one in requests) + 5
    return tuple(requests), window(tokens, answered, elapsed, steps)


def probed(changed: Callable[[Sample], Sample] = lambda one: one, blocks: int = 1) -> Probed:
    """Give a run.

    Args:
        changed: changes a sample.
        blocks: of the run.
    """
    detections: list[Sample] = []
    samples: list[Sample] = []
    begun = 0
    for process, (name, budget) in enumerate(BUDGETS.items()):
        for number, length in enumerate(LENGTHS):
            entry = Entry("budget", "budget", (length,), (1,))
            requests, around = taken(budget, entry)
            detections.append(
                Sample(f"{name}-budget-{number}", name, 0, len(detections), process, 0, begun,
                       requests, around)
            )  # fmt: skip
            begun += around.monotonic_us
    visits = [(block, name) for block in range(blocks) for name in shuffled(1, block, BUDGETS)]
    for process, (block, name) in enumerate(visits, len(BUDGETS)):
        known = {f"{name}-{entry.name}": entry for entry in ENTRIES}
        for own in shuffled(1, block, known):
            requests, around = taken(BUDGETS[name], known[own])
            one = Sample(
                f"{own}-{block}", name, block, len(samples), process, 1, begun, requests, around
            )
            begun += around.monotonic_us
            samples.append(changed(one))
    arms = tuple(arm(name, "subject") for name in BUDGETS)
    return Probed(
        Design("tokens", 10, 246, 1, blocks),
        ENTRIES,
        arms,
        BODIES,
        tuple(detections),
        tuple(samples),
    )


def document(
    changed: Callable[[Sample], Sample] = lambda one: one, blocks: int = 1
) -> dict[str, Any]:
    """Give what a claim is folded from."""
    told = {"model": "m", "runtime": "1", "tokenizer": None}
    return measurement_document(probed(changed, blocks), {name: dict(told) for name in BUDGETS})
