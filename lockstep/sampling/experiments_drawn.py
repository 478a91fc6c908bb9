"""Experiments 1 and 2: one distribution, sampled in two ways."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from lockstep import spec
from lockstep.engine.model import Model
from lockstep.sampling.categorical import draw
from lockstep.sampling.document import Request, Signed
from lockstep.sampling.experiments import Series
from lockstep.sampling.forced import Rows, forced
from lockstep.sampling.ladder import ALONE, sampled
from lockstep.sampling.parameters import Parameters, resolve
from lockstep.sampling.replay import replay_position
from lockstep.sampling.seed import Origin, derive_seed
from lockstep.sampling.shadow import PATHS, shadow
from lockstep.sampling.support import Support, choose, units_of

WAYS = (
    resolve("1"),
    resolve("0.7", 20),
    resolve("1", None, "0.95"),
    resolve("1.3", 40, "0.9", "0.05"),
)
"""No filter, one filter, and all."""
FIXED = (5, 20, 64)
UNBOUNDED = (WAYS[0], WAYS[2])
"""Parameters that keep more tokens than a fixed number may be."""
NAME = "experiment"


def texts_of(model: Model, texts: int, tokens: int) -> list[Rows]:
    """Let a model write texts, and give its log-probabilities at each of their tokens."""
    return forced(model, sampled(model, Parameters("1", 8), texts, tokens), ALONE)


def support_of(row: Rows, parameters: Parameters) -> Support:
    """Give the support that enters a draw [ENG-14]."""
    return choose(np.arange(len(row)), units_of(row), parameters, len(row))


def seed_of(text: int, position: int) -> str:
    """Give the seed of a text's position."""
    return derive_seed(Origin(text, NAME), 0, position)


def token_of(row: Rows, parameters: Parameters, seed: str) -> int:
    """Give the token that the sampler draws."""
    return int(draw(support_of(row, parameters).weights(parameters), seed))


def drawn(model: Model, texts: int, tokens: int) -> Iterator[Series]:
    """Sample the same distributions in decimals, in floats, and from fewer tokens.

    Args:
        model: what computes.
        texts: how many.
        tokens: of each.
    """
    rows = texts_of(model, texts, tokens)
    for parameters in WAYS:
        found = _tokens(rows, parameters)
        of = "the engine's draws, judged from their texts"
        yield Series(1, "replay", of, parameters, _replayed(rows, parameters, found))
        for path in PATHS:
            differing = tuple(
                shadow(support_of(row, parameters), parameters, seed_of(text, at), path).token
                != found[text][at]
                for text, own in enumerate(rows)
                for at, row in enumerate(own)
            )
            yield Series(
                1, path.name, "the engine's draws and those of floats", parameters, differing
            )
    for parameters in UNBOUNDED:
        found = _tokens(rows, parameters)
        for most in FIXED:
            narrow = parameters._replace(top_k=most)
            differing = tuple(
                int(draw(support_of(row, narrow).weights(parameters), seed_of(text, at)))
                != found[text][at]
                for text, own in enumerate(rows)
                for at, row in enumerate(own)
            )
            of = f"draws of all tokens and of the {most} most likely"
            yield Series(2, f"fixed_{most}", of, parameters, differing)


def _tokens(rows: Sequence[Rows], parameters: Parameters) -> list[list[int]]:
    return [
        [token_of(row, parameters, seed_of(text, at)) for at, row in enumerate(own)]
        for text, own in enumerate(rows)
    ]


def _replayed(
    rows: Sequence[Rows], parameters: Parameters, found: list[list[int]]
) -> tuple[bool, ...]:
    """Judge each draw as a validator does, from texts alone."""
    data, differing = spec.load("sampling.json"), []
    for text, own in enumerate(rows):
        request = Request(
            version=data["contract"],
            seed_domain=data["seed_domain"],
            origin=Origin(text, NAME),
            choices=1,
            parameters=parameters,
            min_tokens=0,
            max_tokens=len(own),
            stop_tokens=(),
            features=(),
            model_sha256="0" * 64,
            tokenizer_sha256="0" * 64,
            vocab_size=len(own[0]),
        )
        for at, row in enumerate(own):
            signed = Signed(str(found[text][at]), support_of(row, parameters).texts())
            differing.append(bool(replay_position(request, 0, at, signed).reason))
    return tuple(differing)
