"""Verdicts on positions and sequences [SAMP-33] to [SAMP-35].

The request decides what is judged, and how; an artifact is only compared with it. So nothing that
an executor writes makes a sequence inconclusive or not covered, and what it leaves out makes its
artifact invalid.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from itertools import pairwise
from typing import NamedTuple

from lockstep import spec
from lockstep.errors import LockstepError
from lockstep.sampling import pipeline
from lockstep.sampling.categorical import draw
from lockstep.sampling.document import Artifact, Request, Signed
from lockstep.sampling.number import is_logprob, is_token
from lockstep.sampling.seed import derive_seed
from lockstep.sampling.weighting import of_values

FRAUD = "token_differs"
"""The one reason that makes a position a fraud."""


class PositionOutcome(NamedTuple):
    """What a position came to.

    Attributes:
        reason: of spec/sampling.json, empty where it is honest.
        drawn: the token that the replay drew; None where the artifact did not admit one.
    """

    reason: str
    drawn: str | None = None


class SequenceOutcome(NamedTuple):
    """What a sequence came to.

    Attributes:
        verdict: `honest`, `fraud`, `inconclusive`, `invalid_artifact` or `not_covered`.
        reason: of spec/sampling.json, empty where it is honest.
        position: where the reason was found, None where it is none of a position.
        positions: how many the artifact has.
        covered: how many were judged.
        fraud_positions: of these, those where another token was drawn.
        invalid_positions: of these, those that say nothing.
        support_tokens: log-probabilities of the covered positions.
    """

    verdict: str
    reason: str
    position: int | None
    positions: int
    covered: int
    fraud_positions: int
    invalid_positions: int
    support_tokens: int


def uncovered(request: Request) -> str:
    """Give the reason for which no sequence of a request is judged, empty where they are."""
    data = spec.load("sampling.json")
    reasons = {
        "version_unknown": request.version != data["contract"],
        "seed_domain_unknown": request.seed_domain != data["seed_domain"],
        "feature": bool(request.features),
        "greedy": request.parameters.greedy,
        "support_unbounded": request.rule == "unbounded",
    }
    return next((reason for reason, holds in reasons.items() if holds), "")


def replay_position(
    request: Request,
    choice: int,
    position: int,
    signed: Signed,
    exp_all: pipeline.ExpAll = pipeline.exp_each,
) -> PositionOutcome:
    """Judge a position of a request that is covered [SAMP-33].

    Args:
        request: what was asked for.
        choice: index of the sequence.
        position: index of the token.
        signed: what the executor signed for it.
        exp_all: gives correctly rounded exponentials.

    Raises:
        LockstepError: NOT_COMPARABLE, no position of this request can be judged.
    """
    reason = uncovered(request)
    if reason:
        raise LockstepError("NOT_COMPARABLE", "/request", "one that replay covers", reason)
    reason = _ill_formed(request, position, signed)
    if reason or signed.support is None:
        return PositionOutcome(reason)
    values = [(token, Decimal(text)) for token, text in signed.support]
    reason = _mass(values, request.available(position), exp_all) or _cut(
        request, position, values, exp_all
    )
    if reason:
        return PositionOutcome(reason)
    drawn = draw(
        of_values(values, request.parameters, exp_all),
        derive_seed(request.origin, choice, position),
    )
    return PositionOutcome("" if drawn == signed.token else FRAUD, drawn)


Look = Callable[[Request, int, int, Sequence[Signed]], list[str]]
"""Gives the reasons of consecutive positions: those of a request that is covered, a choice, and
the index of the first of them. However it goes about it, they are those of `one_by_one`."""


def one_by_one(request: Request, choice: int, first: int, positions: Sequence[Signed]) -> list[str]:
    """Give the reasons of consecutive positions, in decimal arithmetic.

    Raises:
        LockstepError: as `replay_position`.
    """
    return [
        replay_position(request, choice, first + index, signed).reason
        for index, signed in enumerate(positions)
    ]


def replay_sequence(
    request: Request, choice: int, artifact: Artifact, look: Look = one_by_one
) -> SequenceOutcome:
    """Judge what an executor signed for a choice of a request [SAMP-34].

    Args:
        request: what was asked for.
        choice: index of the sequence.
        artifact: what the executor signed.
        look: judges positions.

    Raises:
        LockstepError: BAD_VALUE, the request has no such choice.
    """
    if not 0 <= choice < request.choices:
        raise LockstepError("BAD_VALUE", "/choice", f"below {request.choices}", choice)
    positions = len(artifact.positions)
    reason = uncovered(request)
    if reason:
        return SequenceOutcome(_verdicts()[reason], reason, None, positions, 0, 0, 0, 0)
    reasons = look(request, choice, 0, artifact.positions)
    frauds = [index for index, found in enumerate(reasons) if found == FRAUD]
    invalid = [index for index, found in enumerate(reasons) if found not in ("", FRAUD)]
    position: int | None = None
    if frauds:
        reason, position = FRAUD, frauds[0]
    elif dict(artifact.copies) != request.copy(choice):
        reason = "copy_differs"
    elif invalid:
        reason, position = reasons[invalid[0]], invalid[0]
    else:
        reason, position = _ending(request, artifact)
    supports = [signed.support or () for signed in artifact.positions]
    return SequenceOutcome(
        _verdicts()[reason],
        reason,
        position,
        positions,
        positions,
        len(frauds),
        len(invalid),
        sum(map(len, supports)),
    )


def _ill_formed(request: Request, position: int, signed: Signed) -> str:
    """Give the first reason of a position's form and number of tokens; empty where none holds."""
    support, most = signed.support, spec.load("sampling.json")["support_most"]
    if support is None:
        return "support_missing"
    if not 1 <= len(support) <= most:
        return "support_size"
    tokens = [token for token, _ in support]
    if not all(is_token(token, request.vocab_size) for token in (signed.token, *tokens)):
        return "token_id"
    if not all(is_logprob(text) for _, text in support):
        return "logprob"
    if any(left >= right for left, right in pairwise(tokens)):
        return "support_order"
    if position < request.min_tokens and set(map(int, tokens)) & set(request.stop_tokens):
        return "stop_not_masked"
    return "" if len(support) in right_numbers(request, position) else "support_size"


def right_numbers(request: Request, position: int) -> range:
    """Give how many tokens may be signed at a position [SAMP-30]."""
    most: int = spec.load("sampling.json")["support_most"]
    available, rule = request.available(position), request.rule
    if rule == "top_k" and request.parameters.top_k is not None:
        number = min(request.parameters.top_k, available)
        return range(number, number + 1)
    return range(available if rule == "whole" else 1, min(most, available) + 1)


def _mass(values: list[tuple[str, Decimal]], available: int, exp_all: pipeline.ExpAll) -> str:
    """See that the log-probabilities can be those of a whole vocabulary [SAMP-31]."""
    data, arithmetic = spec.load("sampling.json"), pipeline.context()
    near = [arithmetic.plus(value) for _, value in values if value >= data["gap_least"]]
    powers = exp_all(near, arithmetic) + [Decimal(0)] * (len(values) - len(near))
    mass = pipeline.total(powers, arithmetic)
    if mass > Decimal(data["mass_most"]):
        return "mass_above"
    rest = arithmetic.multiply(Decimal(available - len(values)), min(powers))
    return "mass_below" if arithmetic.add(mass, rest) < Decimal(data["mass_least"]) else ""


def _cut(
    request: Request,
    position: int,
    values: list[tuple[str, Decimal]],
    exp_all: pipeline.ExpAll,
) -> str:
    """See that the cut of min_p lies within the support, and next to its end."""
    least = request.parameters.min_p
    if request.rule != "min_p" or least is None:
        return ""
    data, arithmetic = spec.load("sampling.json"), pipeline.context()
    powers = pipeline.exponentials(
        [value for _, value in values],
        Decimal(request.parameters.temperature),
        data["gap_least"],
        arithmetic,
        exp_all,
    )
    dropped = sum(power < Decimal(least) for power in powers)
    whole = len(values) == min(data["support_most"], request.available(position))
    return "" if dropped == 1 or (dropped == 0 and whole) else "support_cut"


def _ending(request: Request, artifact: Artifact) -> tuple[str, int | None]:
    """Give the reason, and its position, for which a sequence's end is none; empty else."""
    length, stops = len(artifact.positions), set(request.stop_tokens)
    if not 1 <= length <= request.max_tokens or artifact.length != length:
        return "length", None
    stopped = [int(signed.token) in stops for signed in artifact.positions]
    for position, stop in enumerate(stopped[:-1]):
        if stop and position >= request.min_tokens:
            return "past_stop", position
    ended = {"stop": stopped[-1], "length": not stopped[-1] and length == request.max_tokens}
    return ("", None) if ended.get(artifact.finish, False) else ("finish", None)


def _verdicts() -> Mapping[str, str]:
    """Give the verdict of each reason."""
    return {one["reason"]: one["verdict"] for one in spec.load("sampling.json")["reasons"]}
