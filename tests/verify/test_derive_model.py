"""What follows of a model that a certificate names [MODEL-16]."""

from __future__ import annotations

from typing import Any

import pytest

from lockstep.engine.opening import open_model
from lockstep.engine.tiny import TinyModel
from lockstep.fidelity.corpus import corpus
from lockstep.fidelity.forward import forward
from lockstep.replay.observe import stated_model
from lockstep_verify.derive.model import check_model, largest_logit
from lockstep_verify.errors import Refusal

TINY = TinyModel(seed=3, dtype="bfloat16")


@pytest.fixture(scope="module")
def stated() -> dict[str, Any]:
    return stated_model(open_model(TINY))


def test_what_the_producer_says_of_a_tiny_model(stated: dict[str, Any]) -> None:
    check_model(stated, "float32")
    # Kinds without the members that a replay has.
    check_model({name: stated[name] for name in stated if name != "max_positions"}, "float32")


@pytest.mark.parametrize(
    ("member", "value"),
    [
        ("dtype", "float16"),
        ("stored_dtype", "float32"),
        ("vocab_size", 255),
        ("stop_tokens", []),
        ("stop_tokens", [1]),
        ("max_positions", 4095),
    ],
)
def test_what_a_recipe_does_not_make(stated: dict[str, Any], member: str, value: object) -> None:
    with pytest.raises(Refusal) as caught:
        check_model(stated | {member: value}, "float32")
    assert (caught.value.code, caught.value.pointer) == ("BAD_VALUE", f"/predicate/model/{member}")
    if member != "dtype":
        # Of another model, whoever signs says it.
        check_model(stated | {member: value, "recipe": None}, "float32")


def test_an_odd_head_is_no_recipe(stated: dict[str, Any]) -> None:
    recipe = stated["recipe"] | {"head_dim": 17}
    with pytest.raises(Refusal) as caught:
        check_model(stated | {"recipe": recipe}, "float32")
    assert caught.value.pointer == "/predicate/model/recipe/head_dim"


@pytest.mark.parametrize("tied", [False, True])
def test_no_logit_of_a_tiny_model_exceeds_the_bound(tied: bool) -> None:
    opened = open_model(TinyModel(seed=1, tied=tied), "float64")
    bound = largest_logit(stated_model(opened))
    assert bound is not None
    logits = forward(opened.model, corpus(256)[1])
    # The bound is one of the worst case; a row comes within a factor of twenty.
    assert bound / 20 < abs(logits).max() * 10**12 < bound
    assert largest_logit(stated_model(opened) | {"recipe": None}) is None
