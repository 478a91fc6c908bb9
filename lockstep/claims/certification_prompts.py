"""The user's own prompts: what flips between conditions, and why [CERT-24, CERT-25]."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, product
from typing import Any

from lockstep import spec
from lockstep.certify.observation import Output, Round, Seen
from lockstep.claims import certification_answers as answers
from lockstep.claims.certification_rounds import is_alone, is_batched
from lockstep.claims.certification_statistics import interval

Pair = tuple[Any, Any]


def prompts(seen: Seen) -> dict[str, Any] | None:
    """Give the member `prompts`; None where the user gave none."""
    own = seen.prompts
    if own is None:
        return None
    names = spec.load("certification.json")["eval_conditions"]
    rounds = dict(zip(names, own.rounds, strict=True))
    batched = {
        name: sum(is_batched(one, seen.plan, seen.adapter) for one in several)
        for name, several in rounds.items()
    }
    compared = [
        _comparison(seen, rounds, a, b)
        for a, b in (("sequential",) * 2, ("batched",) * 2, ("sequential", "batched"))
    ]
    failed = any(one.failures for several in own.rounds for one in several)
    short = any(one["items_compared"] < own.items for one in compared)
    beside = not all(is_alone(one, seen.adapter) for one in rounds["sequential"])
    unknown = own.reason != "" or failed or short or beside or batched["batched"] < 2
    return {
        "items": own.items,
        "items_sha256": own.items_sha256,
        "scorer": own.scorer,
        "lifetimes": own.lifetimes,
        "repeats": own.repeats,
        "reason": own.reason,
        "conditions": [
            {
                "name": name,
                "batched_rounds": batched[name],
                "rounds": [{**one.document(), "scores": _scores(one)} for one in several],
            }
            for name, several in rounds.items()
        ],
        "comparisons": compared,
        "verdict": _verdict(unknown, compared),
    }


def _scores(one: Round) -> list[str | None] | None:
    return None if one.scores is None else list(one.scores)


def _verdict(unknown: bool, compared: Sequence[dict[str, Any]]) -> str:
    if unknown:
        return "UNKNOWN"
    if any(one["answers"] for one in compared):
        return "ENGINE_MOVES"
    return "SCORER_MOVES" if any(one["scores"] for one in compared) else "STEADY"


def _comparison(seen: Seen, rounds: dict[str, tuple[Round, ...]], a: str, b: str) -> dict[str, Any]:
    """Give what flips between two conditions, or within one."""
    items = range(seen.prompts.items if seen.prompts else 0)
    both, within = (rounds[a], rounds[b]), a == b
    outputs = [_pairs([_outputs(seen, one, at) for one in both], within) for at in items]
    scores = [_pairs([_said(one, at) for one in both], within) for at in items]
    flipped = {
        at: next(pair for pair in pairs if _apart(pair))
        for at, pairs in enumerate(outputs)
        if any(map(_apart, pairs))
    }
    moved = sum(any(left != right for left, right in pairs) for pairs in scores)
    compared, scored = sum(map(bool, outputs)), sum(map(bool, scores))
    (low, high), (scores_low, scores_high) = (
        interval(len(flipped), compared),
        interval(moved, scored),
    )
    return {
        "a": a,
        "b": b,
        "items_compared": compared,
        "answers": len(flipped),
        "low_ppm": low,
        "high_ppm": high,
        "scores_compared": scored,
        "scores": moved,
        "scores_low_ppm": scores_low,
        "scores_high_ppm": scores_high,
        "first": [
            {"item": at, "position": answers.agreeing(*pair, "tokens")}
            for at, pair in flipped.items()
        ],
    }


def _pairs(both: Sequence[Sequence[Any]], within: bool) -> list[Pair]:
    return list(combinations(both[0], 2) if within else product(*both))


def _apart(pair: tuple[Output, Output]) -> bool:
    return answers.words(pair[0]) != answers.words(pair[1])


def _outputs(seen: Seen, rounds: Sequence[Round], item: int) -> list[Output]:
    places = [one.outputs[item] for one in rounds]
    told = [seen.outputs[place] for place in places if place is not None]
    return [one for one in told if answers.words(one) is not None]


def _said(rounds: Sequence[Round], item: int) -> list[str]:
    told = [one.scores[item] for one in rounds if one.scores is not None]
    return [score for score in told if score is not None]
