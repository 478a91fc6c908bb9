"""How far what was signed is from what was recomputed, in integers alone (spec/distance.md).

Each measure is the least that two distributions with these supports can have: a token that was not
signed is at most as likely as the least that was, and nothing else is assumed of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from lockstep import spec
from lockstep.errors import LockstepError
from lockstep.sampling.exp_digits import DIGITS, PLACES, exp_digits
from lockstep.sampling.number import is_logprob, require_token

MOST = (1 << 53) - 1
"""What a measure is told as where it is above this."""

_MAE_UNIT = 10 ** (PLACES - 12)
_KL_UNIT = 10 ** (DIGITS + PLACES - 15)
_SCALE: int = 10**DIGITS
_ONE: int = 10**PLACES

Values = Mapping[str, int]
"""Log-probabilities by token, in units of 10^-24 nat."""


class Measures(NamedTuple):
    """The measures of a position [DIST-4].

    Attributes:
        mae: mean absolute difference over the union, in 10^-12 nat.
        kl: divergence of what was signed from what was recomputed, in 10^-15 nat.
        max: largest absolute difference over the union, in 10^-12 nat.
    """

    mae: int
    kl: int
    max: int


def values(support: Mapping[str, str] | Iterable[tuple[str, str]], place: str = "") -> Values:
    """Read a support's log-probabilities, each token once, in any order.

    Raises:
        LockstepError: WRONG_TYPE, BAD_VALUE at the token.
    """
    read: dict[str, int] = {}
    for token, text in support.items() if isinstance(support, Mapping) else support:
        require_token(token, place)
        if token in read or not is_logprob(text):
            expected = "one canonical log-probability"
            raise LockstepError("BAD_VALUE", f"{place}/{token}", expected, str(text)[:60])
        read[token] = _units(text)
    return read


def top(given: Values, count: int) -> tuple[str, ...]:
    """Give the likeliest tokens, of equal ones the first in string order [DIST-1]."""
    return tuple(sorted(given, key=lambda token: (-given[token], token))[:count])


def measure(signed: Values, recomputed: Values) -> Measures:
    """Measure a position [DIST-2] to [DIST-4].

    Args:
        signed: 1 token or more.
        recomputed: holds every token of `signed`, and the likeliest of all, as many.

    Raises:
        LockstepError: BAD_VALUE, a support has too few tokens, or lacks one that was signed.
    """
    absent = next((token for token in signed if token not in recomputed), None)
    if not signed or absent is not None:
        got = "no token" if absent is None else f"not {absent}"
        raise LockstepError("BAD_VALUE", "/recomputed", "every token that was signed", got)
    least = min(signed.values())
    union = {*signed, *top(recomputed, len(signed))}
    whole = largest = divergence = 0
    for token in union:
        r = recomputed[token]
        s = signed.get(token, min(r, least))
        apart = abs(s - r)
        whole += apart
        largest = max(largest, apart)
        if apart:
            p, q = exp_digits(s), exp_digits(r)
            divergence += p * (s - r) + (q - p) * _ONE
    return Measures(
        min(MOST, whole // (len(union) * _MAE_UNIT)),
        min(MOST, max(0, divergence) // _KL_UNIT),
        min(MOST, largest // _MAE_UNIT),
    )


def quantile(given: Iterable[int], permille: int) -> int:
    """Give the number of rank ⌈permille · N ÷ 1000⌉ in ascending order [DIST-6].

    Args:
        given: 1 number or more.
        permille: 1 to 1000.
    """
    ordered = sorted(given)
    return ordered[-(-permille * len(ordered) // 1000) - 1]


def statistics(positions: Sequence[Measures]) -> tuple[int, ...]:
    """Give the statistic of each gate of a sequence of 1 position or more [DIST-7]."""
    gates = spec.load("distance-calibration.json")["gates"]
    return tuple(
        quantile((getattr(one, gate["measure"]) for one in positions), gate["permille"])
        for gate in gates
    )


def beyond(found: Sequence[int], thresholds: Sequence[int]) -> bool:
    """Tell whether a statistic is above its threshold [DIST-8]."""
    return any(one > most for one, most in zip(found, thresholds, strict=True))


def has_mass(given: Values, count: int, vocab_size: int) -> bool:
    """Tell whether a support can be of a distribution over a vocabulary [DIST-13].

    Args:
        given: a support's values.
        count: tokens that are the likeliest of all, no other token of the vocabulary more so.
        vocab_size: entries of a row of logits.
    """
    data = spec.load("distance-calibration.json")
    most, least = int(data["mass_most_permille"]), int(data["mass_least_permille"])
    powers = {token: exp_digits(value) for token, value in given.items()}
    mass = sum(powers.values())
    rest = (vocab_size - len(given)) * min(powers[token] for token in top(given, count))
    return 1000 * mass <= most * _SCALE and 1000 * (mass + rest) >= least * _SCALE


def _units(text: str) -> int:
    whole, _, part = text.removeprefix("-").partition(".")
    return -int(whole + part.ljust(PLACES, "0"))
