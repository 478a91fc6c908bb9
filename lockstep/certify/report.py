"""What the reports for machines have in common: a cell's name, and what is to be said of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Cell = Mapping[str, Any]
"""A cell as the certificate has it."""

SAYS = {
    "clean": "All answers to one request were the same.",
    "divergent": "One request got different answers.",
    "first_run_only": "The first round differs from all later ones: a cache or warm-up effect.",
    "missing": "The server does not report what was to be compared.",
    "not_cached": "The reported cached tokens contradict the condition; the cell is not scored.",
    "not_batched": "No batch formed, by the server's gauge or the times; the cell is not scored.",
    "not_alone": "Others ran beside what was sent one by one; the cell is not scored.",
    "malformed": "An answer cannot be one to its request.",
    "error": "A request failed.",
    "hang": "A request did not end in time.",
    "not_run": "Rounds of the plan are lacking.",
}
"""One sentence for each verdict of a cell [CERT-16]."""

POSITIVE = ("positive", "positive_sequential")
"""Controls whose differences are what they are for."""


def name(cell: Cell) -> str:
    """Give a cell's condition in words."""
    condition = f"cache {cell['cache']}, filler {cell['filler']}, order {cell['order']}"
    return condition if cell["control"] is None else f"control {cell['control']}, {condition}"


def seconds(cell: Cell) -> str:
    """Give the time that a cell's rounds took, in seconds with milliseconds."""
    whole = sum(max(one["end_us"], default=0) for one in cell["rounds"]) // 1000
    return f"{whole // 1000}.{whole % 1000:03d}"


def message(cell: Cell) -> str:
    """Give the sentence of a cell's verdict with what is known of the first difference."""
    text = SAYS[cell["verdict"]]
    if cell["reason"]:
        text += f" Reason: {cell['reason']}."
    first = cell["first"]
    if first is not None:
        text += (
            f" {', '.join(cell['kinds'])} differ; first by scope {first['scope']}: request "
            f"{first['request']}, {_round(first['a'])} and {_round(first['b'])}"
        )
        text += "" if first["position"] is None else f", position {first['position']}"
        text += "" if first["delta"] is None else f", difference {first['delta']}"
        text += "."
    statistics = cell["statistics"]
    if statistics is not None:
        text += f" {_rate(statistics)}"
    return text


def _round(where: Mapping[str, int]) -> str:
    return f"cell {where['cell']} lifetime {where['lifetime']} round {where['number']}"


def _rate(statistics: Mapping[str, Any]) -> str:
    rounds, differing = statistics["rounds"], statistics["differing"]
    if differing:
        low, high = (percent(statistics[f"{end}_ppm"]) for end in ("low", "high"))
        return f"{differing} of {rounds} rounds apart; rate {low} to {high} at 95 %."
    missed = percent(statistics["missed_ppm"])
    return f"{rounds} rounds: a rate of up to {missed} would have been missed at 95 %."


def percent(ppm: int) -> str:
    """Write parts per million in percent, with four decimals."""
    return f"{ppm // 10_000}.{ppm % 10_000:04d} %"
