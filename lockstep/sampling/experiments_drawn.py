"""Experiments 1 and 2: one distribution, sampled in two ways."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lockstep import spec
from lockstep.engine.model import Model
from lockstep.sampling.document import Request, Signed
from lockstep.sampling.experiments import Series
from lockstep.sampling.forced import Rows, forced
from lockstep.sampling.ladder import ALONE, sampled, support_of, token_of
from lockstep.sampling.parameters import Parameters, resolve
from lockstep.sampling.replay import one_by_one
from lockstep.sampling.seed import Origin, derive_seed
from lockstep.sampling.shadow import PATHS, shadow
from lockstep.sampling.support import Support

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

Supports = Sequence[Sequence[Support]]
Tokens = Sequence[Sequence[int]]
"""Of each text, at each of its tokens."""


def texts_of(model: Model, texts: int, tokens: int) -> list[Rows]:
    """Let a model write texts, and give its log-probabilities at each of their tokens."""
    return forced(model, sampled(model, Parameters("1", 8), texts, tokens), ALONE)


def seed_of(text: int, position: int) -> str:
    """Give the seed of a text's position."""
    return derive_seed(Origin(text, NAME), 0, position)


def drawn(model: Model, texts: int, tokens: int) -> Iterator[Series]:
    """Sample the same distributions in decimals, in floats, and from fewer tokens.

    Args:
        model: what computes.
        texts: how many.
        tokens: of each.
    """
    rows = texts_of(model, texts, tokens)
    vocab_size = model.config.vocab_size
    found: dict[Parameters, Tokens] = {}
    for parameters in WAYS:
        supports = _supports(rows, parameters)
        own = found[parameters] = _tokens(supports, parameters)
        of = "the engine's draws, judged from their texts"
        yield Series(1, "replay", of, parameters, _replayed(supports, parameters, own, vocab_size))
        of = "the engine's draws and those of floats"
        for path in PATHS:
            other = [
                [
                    shadow(support, parameters, seed_of(text, at), path).token
                    for at, support in enumerate(of_text)
                ]
                for text, of_text in enumerate(supports)
            ]
            yield Series(1, path.name, of, parameters, _differing(own, other))
    for parameters in UNBOUNDED:
        for most in FIXED:
            narrow = _supports(rows, parameters._replace(top_k=most))
            differing = _differing(found[parameters], _tokens(narrow, parameters))
            of = f"draws of all tokens and of the {most} most likely"
            yield Series(2, f"fixed_{most}", of, parameters, differing)


def _supports(rows: Sequence[Rows], parameters: Parameters) -> Supports:
    return [[support_of(row, parameters) for row in own] for own in rows]


def _tokens(supports: Supports, parameters: Parameters) -> Tokens:
    return [
        [token_of(support, parameters, seed_of(text, at)) for at, support in enumerate(own)]
        for text, own in enumerate(supports)
    ]


def _differing(left: Tokens, right: Tokens) -> tuple[bool, ...]:
    return tuple(
        one != other
        for own, others in zip(left, right, strict=True)
        for one, other in zip(own, others, strict=True)
    )


def _replayed(
    supports: Supports, parameters: Parameters, found: Tokens, vocab_size: int
) -> tuple[bool, ...]:
    """Judge each draw as a validator does, from texts alone."""
    data = spec.load("sampling.json")
    differing: list[bool] = []
    for text, own in enumerate(supports):
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
            vocab_size=vocab_size,
        )
        signed = [
            Signed(str(token), support.texts())
            for token, support in zip(found[text], own, strict=True)
        ]
        differing += map(bool, one_by_one(request, 0, 0, signed))
    return tuple(differing)
