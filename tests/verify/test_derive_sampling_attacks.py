"""What executors try, each judged by both implementations: by the producer's, then derived anew."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

from tests.statements import judge
from tests.verify.sampling_records import honest, whole

Sequence = dict[str, Any]
Edit = Callable[[Sequence], None]
Found = tuple[str, str, int | None]
FRAUD: Found = ("fraud", "token_differs", 0)


def outcome(one: Sequence) -> Found:
    """Give verdict, reason and position on which the two implementations agree."""
    made = whole(one)
    derived = judge(made)
    told = made["predicate"]["sequences"][0]
    assert derived.verdict == made["predicate"]["verdict"]
    return told["verdict"], told["reason"], told["position"]


def position(one: Sequence, at: int = 0) -> dict[str, Any]:
    signed: dict[str, Any] = one["artifact"]["positions"][at]
    return signed


def singleton(one: Sequence) -> None:
    for signed in one["artifact"]["positions"]:
        signed["support"] = [pair for pair in signed["support"] if pair[0] == signed["token"]]


def singleton_of_all_mass(one: Sequence) -> None:
    for signed in one["artifact"]["positions"]:
        signed["support"] = [[signed["token"], "0"]]


def narrowed(one: Sequence) -> None:
    position(one, 1)["support"].pop()


def widened(one: Sequence) -> None:
    position(one, 1)["support"].append(["99", "-20"])


def bent_until_it_is_drawn(one: Sequence) -> None:
    """Sign another token, and a log-probability of it that makes the draw land on it."""
    signed = position(one)
    signed["token"] = next(t for t, _ in signed["support"] if t != signed["token"])
    signed["support"] = [[t, "-0.001" if t == signed["token"] else x] for t, x in signed["support"]]


def bent_and_normalised(one: Sequence) -> None:
    """The same with all other numbers lowered: this is what distances are for."""
    signed = position(one)
    signed["token"] = next(t for t, _ in signed["support"] if t != signed["token"])
    signed["support"] = [
        [t, "-0.001" if t == signed["token"] else "-20"] for t, _ in signed["support"]
    ]


def support_of_nothing(one: Sequence) -> None:
    signed = position(one)
    signed["support"] = [[token, "-12"] for token, _ in signed["support"]]


def all_null(one: Sequence) -> None:
    for signed in one["artifact"]["positions"]:
        signed["support"] = None


def all_null_but_one(one: Sequence) -> None:
    for signed in one["artifact"]["positions"][1:]:
        signed["support"] = None


def no_pair(one: Sequence) -> None:
    position(one, 2)["support"] = []


def another_token(one: Sequence) -> None:
    signed = position(one)
    signed["token"] = next(t for t, _ in signed["support"] if t != signed["token"])


def token_outside_the_support(one: Sequence) -> None:
    signed = position(one)
    held = {token for token, _ in signed["support"]}
    signed["token"] = next(str(n) for n in range(300) if str(n) not in held)


def unsorted(one: Sequence) -> None:
    position(one)["support"].reverse()


def twice(one: Sequence) -> None:
    support = position(one)["support"]
    support[1] = support[0]


def number(text: str) -> Edit:
    def edit(one: Sequence) -> None:
        position(one)["support"][3][1] = text

    return edit


def token_text(text: str) -> Edit:
    def edit(one: Sequence) -> None:
        position(one)["support"][0][0] = text

    return edit


def sampled_text(text: str) -> Edit:
    def edit(one: Sequence) -> None:
        position(one)["token"] = text

    return edit


def copy(name: str, value: object) -> Edit:
    def edit(one: Sequence) -> None:
        one["artifact"][name] = value

    return edit


def all_of(*edits: Edit) -> Edit:
    def edit(one: Sequence) -> None:
        for each in edits:
            each(one)

    return edit


def truncated(length: int | None, finish: str) -> Edit:
    def edit(one: Sequence) -> None:
        one["artifact"]["positions"].pop()
        one["artifact"]["finish"] = finish
        if length is not None:
            one["artifact"]["length"] = length

    return edit


def emptied(one: Sequence) -> None:
    one["artifact"] |= {"positions": [], "length": 0}


BAD_NUMBERS = (
    "0.1", "1", "-0", "-0.0", "-1.0", "-1.50", "-01", "-.5", "-1.", "+0", "", " ", "-1 ", " -1",
    "-1_0", "-1e2", "-1E-9", "-1e-99999999999999999999", "-1e999999999999999999", "-Infinity",
    "-inf", "NaN", "-123456", "-1." + "1" * 25, "-" + "9" * 40, "0.0", "--1", "-1,5", "-0x1",
    "1e-400000",
)  # fmt: skip
BAD_TOKENS = ("07", "+7", "-7", "7 ", "", "0x7", "300", "3e1", "99999999999", "7.0", "00", "1_0")

INVALID: tuple[tuple[str, Edit, int | None], ...] = (
    ("support_size", singleton, 0),
    ("support_size", singleton_of_all_mass, 0),
    ("support_size", narrowed, 1),
    ("support_size", widened, 1),
    ("support_size", no_pair, 2),
    ("support_missing", all_null, 0),
    ("support_missing", all_null_but_one, 1),
    ("mass_above", bent_until_it_is_drawn, 0),
    ("mass_below", support_of_nothing, 0),
    ("support_order", unsorted, 0),
    ("support_order", twice, 0),
    *(("logprob", number(text), 0) for text in BAD_NUMBERS),
    *(("token_id", token_text(text), 0) for text in BAD_TOKENS),
    *(("token_id", sampled_text(text), 0) for text in BAD_TOKENS),
    ("copy_differs", copy("user_seed", "-8"), None),
    ("copy_differs", copy("user_seed", "-07"), None),
    ("copy_differs", copy("inference_id", "chain-other"), None),
    ("copy_differs", copy("beacon", ""), None),
    ("copy_differs", copy("choice", 0), None),
    ("copy_differs", copy("temperature", "0"), None),
    ("copy_differs", copy("temperature", "0.70"), None),
    ("copy_differs", copy("temperature", "0.699999988079071"), None),
    ("copy_differs", copy("top_k", None), None),
    ("copy_differs", copy("top_k", -1), None),
    ("copy_differs", copy("top_p", "1"), None),
    ("copy_differs", copy("min_p", "0"), None),
    ("copy_differs", copy("version", "1.0.0"), None),
    ("copy_differs", copy("version", ""), None),
    ("copy_differs", copy("seed_domain", "gonka-deterministic-sampling-v1"), None),
    ("copy_differs", copy("support", "unbounded"), None),
    ("copy_differs", copy("model_sha256", "0" * 64), None),
    ("copy_differs", copy("tokenizer_sha256", ""), None),
    ("length", emptied, None),
    ("length", truncated(None, "length"), None),
    ("finish", truncated(3, "length"), None),
    ("finish", truncated(3, "stop"), None),
    ("finish", copy("finish", "stop"), None),
    ("finish", copy("finish", ""), None),
    ("length", copy("length", 5), None),
)


@pytest.mark.parametrize(("reason", "edit", "at"), INVALID)
def test_an_artifact_that_is_none(reason: str, edit: Edit, at: int | None) -> None:
    one = honest()
    edit(one)
    assert outcome(one) == ("invalid_artifact", reason, at)


@pytest.mark.parametrize("edit", [another_token, token_outside_the_support])
def test_another_token_is_fraud(edit: Edit) -> None:
    one = honest()
    edit(one)
    assert outcome(one) == FRAUD


@pytest.mark.parametrize(
    "hide",
    [
        copy("version", "sampling/v2"),
        copy("seed_domain", "another"),
        copy("temperature", "0"),
        copy("temperature", "1e999"),
        copy("user_seed", "x"),
        copy("length", 0),
        copy("finish", "error"),
        all_null_but_one,
        narrowed,
        truncated(3, "stop"),
    ],
)
def test_no_lie_elsewhere_hides_a_fraud(hide: Edit) -> None:
    one = honest()
    all_of(another_token, hide)(one)
    assert outcome(one) == FRAUD


def test_a_chosen_token_with_invented_numbers_passes_what_is_derived_here() -> None:
    """The limit of replay: numbers that lead to the token, and are none of the model's."""
    one = honest()
    bent_and_normalised(one)
    assert outcome(one) == ("honest", "", None)


@pytest.mark.parametrize("name", ["whole", "masked"])
def test_the_number_of_signed_tokens_is_not_the_executor_s(name: str) -> None:
    assert outcome(honest(name)) == ("honest", "", None)
    fewer, more = honest(name), honest(name)
    position(fewer)["support"].pop()
    position(more)["support"].append(["99", "-20"])
    assert outcome(fewer) == ("invalid_artifact", "support_size", 0)
    # The vocabulary of `whole` has no token 99.
    reason = {"whole": "token_id", "masked": "support_size"}[name]
    assert outcome(more) == ("invalid_artifact", reason, 0)


def test_min_p_is_cut_by_one_witness() -> None:
    assert outcome(honest("min_p")) == ("honest", "", None)
    none, two = honest("min_p"), honest("min_p")
    least = min(position(none)["support"], key=lambda pair: Decimal(pair[1]))
    position(none)["support"].remove(least)
    held = {token for token, _ in position(two)["support"]}
    other = next(str(n) for n in range(2000) if str(n) not in held)
    position(two)["support"].append([other, least[1]])
    position(two)["support"].sort()
    for one in (none, two):
        assert outcome(one) == ("invalid_artifact", "support_cut", 0)


def test_stop_tokens_are_masked_below_min_tokens() -> None:
    one = honest("masked")
    held = position(one)["support"]
    free = next(n for n in range(len(held)) if held[n][0] not in ("1", "2", "3"))
    held[free][0] = "2"
    held.sort()
    verdict, reason, at = outcome(one)
    assert (verdict, reason, at) == ("invalid_artifact", "stop_not_masked", 0)


def test_nothing_is_sampled_after_a_stop() -> None:
    one = honest()
    tokens = [int(signed["token"]) for signed in one["artifact"]["positions"]]
    one["request"]["stop_tokens"] = [tokens[1]]
    assert outcome(one) == ("invalid_artifact", "past_stop", tokens.index(tokens[1]))
    one["request"]["stop_tokens"] = [tokens[-1]]
    if tokens.index(tokens[-1]) == len(tokens) - 1:
        assert outcome(one) == ("invalid_artifact", "finish", None)
        one["artifact"]["finish"] = "stop"
        assert outcome(one) == ("honest", "", None)


def test_sentinels_mean_what_they_say() -> None:
    """0 and -1 turn top_k off, 1 and more top_p, 0 min_p: none of them reaches a filter."""
    for top_k, top_p, min_p in ((None, None, None), (0, "1", "0"), (-1, "999", None)):
        one = honest("whole")
        one["request"] |= {"top_k": top_k, "top_p": top_p, "min_p": min_p}
        assert outcome(one) == ("honest", "", None)
