"""What follows of a model that a certificate names, without its files (spec/model.md, MODEL-16)."""

from typing import Any

from lockstep_verify.errors import Refusal

_AT = "/predicate/model"

VOCABULARY = 256
"""Of a tiny model, whose tokens are bytes [MODEL-14]."""

STOP_TOKENS = [0]
"""Of a tiny model."""

POSITIONS = 4096
"""Of a tiny model."""

_UNITS = 10**12
"""Of a logit."""


def check_model(model: dict[str, Any], dtype: str) -> None:
    """Hold a model against its environment, and a tiny one against what [MODEL-14] says of all.

    Args:
        model: the member `model` of a predicate, in the form of its schema.
        dtype: the compute dtype that was in force.

    Raises:
        Refusal: BAD_VALUE, at the first member that differs.
    """
    _require("dtype", dtype, model["dtype"])
    recipe = model["recipe"]
    if recipe is None:
        return
    if recipe["head_dim"] % 2:
        at = f"{_AT}/recipe/head_dim"
        raise Refusal("BAD_VALUE", at, "an even number", recipe["head_dim"])
    _require("stored_dtype", recipe["dtype"], model["stored_dtype"])
    _require("vocab_size", VOCABULARY, model["vocab_size"])
    # Not every kind states these.
    for member, made in (("stop_tokens", STOP_TOKENS), ("max_positions", POSITIONS)):
        if member in model:
            _require(member, made, model[member])


def largest_logit(model: dict[str, Any]) -> int | None:
    """Give what no logit of a tiny model exceeds, in 10^-12 [FID-4]; None for another model.

    A normalised row of 64 elements has a length of at most 8, times a norm's weight of at most
    159 / 128; a row of the head has 64 elements of at most 126 / 128, four times that where it is
    the embedding. By Cauchy and Schwarz their product is below 80, and below 320.
    """
    if model["recipe"] is None:
        return None
    return (320 if model["recipe"]["tied"] else 80) * _UNITS


def _require(member: str, expected: object, got: object) -> None:
    if type(expected) is not type(got) or expected != got:
        raise Refusal("BAD_VALUE", f"{_AT}/{member}", expected, got)
