"""Verdicts: what an honest executor gets, and what each attack gets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from lockstep import spec
from lockstep.sampling import replay_position, replay_sequence, resolve
from lockstep.sampling.document import Artifact, Request, Signed
from lockstep.sampling.executor import execute, sample_position, support
from tests.refusals import refused
from tests.sampling.conftest import VOCABULARY, logprobs_after, request_of


def judged(request: Request, artifact: Artifact, choice: int = 1) -> tuple[str, str, int | None]:
    found = replay_sequence(request, choice, artifact)
    return found.verdict, found.reason, found.position


def at(artifact: Artifact, position: int, **changes: Any) -> Artifact:
    """Give an artifact with another signed position."""
    positions = list(artifact.positions)
    positions[position] = positions[position]._replace(**changes)
    return replace(artifact, positions=tuple(positions))


def copied(artifact: Artifact, **changes: Any) -> Artifact:
    return replace(artifact, copies={**artifact.copies, **changes})


def test_an_honest_artifact_is_honest(request_made: Request, artifact: Artifact) -> None:
    found = replay_sequence(request_made, 1, artifact)
    assert (found.verdict, found.reason, found.position) == ("honest", "", None)
    assert (found.positions, found.covered, found.support_tokens) == (8, 8, 160)
    assert (found.fraud_positions, found.invalid_positions) == (0, 0)


@pytest.mark.parametrize(
    ("rule", "parameters", "vocab_size"),
    [
        ("top_k", resolve("1", 7), 3000),
        ("whole", resolve("0.7", None, "0.9"), 200),
        ("whole", resolve("1.3"), 256),
        ("min_p", resolve("1", None, None, "0.05"), 3000),
        ("min_p", resolve("0.7", None, "0.9", "0.02"), 3000),
        ("min_p", resolve("1", 2000, None, "1"), 3000),
    ],
)
def test_honest_executors_under_each_rule(rule: str, parameters: Any, vocab_size: int) -> None:
    request = request_of(parameters=parameters, vocab_size=vocab_size, max_tokens=3)
    made = execute(request, 0, logprobs_after(vocab_size))
    assert request.rule == rule == made.copies["support"]
    assert judged(request, made, 0) == ("honest", "", None)


def test_choices_and_positions_are_drawn_apart(request_made: Request, artifact: Artifact) -> None:
    model = logprobs_after(VOCABULARY)
    other = execute(request_made, 0, model)
    assert [one.token for one in other.positions] != [one.token for one in artifact.positions]
    given = model([])
    assert len({sample_position(request_made, 0, n, given).token for n in range(60)}) > 1


def test_the_choice_of_another_sequence_is_no_copy(
    request_made: Request, artifact: Artifact
) -> None:
    verdict, _, _ = judged(request_made, artifact, 0)
    assert verdict in ("fraud", "invalid_artifact")
    refused("BAD_VALUE", lambda: replay_sequence(request_made, 2, artifact))


def test_another_token_is_fraud_wherever_it_stands(
    request_made: Request, artifact: Artifact
) -> None:
    for position, signed in enumerate(artifact.positions):
        others = [token for token, _ in signed.support or () if token != signed.token]
        for token in (others[0], others[-1], str(VOCABULARY - 1)):
            forged = at(artifact, position, token=token)
            assert judged(request_made, forged) == ("fraud", "token_differs", position)


Edit = Callable[[Signed], dict[str, Any]]


def pairs(signed: Signed) -> list[tuple[str, str]]:
    return list(signed.support or ())


def first(signed: Signed, token: str | None = None, text: str | None = None) -> dict[str, Any]:
    (old, number), *rest = pairs(signed)
    pair = (old if token is None else token, number if text is None else text)
    return {"support": (pair, *rest)}


def singleton(signed: Signed) -> dict[str, Any]:
    return {"support": tuple(pair for pair in pairs(signed) if pair[0] == signed.token)}


def narrowed(signed: Signed) -> dict[str, Any]:
    return {"support": tuple(pairs(signed)[1:])}


def widened(signed: Signed) -> dict[str, Any]:
    return {"support": tuple(sorted([*pairs(signed), ("3999999999", "-40")]))}


def bent(signed: Signed) -> dict[str, Any]:
    return {
        "support": tuple((t, "-0.01" if t == signed.token else text) for t, text in pairs(signed))
    }


def sunk(signed: Signed) -> dict[str, Any]:
    return {"support": tuple((token, f"-3{n}") for n, (token, _) in enumerate(pairs(signed)))}


@pytest.mark.parametrize(
    ("reason", "edit"),
    [
        ("support_missing", lambda one: {"support": None}),
        ("support_size", lambda one: {"support": ()}),
        ("support_size", singleton),
        ("support_size", narrowed),
        ("token_id", widened),
        ("token_id", lambda one: {"token": ""}),
        ("token_id", lambda one: {"token": "0" + one.token}),
        ("token_id", lambda one: first(one, token="+7")),
        ("token_id", lambda one: first(one, token=str(VOCABULARY))),
        ("logprob", lambda one: first(one, text="-0.1x")),
        ("logprob", lambda one: first(one, text="-1.0")),
        ("logprob", lambda one: first(one, text="0.5")),
        ("logprob", lambda one: first(one, text="-inf")),
        ("support_order", lambda one: {"support": tuple(reversed(pairs(one)))}),
        ("support_order", lambda one: first(one, token=pairs(one)[1][0])),
        ("mass_above", lambda one: {"support": tuple((t, "-0.5") for t, _ in pairs(one))}),
        ("mass_below", sunk),
    ],
)
@pytest.mark.parametrize("position", [0, 7])
def test_what_makes_a_position_invalid(
    request_made: Request, artifact: Artifact, reason: str, edit: Edit, position: int
) -> None:
    forged = at(artifact, position, **edit(artifact.positions[position]))
    assert judged(request_made, forged) == ("invalid_artifact", reason, position)


def test_a_bent_number_raises_the_mass(request_made: Request, artifact: Artifact) -> None:
    found = set()
    for position, signed in enumerate(artifact.positions):
        forged = at(artifact, position, **bent(signed))
        found.add(replay_position(request_made, 1, position, forged.positions[position]).reason)
    assert "mass_above" in found


@pytest.mark.parametrize("position", range(8))
def test_nothing_hides_a_fraud(request_made: Request, artifact: Artifact, position: int) -> None:
    # Everything else of the artifact is spoilt, and the fraud still stands.
    others = [token for token, _ in artifact.positions[position].support or ()]
    token = next(one for one in others if one != artifact.positions[position].token)
    forged = at(artifact, position, token=token)
    for n in range(8):
        if n != position:
            forged = at(forged, n, support=None)
    forged = replace(copied(forged, version="9.9.9", temperature="0"), finish="", length=0)
    assert judged(request_made, forged) == ("fraud", "token_differs", position)


@pytest.mark.parametrize(
    ("member", "value"),
    [
        ("version", "1.0.0"), ("version", ""), ("seed_domain", "other"), ("user_seed", "-8"),
        ("inference_id", "chain-abd"), ("beacon", ""), ("choice", 0), ("temperature", "0"),
        ("temperature", "0.70"), ("top_k", 21), ("top_k", None), ("top_p", None), ("min_p", "0.1"),
        ("support", "whole"), ("model_sha256", "3" * 64), ("tokenizer_sha256", ""),
    ],
)  # fmt: skip
def test_laundered_copies(
    request_made: Request, artifact: Artifact, member: str, value: object
) -> None:
    forged = copied(artifact, **{member: value})
    assert judged(request_made, forged) == ("invalid_artifact", "copy_differs", None)


def test_all_null_coverage_is_no_coverage(request_made: Request, artifact: Artifact) -> None:
    forged = artifact
    for position in range(1, 8):
        forged = at(forged, position, support=None)
    found = replay_sequence(request_made, 1, forged)
    assert (found.verdict, found.invalid_positions, found.covered) == ("invalid_artifact", 7, 8)


@pytest.mark.parametrize(
    ("verdict", "reason", "changes"),
    [
        ("inconclusive", "version_unknown", {"version": "sampling/v2"}),
        ("inconclusive", "seed_domain_unknown", {"seed_domain": "gonka-deterministic-sampling-v1"}),
        ("not_covered", "feature", {"features": ("beam",)}),
        ("not_covered", "greedy", {"parameters": resolve("0", 20)}),
        ("not_covered", "greedy", {"parameters": resolve("0.000009", 20)}),
        ("not_covered", "support_unbounded", {"parameters": resolve("1", None, "0.9")}),
        ("not_covered", "support_unbounded", {"parameters": resolve("1", 100000)}),
    ],
)
def test_what_the_request_alone_decides(
    artifact: Artifact, verdict: str, reason: str, changes: dict[str, Any]
) -> None:
    request = request_of(**changes)
    found = replay_sequence(request, 1, artifact)
    assert (found.verdict, found.reason, found.covered) == (verdict, reason, 0)
    refused("NOT_COMPARABLE", lambda: replay_position(request, 1, 0, artifact.positions[0]))
    refused("NOT_COMPARABLE", lambda: execute(request, 1, logprobs_after(30)))


def test_the_cut_of_min_p_has_one_witness() -> None:
    request = request_of(parameters=resolve("1", None, None, "0.05"), vocab_size=3000)
    model = logprobs_after(3000)([])
    signed = sample_position(request, 0, 0, model)
    ranked = sorted(pairs(signed), key=lambda pair: (-Decimal(pair[1]), pair[0]))
    assert replay_position(request, 0, 0, signed).reason == ""
    without = signed._replace(support=tuple(sorted(ranked[:-1])))
    assert replay_position(request, 0, 0, without).reason == "support_cut"
    wider = replace(request, parameters=resolve("1", len(ranked) + 1))
    more = support(wider, 0, model).texts()
    assert replay_position(request, 0, 0, signed._replace(support=more)).reason == "support_cut"


def test_a_flat_distribution_under_min_p_is_cut_at_the_limit() -> None:
    most = spec.load("sampling.json")["support_most"]
    request = request_of(parameters=resolve("1", None, None, "0.5"), vocab_size=1500, max_tokens=1)
    flat = dict.fromkeys(range(1500), -7.313220387090301)
    made = execute(request, 0, lambda tokens: flat)
    assert len(made.positions[0].support or ()) == most
    assert judged(request, made, 0) == ("honest", "", None)
    fewer = at(made, 0, support=tuple(pairs(made.positions[0])[:-1]))
    assert judged(request, fewer, 0) == ("invalid_artifact", "support_cut", 0)


def stopping(tokens: list[int]) -> dict[int, float]:
    """A model that gives token 3 a chance of one half, and 97 others the rest."""
    return {n: -0.6931471805599453 if n == 3 else -5.267858159063328 for n in range(98)}


def test_a_stop_token_ends_a_sequence_and_is_masked_before() -> None:
    request = request_of(
        parameters=resolve("1"), vocab_size=98, stop_tokens=(3,), min_tokens=2, max_tokens=50
    )

    def masked(tokens: list[int]) -> dict[int, float]:
        if len(tokens) >= 2:
            return stopping(tokens)
        return {n: -4.574710978503383 for n in range(98) if n != 3}

    made = execute(request, 0, masked)
    assert made.finish == "stop"
    assert 2 < made.length < 50
    assert judged(request, made, 0) == ("honest", "", None)
    open_ = execute(replace(request, min_tokens=0), 0, stopping)
    early = replace(made, positions=(open_.positions[0], *made.positions[1:]))
    assert judged(request, early, 0) == ("invalid_artifact", "stop_not_masked", 0)
    for finish in ("length", "", "stopped"):
        assert judged(request, replace(made, finish=finish), 0) == (
            "invalid_artifact", "finish", None,
        )  # fmt: skip


def test_truncation_and_running_on_are_invalid(request_made: Request, artifact: Artifact) -> None:
    cut = replace(artifact, positions=artifact.positions[:5])
    assert judged(request_made, cut) == ("invalid_artifact", "length", None)
    assert judged(request_made, replace(cut, length=5)) == ("invalid_artifact", "finish", None)
    empty = replace(artifact, positions=(), length=0)
    assert judged(request_made, empty) == ("invalid_artifact", "length", None)
    shorter = replace(request_made, max_tokens=7)
    assert judged(shorter, artifact) == ("invalid_artifact", "length", None)
    stopped = int(artifact.positions[2].token)
    with_stop = replace(request_made, stop_tokens=(stopped,))
    assert judged(with_stop, artifact) == ("invalid_artifact", "past_stop", 2)


def test_ties_of_what_is_written_go_to_the_smaller_text() -> None:
    request = request_of(parameters=resolve("1", 2), vocab_size=400)
    near = {n: -5.99 + n * 1e-15 for n in (30, 4, 200)} | {n: -6.0 for n in range(300, 390)}
    assert support(request, 0, near).texts() == (("200", "-5.99"), ("30", "-5.99"))
    far = {n: -200_000.0 + n for n in range(400)} | {399: -1.0}
    assert support(request, 0, far).texts() == (("0", "-99999"), ("399", "-1"))


def test_numbers_that_are_not_finite_are_not_signed(request_made: Request) -> None:
    given = dict.fromkeys(range(VOCABULARY), -8.5)
    for bad in (float("nan"), float("-inf")):
        refused("BAD_VALUE", lambda bad=bad: support(request_made, 0, given | {7: bad}))  # type: ignore[misc]
    refused("BAD_VALUE", lambda: support(request_made, 0, {1: -0.5}))


def test_reasons_are_those_of_the_specification() -> None:
    text = spec.read("sampling.md").decode()
    for entry in spec.load("sampling.json")["reasons"]:
        assert entry["verdict"] in spec.load("sampling.json")["verdicts"]
        assert f"`{entry['reason']}`" in text or not entry["reason"]


def test_lemmas_are_those_of_the_registry() -> None:
    known = {one["name"] for one in spec.load("lemmas.json")["lemmas"]}
    for entry in spec.load("sampling.json")["lemmas"]:
        assert entry["name"] in known
        assert f"[{entry['rule']}]" in spec.read("sampling.md").decode()
        assert f"`{entry['name'].removeprefix('Sampling.')}`" in spec.read("sampling.md").decode()
