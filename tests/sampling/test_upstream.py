"""Profile upstream-1.0.0 gives what upstream's code gave, wherever that was a value."""

from __future__ import annotations

import ast
from decimal import Decimal
from typing import Any

import pytest

from lockstep.errors import LockstepError
from lockstep.sampling import rng, upstream
from lockstep.sampling.categorical import draw
from lockstep.sampling.exp import exp
from lockstep.sampling.perplexity import metric, perplexity, sampled
from lockstep.sampling.seed import material, upstream_position_seed, upstream_seed
from tests.refusals import refused
from tests.sampling.vectors import VECTORS, parameters, sequence_parameters, support


def named(name: str) -> Any:
    entries = VECTORS[name]
    return pytest.mark.parametrize(
        "vector", entries, ids=[str(one.get("name", n)) for n, one in enumerate(entries)]
    )


@named("rng")
def test_draws(vector: dict[str, Any]) -> None:
    first = int(vector["counter_start"])
    drawn = [rng.u64(vector["seed"], first + n) for n in range(len(vector["u64"]))]
    assert [str(one) for one in drawn] == vector["u64"]


@named("uint64_below")
def test_bounded_draws(vector: dict[str, Any]) -> None:
    counter = 0
    for expected in vector["values"]:
        drawn, counter = rng.below(vector["seed"], int(vector["n"]), counter)
        assert str(drawn) == expected
    assert counter == vector["counter_after"]


@named("seed_chain_bound")
def test_base_seeds(vector: dict[str, Any]) -> None:
    literal = vector.get("user_seed_is_python_literal", False)
    user_seed = ast.literal_eval(vector["user_seed"]) if literal else int(vector["user_seed"])
    expected = vector["v2_10655b21_and_go_b5372539"]
    if not expected.startswith("REJECT:"):
        assert upstream_seed(user_seed, vector["inference_id"]) == expected
        return
    with pytest.raises(LockstepError) as caught:
        upstream_seed(user_seed, vector["inference_id"])
    assert (caught.value.code == "WRONG_TYPE") == (expected == "REJECT:TypeError")


def test_seed_material() -> None:
    vector = VECTORS["seed_chain_bound_material_hex"]
    fields = {name: vector[name] for name in ("user_seed", "inference_id")}
    framed = material("gonka-deterministic-sampling-v1", fields)
    assert framed.hex() == vector["hex"]


@named("pipeline")
def test_weights_and_tokens(vector: dict[str, Any]) -> None:
    if "error" in vector:
        refused("BAD_VALUE", lambda: upstream.weights(support(vector), parameters(vector)))
        return
    made = upstream.weights(support(vector), parameters(vector))
    assert list(made) == sorted(made)
    assert sum(made.values()) == vector["weight_sum"]
    if "weights" in vector:
        assert made == vector["weights"]
    else:
        told = vector["weights_summary"]
        assert (len(made), min(made.values()), max(made.values())) == (
            told["n"], told["min"], told["max"],
        )  # fmt: skip
        assert made[told["argmax"]] == told["max"]
    if "sample_error" in vector:
        refused("BAD_VALUE", lambda: draw(made, vector["seed"]))
        return
    seed, one_stream = vector["seed"], vector["token_at_counter_0_3"]
    assert [draw(made, seed, n) for n in range(len(one_stream))] == one_stream
    expected = vector["token_at_position_0_2_per_position_seed"]
    drawn = [draw(made, upstream_position_seed(seed, n)) for n in range(len(expected))]
    assert drawn == expected


@named("categorical")
def test_scans(vector: dict[str, Any]) -> None:
    weights = {f"{place:02}": weight for place, weight in enumerate(vector["weights"])}
    # The contract, and the code since ac849ddc, refuse a sum of 0; older code gave the last index.
    expected = vector.get("ac849ddc_and_go", vector["dump_v011_merged_10655b21"])
    if isinstance(expected, str):
        refused("BAD_VALUE", lambda: draw(weights, vector["seed"]))
    else:
        assert [int(draw(weights, vector["seed"], n)) for n in range(len(expected))] == expected


SEQUENCES = [one for one in VECTORS["sequence"] if "expected" in one]


@pytest.mark.parametrize("vector", SEQUENCES, ids=lambda one: one["name"])
def test_sequences(vector: dict[str, Any]) -> None:
    positions = [(one["logprobs"], one["token"]) for one in vector["positions"]]
    found = upstream.replay(vector["base_seed"], sequence_parameters(vector), positions)
    expected = vector["expected"]
    assert found == tuple(
        expected[name] for name in ("verdict", "fraud_position", "n_honest", "n_inconclusive")
    )


def test_one_stream_and_a_stream_for_each_position() -> None:
    told = next(one for one in VECTORS["sequence"] if "tokens_one_stream" in one)
    honest = next(one for one in VECTORS["sequence"] if one["name"] == "honest_top_k")
    made = [
        upstream.weights(one["logprobs"], sequence_parameters(honest))
        for one in honest["positions"]
    ]
    base = told["base_seed"]
    assert [draw(one, base, n) for n, one in enumerate(made)] == told["tokens_one_stream"]
    each = [draw(one, upstream_position_seed(base, n)) for n, one in enumerate(made)]
    assert each == told["tokens_per_position"]


@named("apd_vs_libmpdec_exp_last_digit")
def test_exponentials_on_which_another_library_is_wrong(vector: dict[str, Any]) -> None:
    assert exp(Decimal(vector["x"])) == Decimal(vector["python_correct"])
    assert exp(Decimal(vector["x"])) != Decimal(vector["go_apd_v2"])


@named("apd_vs_libmpdec_weight_divergences")
def test_weights_on_which_another_library_is_wrong(vector: dict[str, Any]) -> None:
    made = upstream.weights(vector["logprobs"], parameters(vector))
    assert made == vector["python"] != vector["go_apd_v2"]


@named("S2_prec10_vs_prec28")
def test_weights_of_ten_digits_in_any_thread(vector: dict[str, Any]) -> None:
    made = upstream.weights(vector["logprobs"], parameters(vector))
    assert made == vector["prec10"] != vector["prec28_other_thread"]


@pytest.mark.parametrize(
    "vector", [one for one in VECTORS["distance"] if one["name"] == "get_metric"]
)
def test_perplexity(vector: dict[str, Any]) -> None:
    reported = [(str(n), {str(n): str(one)}) for n, one in enumerate(vector["logprobs"])]
    floored = sampled(reported, vector["floor"])
    assert metric(floored) == pytest.approx(vector["metric"], rel=1e-15)
    assert perplexity(floored) == (
        None if vector["perplexity"] is None else pytest.approx(vector["perplexity"], rel=1e-15)
    )


def test_a_sampled_token_that_was_not_reported_counts_the_floor() -> None:
    assert sampled([("1", None), ("2", {"3": "-1"}), ("4", {"4": "-2.5"})]) == [-10, -10, -2.5]


def test_a_negative_top_k_drops_the_least_likely_and_0_everything() -> None:
    given = {"1": "-1", "2": "-2", "3": "-3"}
    kept = upstream.weights(given, upstream.UpstreamParameters("1", top_k=-1))
    assert list(kept) == ["1", "2"]
    refused("BAD_VALUE", lambda: upstream.weights(given, upstream.UpstreamParameters("1", top_k=0)))
