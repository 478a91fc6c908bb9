"""Verdicts on signed positions and sequences (spec/sampling.md, SAMP-25 to 37)."""

from collections import Counter
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple

from lockstep_verify import spec
from lockstep_verify.derive.sampling_draws import DOMAIN
from lockstep_verify.derive.sampling_numbers import (
    ONE,
    ZERO,
    Number,
    add,
    compare,
    exact,
    exponential,
    is_token,
    logprob,
    multiply,
    rounded,
)
from lockstep_verify.derive.sampling_weights import (
    GAP_LEAST,
    Parameters,
    exponentials,
    replay,
    resolve,
    total_of,
)

VERSION = "sampling/v1"
SUPPORT_MOST = 1024
_MASS_MOST = exact("1.01")
_MASS_LEAST = exact("0.99")
_FRAUD = "token_differs"

Pairs = list[list[str]]


class Request(NamedTuple):
    """What verdicts need of a request, which is never the executor's to say [SAMP-25, SAMP-27].

    Attributes:
        stated: the request as it stands.
        parameters: its parameters, resolved.
        origin: user seed, inference id and beacon.
        rule: the support rule [SAMP-28].
    """

    stated: dict[str, Any]
    parameters: Parameters
    origin: tuple[int, str, str]
    rule: str

    def available(self, at: int) -> int:
        """Give how many tokens may be sampled at a position [SAMP-29]."""
        masked = len(self.stated["stop_tokens"]) if at < self.stated["min_tokens"] else 0
        return int(self.stated["vocab_size"]) - masked

    def signed(self, at: int) -> int:
        """Give how many tokens are signed at a position; under `min_p`, at most [SAMP-30]."""
        available, top_k = self.available(at), self.parameters.top_k
        if self.rule == "top_k" and top_k is not None:
            return min(top_k, available)
        return available if self.rule == "whole" else min(SUPPORT_MOST, available)


class Sequence(NamedTuple):
    """What follows for a sequence from its request and artifact [SAMP-34, SAMP-35, SAMP-38]."""

    verdict: str
    reason: str
    position: int | None
    positions: int
    covered: int
    fraud_positions: int
    invalid_positions: int
    support_tokens: int


@cache
def _verdicts() -> dict[str, str]:
    rows = spec.load("sampling.json")["reasons"]
    return {row["reason"]: row["verdict"] for row in rows}


def read_request(stated: dict[str, Any]) -> Request:
    """Resolve a request whose shape has been checked.

    Raises:
        Refusal: BAD_VALUE, a parameter of another form.
    """
    names = ("temperature", "top_k", "top_p", "min_p")
    parameters = resolve(*(stated[name] for name in names))
    origin = (int(stated["user_seed"]), stated["inference_id"], stated["beacon"])
    rule = _support_rule(parameters, stated["vocab_size"])
    return Request(stated, parameters, origin, rule)


def _support_rule(parameters: Parameters, vocab_size: int) -> str:
    top_k = parameters.top_k
    if top_k is not None and top_k <= SUPPORT_MOST and top_k < vocab_size:
        return "top_k"
    if vocab_size <= SUPPORT_MOST:
        return "whole"
    return "unbounded" if parameters.min_p is None else "min_p"


def _refused(request: Request) -> str:
    """Give the reason for which no position is looked at, empty if there is none [SAMP-34.1]."""
    stated = request.stated
    rules = (
        ("version_unknown", stated["version"] != VERSION),
        ("seed_domain_unknown", stated["seed_domain"] != DOMAIN),
        ("feature", bool(stated["features"])),
        ("greedy", request.parameters.greedy),
        ("support_unbounded", request.rule == "unbounded"),
    )
    return next((reason for reason, applies in rules if applies), "")


def _read_support(
    request: Request, token: str, pairs: Pairs | None, at: int
) -> str | list[tuple[str, Number]]:
    """Give a position's support as numbers, or the reason why it is none [SAMP-33.1 to 33.7]."""
    if pairs is None:
        return "support_missing"
    if not 1 <= len(pairs) <= SUPPORT_MOST:
        return "support_size"
    vocab_size, stops = request.stated["vocab_size"], request.stated["stop_tokens"]
    names = [name for name, _ in pairs]
    if not all(is_token(name, vocab_size) for name in (token, *names)):
        return "token_id"
    numbers = [logprob(text) for _, text in pairs]
    support = [(name, one) for name, one in zip(names, numbers, strict=True) if one is not None]
    if len(support) != len(pairs):
        return "logprob"
    # Tokens are ASCII by now, and so are compared byte by byte.
    if any(later <= earlier for earlier, later in pairwise(names)):
        return "support_order"
    if at < request.stated["min_tokens"] and any(int(name) in stops for name in names):
        return "stop_not_masked"
    count = request.signed(at)
    if len(pairs) > count or (request.rule != "min_p" and len(pairs) != count):
        return "support_size"
    return support


def _mass(support: list[tuple[str, Number]], unsigned: int) -> str:
    """Give the reason for which the probabilities are none of one model, if any [SAMP-31]."""
    masses = [
        exponential(rounded(number.c, 1, number.q)) if compare(number, GAP_LEAST) >= 0 else ZERO
        for _, number in support
    ]
    total = total_of(masses)
    if compare(total, _MASS_MOST) > 0:
        return "mass_above"
    least = masses[0]
    for one in masses:
        if compare(one, least) < 0:
            least = one
    rest = multiply(Number(unsigned, 0), least)
    return "mass_below" if compare(add(total, rest), _MASS_LEAST) < 0 else ""


def judge_position(request: Request, choice: int, at: int, token: str, pairs: Pairs | None) -> str:
    """Give the reason of a position, empty for an honest one [SAMP-33].

    Args:
        request: one whose rule is not `unbounded`, and whose temperature is not greedy.
        choice: the index of the sequence.
        at: the index of the position.
        token: what was sampled, as signed.
        pairs: tokens and log-probabilities, as signed.
    """
    support = _read_support(request, token, pairs, at)
    if isinstance(support, str):
        return support
    unnatural = _mass(support, request.available(at) - len(support))
    if unnatural:
        return unnatural
    if request.rule == "min_p" and not _cut_shows(request, support, at):
        return "support_cut"
    drawn = replay(support, request.parameters, request.origin, choice, at)
    return "" if drawn == token else _FRAUD


def _cut_shows(request: Request, support: list[tuple[str, Number]], at: int) -> bool:
    """Say whether just one token below the cut is signed, or none where none is left [33.9]."""
    least = request.parameters.min_p or ONE
    powers = exponentials(support, request.parameters.temperature)
    below = sum(compare(power, least) < 0 for power in powers)
    return below == 1 or (below == 0 and len(support) == request.signed(at))


def _copies(request: Request, choice: int) -> dict[str, Any]:
    """Give what an artifact's copies have to be [SAMP-26, SAMP-34.3]."""
    names = ("version", "seed_domain", "inference_id", "user_seed", "beacon", "temperature")
    digests = ("model_sha256", "tokenizer_sha256")
    top_p, min_p = request.parameters.texts
    return {name: request.stated[name] for name in (*names, *digests)} | {
        "choice": choice,
        "top_k": request.parameters.top_k,
        "top_p": top_p,
        "min_p": min_p,
        "support": request.rule,
    }


def _ending(request: Request, artifact: dict[str, Any]) -> tuple[str, int | None]:
    """Give the reason for which a sequence ends where it must not, and its place [34.5 to 34.7]."""
    stated, tokens = request.stated, [int(one["token"]) for one in artifact["positions"]]
    count, stops = len(tokens), set(stated["stop_tokens"])
    if not 1 <= count <= stated["max_tokens"] or artifact["length"] != count:
        return "length", None
    for at, token in enumerate(tokens[:-1]):
        if at >= stated["min_tokens"] and token in stops:
            return "past_stop", at
    stopped, full = tokens[-1] in stops, count == stated["max_tokens"]
    fits = {"stop": stopped, "length": full and not stopped}
    return ("", None) if fits.get(artifact["finish"], False) else ("finish", None)


def judge_sequence(request: Request, choice: int, artifact: dict[str, Any]) -> Sequence:
    """Derive what is said of a sequence [SAMP-34, SAMP-35]."""
    positions = artifact["positions"]
    refused = _refused(request)
    if refused:
        return Sequence(_verdicts()[refused], refused, None, len(positions), 0, 0, 0, 0)
    reasons = [
        judge_position(request, choice, at, one["token"], one["support"])
        for at, one in enumerate(positions)
    ]
    reason, position = _first(request, choice, artifact, reasons)
    told = Counter(reasons)
    return Sequence(
        verdict=_verdicts()[reason],
        reason=reason,
        position=position,
        positions=len(positions),
        covered=len(positions),
        fraud_positions=told[_FRAUD],
        invalid_positions=len(reasons) - told[_FRAUD] - told[""],
        support_tokens=sum(len(one["support"] or ()) for one in positions),
    )


def _first(
    request: Request, choice: int, artifact: dict[str, Any], reasons: list[str]
) -> tuple[str, int | None]:
    """Give the first reason of a sequence whose positions are covered, and its place."""
    if _FRAUD in reasons:
        return _FRAUD, reasons.index(_FRAUD)
    if any(artifact[name] != value for name, value in _copies(request, choice).items()):
        return "copy_differs", None
    for at, reason in enumerate(reasons):
        if reason:
            return reason, at
    return _ending(request, artifact)
