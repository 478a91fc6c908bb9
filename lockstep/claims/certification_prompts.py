"""The user's own prompts: what flips between conditions, and why [CERT-24, CERT-25]."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations, product
from typing import Any

from lockstep.certify.cells import PlannedCell, eval_conditions
from lockstep.certify.observation import CellSeen, Output, PromptsSeen, Round, Seen
from lockstep.claims import certification_answers as answers
from lockstep.claims.certification_rounds import cache_witness, is_alone, is_batched
from lockstep.claims.certification_statistics import interval
from lockstep.errors import LockstepError

Pair = tuple[Any, Any]


def prompts(seen: Seen) -> dict[str, Any] | None:
    """Give the member `prompts`; None where the user gave none.

    Raises:
        LockstepError: COVERAGE_DENOMINATOR_NOT_DERIVED, the record has not the plan's conditions.
    """
    own = seen.prompts
    if own is None:
        return None
    planned = eval_conditions(seen.plan, own.items)
    if len(planned) != len(own.conditions):
        code = "COVERAGE_DENOMINATOR_NOT_DERIVED"
        raise LockstepError(code, "/prompts/conditions", len(planned), len(own.conditions))
    stated = [
        _condition(cell, one, seen) for cell, one in zip(planned, own.conditions, strict=True)
    ]
    places = range(len(planned))
    compared = [_comparison(seen, own, a, b) for a in places for b in places[a:]]
    short = any(one["items_compared"] < own.items for one in compared)
    unknown = (
        short
        or _lacks(seen, own)
        or not all(
            _is_shown(cell, one, told, seen)
            for cell, one, told in zip(planned, own.conditions, stated, strict=True)
        )
    )
    return {
        "items": own.items,
        "items_sha256": own.items_sha256,
        "scorer": own.scorer,
        "conditions": stated,
        "comparisons": compared,
        "verdict": _verdict(unknown, compared, own),
    }


def _condition(cell: PlannedCell, one: CellSeen, seen: Seen) -> dict[str, Any]:
    """Give a condition as the certificate holds it."""
    return {
        "control": cell.control,
        "cache": cell.cache,
        "filler": cell.filler,
        "order": cell.order,
        "rounds": [{**told.document(), "scores": _scores(told)} for told in one.rounds],
        "reason": one.reason,
        "batched_rounds": sum(
            is_batched(cell, told, seen.plan, seen.adapter) for told in one.rounds
        ),
        "cache_witness": cache_witness(cell, one.rounds, {**seen.plan, "priming": 0}),
    }


def _is_shown(cell: PlannedCell, one: CellSeen, stated: Mapping[str, Any], seen: Seen) -> bool:
    """Whether a condition was met in all of its rounds, so that it can speak for the server."""
    if one.reason or any(told.failures for told in one.rounds):
        return False
    if stated["cache_witness"] == "contradicted":
        return False
    if cell.alone:
        return all(is_alone(told, seen.adapter) for told in one.rounds)
    return bool(stated["batched_rounds"] >= 2)


def _scores(one: Round) -> list[str | None] | None:
    return None if one.scores is None else list(one.scores)


def _lacks(seen: Seen, own: PromptsSeen) -> bool:
    """Whether an answer to an item lacks what the observable needs [CERT-16]."""
    told = {
        output
        for condition in own.conditions
        for one in condition.rounds
        for output in one.outputs[: own.items]
        if output is not None
    }
    return any(answers.lacks(seen.outputs[at], seen.plan["observable"], False) for at in told)


def _is_scored(own: PromptsSeen) -> bool:
    """Whether each answer to an item has a score."""
    rounds = [one for condition in own.conditions for one in condition.rounds]
    return all(
        output is None or (one.scores is not None and one.scores[at] is not None)
        for one in rounds
        for at, output in enumerate(one.outputs[: own.items])
    )


def _verdict(unknown: bool, compared: Sequence[dict[str, Any]], own: PromptsSeen) -> str:
    if any(one["answers"] for one in compared):
        return "ENGINE_MOVES"
    if unknown:
        return "UNKNOWN"
    if any(one["scores"] for one in compared):
        return "SCORER_MOVES"
    return "UNKNOWN" if own.scorer is not None and not _is_scored(own) else "STEADY"


def _comparison(seen: Seen, own: PromptsSeen, a: int, b: int) -> dict[str, Any]:
    """Give what flips between two conditions, or within one."""
    items, within = range(own.items), a == b
    both = own.conditions[a].rounds, own.conditions[b].rounds
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
    return answers.kind(*pair) == "tokens"


def _outputs(seen: Seen, rounds: Sequence[Round], item: int) -> list[Output]:
    places = [one.outputs[item] for one in rounds]
    told = [seen.outputs[place] for place in places if place is not None]
    return [one for one in told if answers.says(one)]


def _said(rounds: Sequence[Round], item: int) -> list[str]:
    told = [one.scores[item] for one in rounds if one.scores is not None]
    return [score for score in told if score is not None]
