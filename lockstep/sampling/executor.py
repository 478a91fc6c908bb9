"""The executor's side: which tokens are signed, how they are written, which one is drawn.

The same weights and the same draw as the validator's, from the texts that are signed: no float
comes between, so that an honest artifact is judged honest, always.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from lockstep.errors import LockstepError
from lockstep.sampling.categorical import draw
from lockstep.sampling.document import Artifact, Request, Signed
from lockstep.sampling.number import units
from lockstep.sampling.replay import uncovered
from lockstep.sampling.seed import derive_seed
from lockstep.sampling.support import Support, choose

Logprobs = Mapping[int, float]
"""Log-probabilities by token id, after masks: what is masked is absent."""


def support(request: Request, position: int, logprobs: Logprobs) -> Support:
    """Give the tokens that are signed at a position [SAMP-30].

    Args:
        request: what was asked for; one that replay covers.
        position: index of the token.
        logprobs: over all tokens that are available there, normalised, before temperature.

    Raises:
        LockstepError: BAD_VALUE, a number is not finite, or there are too few tokens.
    """
    available = request.available(position)
    wanted = available if request.rule != "top_k" else request.parameters.top_k or 0
    if not min(wanted, available) <= len(logprobs) <= available:
        expected = f"{min(wanted, available)} tokens or more, of {available}"
        raise LockstepError("BAD_VALUE", "/logprobs", expected, len(logprobs))
    tokens = np.array(list(logprobs), dtype=np.int64)
    values = np.array([units(value) for value in logprobs.values()], dtype=np.int64)
    return choose(tokens, values, request.parameters, request.vocab_size)


def sample_position(request: Request, choice: int, position: int, logprobs: Logprobs) -> Signed:
    """Draw a token, and give what is signed of it [SAMP-24].

    Raises:
        LockstepError: as `support`.
    """
    signed = support(request, position, logprobs)
    seed = derive_seed(request.origin, choice, position)
    return Signed(draw(signed.weights(request.parameters), seed), signed.texts())


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
