"""The executor's side: which tokens are signed, how they are written, which one is drawn.

The same weights and the same draw as the validator's, from the texts that are signed: no float
comes between, so that an honest artifact is judged honest, always.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from decimal import Decimal

from lockstep import spec
from lockstep.errors import LockstepError
from lockstep.sampling import pipeline
from lockstep.sampling.categorical import draw
from lockstep.sampling.document import Artifact, Request, Signed
from lockstep.sampling.number import written
from lockstep.sampling.replay import uncovered
from lockstep.sampling.seed import derive_seed
from lockstep.sampling.weighting import of_values

_ROUNDINGS = 2e-12
"""Two numbers that are written alike differ by no more."""

Logprobs = Mapping[int, float]
"""Log-probabilities by token id, after masks: what is masked is absent."""


def support(request: Request, position: int, logprobs: Logprobs) -> tuple[tuple[str, str], ...]:
    """Give the tokens that are signed at a position, with their texts [SAMP-30].

    Args:
        request: what was asked for; one that replay covers.
        position: index of the token.
        logprobs: over all tokens that are available there, normalised, before temperature.

    Raises:
        LockstepError: BAD_VALUE, a number is not finite, or there are too few tokens.
    """
    available, rule = request.available(position), request.rule
    wanted = available
    if rule == "top_k" and request.parameters.top_k is not None:
        wanted = min(request.parameters.top_k, available)
    elif rule == "min_p":
        wanted = min(spec.load("sampling.json")["support_most"], available)
    ranked = _ranked(logprobs, wanted)
    if rule == "min_p":
        wanted = min(wanted, _kept(request, [text for _, text in ranked[:wanted]]) + 1)
    if len(ranked) < wanted:
        raise LockstepError("BAD_VALUE", "/logprobs", f"{wanted} tokens or more", len(ranked))
    return tuple(sorted(ranked[:wanted]))


def _ranked(logprobs: Logprobs, wanted: int) -> list[tuple[str, str]]:
    """Write the likeliest tokens, and rank them by what is written; some more may follow.

    Rounding keeps the order of numbers, so that none is wanted that lies below the last one wanted
    by more than two roundings; numbers that are written as the least one are all looked at.
    """
    ordered = sorted(logprobs.values(), reverse=True)
    if not all(map(math.isfinite, ordered)):
        raise LockstepError("BAD_VALUE", "/logprobs", "finite numbers", "another one")
    least: int = spec.load("sampling.json")["logprob_least"]
    last = ordered[wanted - 1] if 0 < wanted <= len(ordered) else -math.inf
    floor = last - _ROUNDINGS if last > least else -math.inf
    texts = [(str(token), written(value)) for token, value in logprobs.items() if value >= floor]
    return sorted(texts, key=lambda pair: (-Decimal(pair[1]), pair[0]))


def _kept(request: Request, texts: list[str]) -> int:
    """Count log-probabilities, the largest first, that min_p does not cut off."""
    powers = pipeline.exponentials(
        [Decimal(text) for text in texts],
        Decimal(request.parameters.temperature),
        spec.load("sampling.json")["gap_least"],
        pipeline.context(),
    )
    return sum(power >= Decimal(request.parameters.min_p or 0) for power in powers)


def sample_position(request: Request, choice: int, position: int, logprobs: Logprobs) -> Signed:
    """Draw a token, and give what is signed of it [SAMP-24].

    Raises:
        LockstepError: as `support`.
    """
    signed = support(request, position, logprobs)
    values = [(token, Decimal(text)) for token, text in signed]
    seed = derive_seed(request.origin, choice, position)
    return Signed(draw(of_values(values, request.parameters), seed), signed)


def execute(
    request: Request, choice: int, logprobs_after: Callable[[list[int]], Logprobs]
) -> Artifact:
    """Sample a sequence and give its artifact [SAMP-26].

    Args:
        request: what was asked for.
        choice: index of the sequence.
        logprobs_after: gives the next log-probabilities, from the tokens sampled so far.

    Raises:
        LockstepError: NOT_COMPARABLE, the request is none that replay covers; as `support`.
    """
    reason = uncovered(request)
    if reason:
        raise LockstepError("NOT_COMPARABLE", "/request", "one that replay covers", reason)
    positions: list[Signed] = []
    tokens: list[int] = []
    stopped = False
    while not stopped and len(tokens) < request.max_tokens:
        given = dict(logprobs_after(tokens))
        signed = sample_position(request, choice, len(tokens), given)
        positions.append(signed)
        tokens.append(int(signed.token))
        stopped = tokens[-1] in request.stop_tokens
    finish = "stop" if stopped else "length"
    return Artifact(request.copy(choice), len(tokens), finish, tuple(positions))
