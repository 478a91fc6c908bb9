"""Ladders that no model made: rows of made-up logits, and rungs that differ by so much noise."""

from __future__ import annotations

import json
import math
import random
from typing import Any

from lockstep.certificate.statement import distance_subjects
from lockstep.certificate.statement import statement as wrap
from lockstep.claims.distance_calibration import digest, predicate
from lockstep.sampling.forced import Text
from lockstep.sampling.ladder import REFERENCE, Ladder, Pairs, Rung, Signed
from lockstep.sampling.number import written
from lockstep_verify import lcj

PRODUCER = dict.fromkeys(("name", "version", "python", "machine", "command"), "test")
VOCABULARY, SUPPORT = 12, 4
NOISES = (0.0, 1e-6, 1e-6, 0.01, 2.0)
"""Of each rung; the first three are honest."""


def pairs(logits: list[float]) -> dict[int, str]:
    """Give log-probabilities over the whole vocabulary as an executor writes them."""
    peak = max(logits)
    whole = peak + math.log(math.fsum(math.exp(one - peak) for one in logits))
    return {token: written(min(0.0, one - whole)) for token, one in enumerate(logits)}


def likeliest(row: dict[int, str], count: int = SUPPORT) -> Pairs:
    """Give what is signed of a row."""
    ranked = sorted(row, key=lambda token: (-float(row[token]), str(token)))
    return tuple(sorted((str(token), row[token]) for token in ranked[:count]))


def ladder(
    texts: int = 4,
    tokens: int = 32,
    noises: tuple[float, ...] = NOISES,
    seed: int = 0,
    spread: float = 2.0,
) -> Ladder:
    """Make a ladder of so many texts, each of so many tokens."""
    chosen = random.Random(seed)
    logits = [
        [[chosen.gauss(0, spread) for _ in range(VOCABULARY)] for _ in range(tokens)]
        for _ in range(texts)
    ]
    exact = [[pairs(row) for row in text] for text in logits]
    signed = []
    for number, noise in enumerate(noises):
        rows = [
            [pairs([one + chosen.gauss(0, noise) for one in row]) for row in text]
            for text in logits
        ]
        supports = tuple(tuple(likeliest(row) for row in text) for text in rows)
        signed.append(Signed(Rung(f"rung-{number}"), "3" * 64, supports))
    recomputed = tuple(
        tuple(_needed(exact[i][j], [one.supports[i][j] for one in signed]) for j in range(tokens))
        for i in range(texts)
    )
    made = tuple(
        Text(f"text-{i}", (1, 2), tuple(int(row[0][0]) for row in recomputed[i]))
        for i in range(texts)
    )
    return Ladder(
        "4" * 64, "float32", VOCABULARY, SUPPORT, REFERENCE, made, recomputed, tuple(signed)
    )


def _needed(row: dict[int, str], signed: list[Pairs]) -> Pairs:
    tokens = {token for one in (likeliest(row), *signed) for token, _ in one}
    return tuple(sorted((token, row[int(token)]) for token in tokens))


def folded(made: Ladder, accepts: int = 3) -> dict[str, Any]:
    """Give the predicate of a ladder."""
    return predicate(made, accepts, issued_at="2026-11-29T12:00:00Z", producer=PRODUCER)


def whole(made: Ladder, accepts: int = 3) -> dict[str, Any]:
    """Give the statement of a ladder."""
    told = folded(made, accepts)
    return sealed(wrap("distance-calibration", distance_subjects(told, digest(told)), told))


def sealed(statement: dict[str, Any]) -> dict[str, Any]:
    """Give a statement as the verifier reads it, with the subject that its predicate has."""
    told = statement["predicate"]
    made = {**statement, "subject": distance_subjects(told, digest(told))}
    parsed: dict[str, Any] = json.loads(lcj.encode(made))
    return parsed
