"""The sampler's functions one by one, as the protocol of conformance/README.md asks for them."""

import re
from collections.abc import Callable
from itertools import pairwise
from typing import Any

from lockstep_verify.derive import sampling_draws as draws
from lockstep_verify.derive import sampling_numbers as numbers
from lockstep_verify.derive import sampling_positions as positions
from lockstep_verify.derive import sampling_upstream as upstream
from lockstep_verify.derive import sampling_weights as weights
from lockstep_verify.errors import Refusal

V1, UPSTREAM = "sampling/v1", "upstream-1.0.0"
_TOKENS = 10**10
_WEIGHTS_MOST = 1 << 18
_INTEGER = re.compile(r"0|-?[1-9][0-9]*")
_EXPONENT = re.compile(r"0|-0\.[0-9]{0,23}[1-9]|-[1-9][0-9]{0,6}(?:\.[0-9]{0,23}[1-9])?")

Given = dict[str, Any]
Values = dict[str, Any]


def _integer(given: Given, name: str) -> int:
    """Read an integer that may be above 2^53, and so is a text."""
    if not _INTEGER.fullmatch(given[name]):
        raise Refusal("BAD_VALUE", f"/{name}", "a decimal integer", given[name])
    return int(given[name])


def _draws(given: Given) -> Values:
    stream = draws.Stream(given["seed"], _integer(given, "counter"))
    n = 1 << 64 if given["below"] is None else _integer(given, "below")
    values = [str(stream.below(n)) for _ in range(given["count"])]
    return {"values": values, "counter": str(stream.counter)}


def _seed(given: Given) -> Values:
    names = ("inference_id", "beacon", "choice", "position")
    return {"seed": draws.seed(_integer(given, "user_seed"), *(given[name] for name in names))}


def _upstream_seed(given: Given) -> Values:
    base = upstream.base_seed(_integer(given, "user_seed"), given["inference_id"])
    return {"seed": f"{base}|{given['position']}"}


def _exp(given: Given) -> Values:
    if not _EXPONENT.fullmatch(given["d"]):
        raise Refusal("BAD_VALUE", "/d", "0 or a plain decimal below it", given["d"])
    d = numbers.exact(given["d"])
    found = numbers.exponential(numbers.rounded(d.c, 1, d.q))
    mantissa = str(found.c).rstrip("0")
    return {
        "mantissa": mantissa,
        "exponent": found.q + numbers.PRECISION - len(mantissa),
    }


def _support(pairs: list[list[str]]) -> list[tuple[str, numbers.Number]]:
    """Read a support, in any order [SAMP-16]."""
    if not 1 <= len(pairs) <= _WEIGHTS_MOST:
        raise Refusal("BAD_VALUE", "/support", f"1 to {_WEIGHTS_MOST} tokens", len(pairs))
    found = []
    for token, text in sorted(pairs):
        number = numbers.logprob(text)
        if number is None or not numbers.is_token(token, _TOKENS):
            raise Refusal("BAD_VALUE", "/support", "a token and its log-probability", token)
        found.append((token, number))
    for (one, _), (other, _) in pairwise(found):
        if one == other:
            raise Refusal("BAD_VALUE", "/support", "distinct tokens", one)
    return found


def _weights(given: Given) -> Values:
    names = ("temperature", "top_k", "top_p", "min_p")
    parameters = weights.resolve(*(given[name] for name in names))
    if parameters.greedy:
        raise Refusal("BAD_VALUE", "/temperature", "0.00001 or more", given["temperature"])
    found = weights.weigh(_support(given["support"]), parameters)
    return {"weights": [list(pair) for pair in found]}


def _upstream_weights(given: Given) -> Values:
    names = ("temperature", "top_k", "top_p", "min_p")
    found = upstream.weigh(dict(given["support"]), *(given[name] for name in names))
    return {"weights": [list(pair) for pair in found]}


def _scan(given: Given) -> Values:
    pairs = [(token, weight) for token, weight in given["weights"]]
    return {"token": draws.scan(pairs, draws.Stream(given["seed"], _integer(given, "counter")))}


def _position(given: Given) -> Values:
    request = positions.read_request(given["request"])
    names = ("choice", "position", "token", "support")
    choice, at, token, support = (given[name] for name in names)
    return {"reason": positions.judge_position(request, choice, at, token, support)}


def _logprobs(support: list[list[str]] | None) -> dict[str, str] | None:
    return None if support is None else {token: text for token, text in support}


def _upstream_position(given: Given) -> Values:
    base, at, token = (given[name] for name in ("base_seed", "index", "token"))
    logprobs = _logprobs(given["logprobs"])
    return {"verdict": upstream.judge_position(given, base, at, token, logprobs)}


def _sequence(given: Given) -> Values:
    request = positions.read_request(given["request"])
    found = positions.judge_sequence(request, given["choice"], given["artifact"])
    return found._asdict()


def _upstream_sequence(given: Given) -> Values:
    signed = [
        {"token": one["token"], "logprobs": _logprobs(one["logprobs"])}
        for one in given["positions"]
    ]
    return upstream.judge_sequence(given, given["base_seed"], signed)


_OWN: dict[str, Callable[[Given], Values]] = {
    "sampling_draws": _draws,
    "sampling_seed": _seed,
    "sampling_exp": _exp,
    "sampling_weights": _weights,
    "sampling_scan": _scan,
    "sampling_position": _position,
    "sampling_sequence": _sequence,
}
_UPSTREAM = {
    "sampling_seed": _upstream_seed,
    "sampling_weights": _upstream_weights,
    "sampling_position": _upstream_position,
    "sampling_sequence": _upstream_sequence,
}


def perform(given: Given) -> Values:
    """Give what a function of a profile gives.

    Args:
        given: a request of the protocol, its op one of the sampler's.

    Raises:
        Refusal: BAD_VALUE, an input that the function refuses; USAGE, no such profile.
    """
    profile, op = given.get("profile", V1), given["op"]
    if profile not in (V1, UPSTREAM):
        raise Refusal("USAGE", expected=[V1, UPSTREAM], got=profile)
    function = _UPSTREAM.get(op) if profile == UPSTREAM else None
    return (function or _OWN[op])(given)
