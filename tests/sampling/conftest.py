"""A request, an executor that serves it honestly, and the vocabulary that it draws from."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from typing import Any

import pytest

from lockstep.sampling import resolve
from lockstep.sampling.document import Artifact, Request
from lockstep.sampling.executor import execute
from lockstep.sampling.seed import Origin

VOCABULARY = 5000


def request_of(**changes: Any) -> Request:
    """Give a request of 8 tokens at top_k 20, or one with other members."""
    made = Request(
        version="sampling/v1",
        seed_domain="lockstep-sampling-v1",
        origin=Origin(-7, "chain-abc", "ab" * 32),
        choices=2,
        parameters=resolve("0.7", 20, "0.95"),
        min_tokens=0,
        max_tokens=8,
        stop_tokens=(),
        features=(),
        model_sha256="1" * 64,
        tokenizer_sha256="2" * 64,
        vocab_size=VOCABULARY,
    )
    return replace(made, **changes)


def logprobs_after(vocab_size: int, masked: tuple[int, ...] = ()) -> Any:
    """Give a made-up model: log-probabilities that depend on the tokens so far alone."""

    def give(tokens: list[int]) -> dict[int, float]:
        chosen = random.Random(str(tokens))
        logits = {n: chosen.gauss(0, 3) for n in range(vocab_size) if n not in masked}
        peak = max(logits.values())
        whole = peak + math.log(math.fsum(math.exp(one - peak) for one in logits.values()))
        return {token: one - whole for token, one in logits.items()}

    return give


@pytest.fixture(scope="session")
def request_made() -> Request:
    return request_of()


@pytest.fixture(scope="session")
def artifact(request_made: Request) -> Artifact:
    return execute(request_made, 1, logprobs_after(VOCABULARY))
