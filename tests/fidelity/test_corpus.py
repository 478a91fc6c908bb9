"""The corpus: what it holds, and a model that cannot take it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lockstep.engine.opening import Opened
from lockstep.errors import LockstepError
from lockstep.fidelity.corpus import corpus, require_corpus
from lockstep_verify.derive import fidelity as verifier


def test_some_prompts_cross_the_split_and_some_do_not() -> None:
    lengths = [len(prompt.tokens) for prompt in corpus(256)]
    assert [length for length in lengths if length <= 512]
    assert [length for length in lengths if 512 < length <= 1024]
    assert max(lengths) > 1024, "three splits: a fold of more than one step"


@pytest.mark.parametrize("vocab_size", [2, 256, 151936])
def test_two_implementations_of_the_rule(vocab_size: int) -> None:
    for prompt in corpus(vocab_size):
        mine = list(prompt.tokens)
        assert mine == verifier.tokens(prompt.id, len(mine), vocab_size)
        assert 1 <= min(mine) <= max(mine) < vocab_size


def test_positions_are_within_their_prompts_and_ascend() -> None:
    for prompt in corpus(256):
        assert list(prompt.positions) == sorted(set(prompt.positions))
        assert prompt.positions[-1] < len(prompt.tokens)


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"max_position_embeddings": 600}, "SEQUENCE_TOO_LONG"),
        ({"vocab_size": 1}, "TOKEN_OUT_OF_RANGE"),
    ],
)
def test_a_model_that_cannot_take_it(changes: dict[str, int], code: str, opened: Opened) -> None:
    class Small:
        config = replace(opened.model.config, **changes)

    with pytest.raises(LockstepError) as caught:
        require_corpus(Small())  # type: ignore[arg-type]
    assert caught.value.code == code
