"""Profile upstream-1.0.0: another project's contract as its code behaves [SAMP-41] to [SAMP-46].

It is here to be compared with, faults included: lax numbers, weights below 0, verdicts that an
executor chooses. Nothing is certified under it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal, DecimalException
from typing import NamedTuple, TypeVar

from lockstep import spec
from lockstep.errors import LockstepError
from lockstep.sampling import pipeline
from lockstep.sampling.categorical import draw
from lockstep.sampling.seed import upstream_position_seed

_NUMBER = re.compile(
    r"[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?|inf|infinity)", re.IGNORECASE
)
_SPACE = " \t\n\v\f\r"
_ZERO = Decimal(0)
T = TypeVar("T")


@dataclass(frozen=True)
class UpstreamParameters:
    """Parameters as a payload of that contract states them; nothing turns a filter off but None."""

    temperature: str
    top_k: int | None = None
    top_p: str | None = None
    min_p: str | None = None
    greedy: bool = False
    contract_version: str = "1.0.0"
    seed_domain: str = "gonka-deterministic-sampling-v1"


class UpstreamVerdict(NamedTuple):
    """What a sequence came to.

    Attributes:
        verdict: `honest`, `fraud` or `inconclusive`.
        fraud_position: the first fraud, or -1.
        honest: positions judged so before it.
        inconclusive: likewise.
    """

    verdict: str
    fraud_position: int
    honest: int
    inconclusive: int


def number(text: str) -> Decimal:
    """Read a number as that contract's code does: spaces, underscores, infinity [SAMP-41].

    Raises:
        LockstepError: BAD_VALUE.
    """
    limits = spec.load("sampling.json")["upstream"]
    bare = text.strip(_SPACE).replace("_", "")
    if len(text) > limits["text_most"] or not _NUMBER.fullmatch(bare):
        raise LockstepError("BAD_VALUE", "/number", "a number", repr(text[:64]))
    value = Decimal(bare)
    if value.is_finite() and value and abs(value.adjusted()) > limits["exponent_most"]:
        raise LockstepError("BAD_VALUE", "/number", "a smaller exponent", repr(text[:64]))
    return value


def weights(support: Mapping[str, str], parameters: UpstreamParameters) -> dict[str, int]:
    """Give weights by that contract, in string order; one may be negative [SAMP-43].

    Raises:
        LockstepError: BAD_VALUE, where that contract's code raises.
    """
    try:
        return _weights(support, parameters)
    except DecimalException as fault:
        raise LockstepError("BAD_VALUE", "/support", "a result", type(fault).__name__) from fault


def _weights(support: Mapping[str, str], parameters: UpstreamParameters) -> dict[str, int]:
    if not support:
        raise LockstepError("BAD_VALUE", "/support", "1 token or more", "none")
    arithmetic = pipeline.context()
    tokens = sorted(support)
    powers = pipeline.exponentials(
        [number(support[token]) for token in tokens],
        number(parameters.temperature),
        spec.load("sampling.json")["upstream"]["gap_least"],
        arithmetic,
    )
    kept = pipeline.chances(tokens, powers, arithmetic)
    if parameters.top_k is not None:
        kept = pipeline.top_k(kept, parameters.top_k)
    if kept and parameters.top_p is not None:
        kept = pipeline.top_p(kept, number(parameters.top_p), arithmetic)
    if kept and parameters.min_p is not None:
        likeliest = pipeline.ranked(kept)[0]
        kept = pipeline.min_p(kept, number(parameters.min_p), arithmetic) or [likeliest]
    if not kept:
        raise LockstepError("BAD_VALUE", "/support", "a token that filters keep", "none")
    norm = pipeline.total([chance.p for chance in kept], arithmetic)
    whole: int = spec.load("sampling.json")["total"]
    given = {
        chance.token: _rounded(arithmetic.multiply(arithmetic.divide(chance.p, norm), whole))
        for chance in kept
    }
    largest = max(given, key=lambda token: (given[token], token))
    given[largest] += whole - sum(given.values())
    return given


def _rounded(value: Decimal) -> int:
    return int(value.to_integral_value(rounding=ROUND_HALF_EVEN))


def replay(
    base: str,
    parameters: UpstreamParameters,
    positions: Sequence[tuple[Mapping[str, str] | None, str]],
) -> UpstreamVerdict:
    """Judge a sequence by that contract [SAMP-45, SAMP-46].

    Args:
        base: the base seed.
        parameters: as the payload states them.
        positions: log-probabilities, or None where there are none, and the reported token.
    """
    if _refused(parameters) or not _bounded(parameters):
        return UpstreamVerdict("inconclusive", -1, 0, 0)
    honest = inconclusive = 0
    for index, (support, token) in enumerate(positions):
        drawn = _drawn(upstream_position_seed(base, index), parameters, support)
        if drawn is None:
            inconclusive += 1
        elif drawn != token:
            return UpstreamVerdict("fraud", index, honest, inconclusive)
        else:
            honest += 1
    return UpstreamVerdict("honest" if honest else "inconclusive", -1, honest, inconclusive)


def _refused(parameters: UpstreamParameters) -> bool:
    known = spec.load("sampling.json")["upstream"]
    return (
        parameters.contract_version != known["contract_version"]
        or parameters.seed_domain != known["seed_domain"]
        or parameters.greedy
    )


def _bounded(parameters: UpstreamParameters) -> bool:
    top_k = parameters.top_k
    return (top_k is not None and top_k > 0) or _above_zero(parameters.min_p)


def _above_zero(text: str | None) -> bool:
    return text is not None and bool(_tried(lambda: number(text) > _ZERO))


def _drawn(
    seed: str, parameters: UpstreamParameters, support: Mapping[str, str] | None
) -> str | None:
    """Give the token that a replay draws, None where it cannot."""
    if not support or not _above_zero(parameters.temperature):
        return None
    return _tried(lambda: draw(weights(support, parameters), seed))


def _tried(act: Callable[[], T]) -> T | None:
    try:
        return act()
    except LockstepError:
        return None
