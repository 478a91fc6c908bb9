"""The contract 1.0.0 of another project, as its code behaves (spec/sampling.md, SAMP-41 to 46).

Nothing is certified under it; conformance vectors compare implementations with one another here.
"""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from lockstep_verify.derive.sampling_draws import TOTAL, Stream, framed, require_origin, scan
from lockstep_verify.derive.sampling_numbers import (
    ZERO,
    Number,
    add,
    compare,
    digits,
    divide,
    exponential,
    multiply,
    subtract,
)
from lockstep_verify.derive.sampling_weights import ranked, total_of
from lockstep_verify.errors import Refusal

VERSION = "1.0.0"
DOMAIN = "gonka-deterministic-sampling-v1"
_TEXT_MOST = 64
_EXPONENT_MOST = 400_000
_GAP_LEAST = Number(-2_302_000, 0)
_WHITE = " \t\n\v\f\r"
_FORM = re.compile(
    r"([+-]?)(?:(inf(?:inity)?)|([0-9]+)(?:\.([0-9]*))?(?:e([+-]?[0-9]+))?"
    r"|\.([0-9]+)(?:e([+-]?[0-9]+))?)"
)


class Extended(NamedTuple):
    """A number, or an infinity where `sign` is not 0."""

    sign: int
    number: Number = ZERO


def _fault(what: str, got: object) -> Refusal:
    return Refusal("BAD_VALUE", "", what, got)


def read(text: str) -> Extended:
    """Read a number as this profile does [SAMP-41].

    Raises:
        Refusal: BAD_VALUE, the text is none, too long, or beyond the range of exponents.
    """
    bare = text.strip(_WHITE).replace("_", "")
    form = _FORM.fullmatch(bare.lower()) if bare.isascii() and len(text) <= _TEXT_MOST else None
    if form is None:
        raise _fault("a number", text)
    sign = -1 if form[1] == "-" else 1
    if form[2]:
        return Extended(sign)
    fraction = form[4] or form[6] or ""
    c, q = int((form[3] or "") + fraction), int(form[5] or form[7] or "0") - len(fraction)
    if not c:
        return Extended(0)
    if abs(digits(c) - 1 + q) > _EXPONENT_MOST:
        raise _fault(f"powers of ten within {_EXPONENT_MOST}", text)
    return Extended(0, Number(sign * c, q))


def _over(a: Extended, b: Extended) -> Extended:
    """Give R(a / b)."""
    if b.sign and a.sign:
        raise _fault("no infinity divided by one", a)
    if b.sign:
        return Extended(0)
    if not b.number.c:
        raise _fault("a divisor other than 0", b)
    if a.sign:
        return Extended(a.sign if b.number.c > 0 else -a.sign)
    return Extended(0, divide(a.number, b.number))


def _above(a: Extended, b: Extended) -> bool:
    if a.sign != b.sign:
        return a.sign > b.sign
    return not a.sign and compare(a.number, b.number) > 0


def _power(scaled: Extended, most: Extended) -> Number:
    """Give e^(scaled - most), as a rounded number."""
    if most.sign:
        # What is not this infinity lies infinitely far below it, but then most - most is none.
        raise _fault("no infinity less itself", scaled)
    if scaled.sign:
        return ZERO
    gap = subtract(scaled.number, most.number)
    return ZERO if compare(gap, _GAP_LEAST) < 0 else exponential(gap)


def weigh(
    logprobs: dict[str, str],
    temperature: str,
    top_k: int | None,
    top_p: str | None,
    min_p: str | None,
) -> list[tuple[str, int]]:
    """Give the weights of the tokens that are kept, in string order [SAMP-43].

    Raises:
        Refusal: BAD_VALUE, anything that is an error in this profile.
    """
    tokens = sorted(logprobs, key=lambda token: token.encode("utf-8"))
    if not tokens:
        raise _fault("a token", "none")
    t = read(temperature)
    scaled = [_over(read(logprobs[token]), t) for token in tokens]
    most = scaled[0]
    for one in scaled:
        most = one if _above(one, most) else most
    powers = [_power(one, most) for one in scaled]
    total = total_of(powers)
    probabilities = [divide(power, total) for power in powers]
    places = _filtered(probabilities, top_k, top_p, min_p)
    whole = total_of([probabilities[place] for place in places])
    if not whole.c:
        raise _fault("a sum above 0", whole)
    weights = [_weight(probabilities[place], whole) for place in places]
    # The last in string order among equals.
    largest = max(range(len(weights)), key=lambda place: (weights[place], place))
    weights[largest] += TOTAL - sum(weights)
    return [(tokens[place], weight) for place, weight in zip(places, weights, strict=True)]


def _weight(probability: Number, whole: Number) -> int:
    share = multiply(divide(probability, whole), Number(TOTAL, 0))
    if not share.c or digits(share.c) + share.q < 0:
        return 0
    # A share is below 10^5, and so has digits after the point.
    unit: int = 10**-share.q
    quota, rest = divmod(share.c, unit)
    return quota + (2 * rest > unit or (2 * rest == unit and quota & 1))


def _filtered(
    probabilities: Sequence[Number], top_k: int | None, top_p: str | None, min_p: str | None
) -> list[int]:
    """Give the places of what the filters keep, in string order."""
    ranking = ranked(probabilities)
    if top_k is not None and top_k < len(ranking):
        ranking = ranking[:top_k]
    if top_p is not None:
        ranking = _nucleus(ranking, probabilities, read(top_p))
    if min_p is not None:
        ranking = _floor(ranking, probabilities, read(min_p))
    if not ranking:
        raise _fault("a token that is kept", "none")
    return sorted(ranking)


def _nucleus(ranking: list[int], probabilities: Sequence[Number], least: Extended) -> list[int]:
    total = ZERO
    for count, place in enumerate(ranking, 1):
        total = add(total, probabilities[place])
        if not _above(least, Extended(0, total)):
            return ranking[:count]
    return ranking


def _floor(ranking: list[int], probabilities: Sequence[Number], part: Extended) -> list[int]:
    if not ranking:
        raise _fault("a token that is kept", "none")
    largest = probabilities[ranking[0]]
    if part.sign and not largest.c:
        raise _fault("no infinity times 0", part)
    least = Extended(part.sign, ZERO if part.sign else multiply(largest, part.number))
    passed = [p for p in ranking if not _above(least, Extended(0, probabilities[p]))]
    return passed or ranking[:1]


def base_seed(user_seed: Any, inference_id: Any) -> str:
    """Give the base seed of a request [SAMP-42].

    Raises:
        Refusal: BAD_VALUE, a value outside [SAMP-4].
    """
    require_origin(user_seed, inference_id)
    return framed(DOMAIN, [("user_seed", str(user_seed)), ("inference_id", inference_id)])


def replay(logprobs: dict[str, str], parameters: dict[str, Any], base: str, at: int) -> str:
    """Give the token that is drawn at a position [SAMP-42 to 44].

    Raises:
        Refusal: BAD_VALUE, anything that is an error in this profile.
    """
    names = ("temperature", "top_k", "top_p", "min_p")
    weights = weigh(logprobs, *(parameters[name] for name in names))
    return scan(weights, Stream(f"{base}|{at}"))


def _positive(text: str | None) -> bool:
    try:
        return text is not None and _above(read(text), Extended(0))
    except Refusal:
        return False


def _gated(parameters: dict[str, Any]) -> bool:
    named = (parameters["contract_version"], parameters["seed_domain"]) == (VERSION, DOMAIN)
    return not named or bool(parameters["greedy"])


def judge_position(
    parameters: dict[str, Any], base: str, at: int, token: str, logprobs: dict[str, str] | None
) -> str:
    """Give the verdict on a position [SAMP-45].

    Args:
        parameters: contract_version, seed_domain, greedy, temperature, top_k, top_p, min_p.
        base: the base seed.
        at: the index of the position.
        token: what was sampled, as reported.
        logprobs: log-probabilities by token, None where there are none.
    """
    if _gated(parameters) or not _positive(parameters["temperature"]) or logprobs is None:
        return "inconclusive"
    try:
        return "honest" if replay(logprobs, parameters, base, at) == token else "fraud"
    except Refusal:
        return "inconclusive"


def judge_sequence(
    parameters: dict[str, Any], base: str, positions: list[dict[str, Any]]
) -> dict[str, Any]:
    """Give the verdict on a sequence, with its counts [SAMP-46].

    Args:
        parameters: as for a position.
        base: the base seed.
        positions: each with `token` and `logprobs`.

    Returns:
        verdict, position (of the fraud, else None), honest and inconclusive positions.
    """
    counts = {"honest": 0, "inconclusive": 0}
    bounded = (parameters["top_k"] or 0) > 0 or _positive(parameters["min_p"])
    if _gated(parameters) or not bounded:
        return {"verdict": "inconclusive", "position": None, **counts}
    for at, one in enumerate(positions):
        verdict = judge_position(parameters, base, at, one["token"], one["logprobs"])
        if verdict == "fraud":
            return {"verdict": "fraud", "position": at, **counts}
        counts[verdict] += 1
    verdict = "honest" if counts["honest"] else "inconclusive"
    return {"verdict": verdict, "position": None, **counts}
