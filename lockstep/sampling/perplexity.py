"""Perplexity of reported log-probabilities: telemetry, which enters no verdict [DIST-26].

Floats, and in the order given: two machines may differ in the last digit.
"""

import math
from collections.abc import Iterable, Mapping, Sequence

FLOOR = -10.0
"""What a sampled token counts that was not reported, or is less likely than this."""


def metric(logprobs: Sequence[float]) -> float:
    """Give the geometric mean of probabilities, 1 / perplexity; 0 where there are none."""
    return math.exp(math.fsum(logprobs) / len(logprobs)) if logprobs else 0.0


def perplexity(logprobs: Sequence[float]) -> float | None:
    """Give the perplexity, None where there is nothing to take it of."""
    return math.exp(-math.fsum(logprobs) / len(logprobs)) if logprobs else None


def sampled(
    positions: Iterable[tuple[str, Mapping[str, str] | None]], floor: float = FLOOR
) -> list[float]:
    """Give the log-probability of each sampled token, or the floor.

    Args:
        positions: each token with what was reported at its position.
        floor: of what is missing, and of all others.
    """
    return [max(floor, float((reported or {}).get(token, floor))) for token, reported in positions]
