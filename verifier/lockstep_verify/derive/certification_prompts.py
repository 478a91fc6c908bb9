"""The user's own prompts: which answers and scores flip between conditions (CERT-24, CERT-25)."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, NamedTuple

from lockstep_verify import spec
from lockstep_verify.derive import certification_rounds as form
from lockstep_verify.derive.certification_differences import Table
from lockstep_verify.derive.certification_outputs import agree
from lockstep_verify.derive.certification_plan import COUNTS, COVERAGE, OUTCOME, require
from lockstep_verify.derive.certification_statistics import bounds

Document = dict[str, Any]
_PAIRS = (("sequential", "sequential"), ("batched", "batched"), ("sequential", "batched"))


class Given(NamedTuple):
    """What a round gives for an item: something compared, and the output where there is one."""

    value: Hashable
    output: int | None


def check_form(prompts: Document, outputs: int, gauge: bool) -> None:
    """Check the rounds of the user's prompts (step 6)."""
    names = spec.load("certification.json")["eval_conditions"]
    planned = prompts["lifetimes"] * prompts["repeats"]
    lacking = False
    for i, one in enumerate(prompts["conditions"]):
        at = f"prompts/conditions/{i}"
        require(COVERAGE, f"{at}/name", names[i], one["name"])
        full = len(one["rounds"]) == planned
        reason = "" if full else prompts["reason"] or "lacking"
        form.check_numbers(one["rounds"], prompts["lifetimes"], prompts["repeats"], reason, at)
        lacking = lacking or not full
        for number, told in enumerate(one["rounds"]):
            where = f"{at}/rounds/{number}"
            form.check_form(told, ["probe"] * prompts["items"], outputs, gauge, where)
            if one["name"] == "sequential":
                form.check_one_by_one(told, where)
    if (prompts["reason"] == "") == lacking:
        expected = "a reason, exactly where rounds are lacking"
        form.refuse("prompts/reason", expected, prompts["reason"])


def check(prompts: Document, table: Table, streams: bool, gauge: bool) -> None:
    """Derive what flips, and the verdict over it (step 6)."""
    formed = {}
    for i, one in enumerate(prompts["conditions"]):
        formed[one["name"]] = sum(form.batched(told, streams, gauge) for told in one["rounds"])
        where = f"prompts/conditions/{i}/batched_rounds"
        require(COUNTS, where, formed[one["name"]], one["batched_rounds"])
    found = comparisons(prompts, table)
    for i, (derived, stated) in enumerate(zip(found, prompts["comparisons"], strict=True)):
        for name, value in derived.items():
            code = OUTCOME if name in ("a", "b", "first") else COUNTS
            if name.endswith("_ppm"):
                code = "STATISTICS_DO_NOT_RECOMPUTE"
            require(code, f"prompts/comparisons/{i}/{name}", value, stated[name])
    failed = any(told["failures"] for one in prompts["conditions"] for told in one["rounds"])
    verdict = "STEADY"
    short = any(one["items_compared"] < prompts["items"] for one in found)
    one_by_one = next(one for one in prompts["conditions"] if one["name"] == "sequential")
    beside = not all(form.alone(told, gauge) for told in one_by_one["rounds"])
    if prompts["reason"] or failed or short or beside or formed["batched"] < 2:
        verdict = "UNKNOWN"
    elif any(one["answers"] for one in found):
        verdict = "ENGINE_MOVES"
    elif any(one["scores"] for one in found):
        verdict = "SCORER_MOVES"
    require(OUTCOME, "prompts/verdict", verdict, prompts["verdict"])


def comparisons(prompts: Document, table: Table) -> list[Document]:
    """Give what flips within and between conditions (CERT-24)."""
    answers, scores = {}, {}
    for one in prompts["conditions"]:
        items = range(prompts["items"])
        answers[one["name"]] = [_answers(one["rounds"], item, table) for item in items]
        scores[one["name"]] = [_scores(one["rounds"], item) for item in items]
    found = []
    for a, b in _PAIRS:
        compared, flipped, first = 0, 0, []
        for item, (left, right) in enumerate(zip(answers[a], answers[b], strict=True)):
            possible, pair = _flip(left, right, a == b)
            compared += possible
            if pair is not None:
                flipped += 1
                first.append({"item": item, "position": _position(*pair, table)})
        flips = [
            _flip(left, right, a == b) for left, right in zip(scores[a], scores[b], strict=True)
        ]
        scored = sum(possible for possible, _ in flips)
        moved = sum(pair is not None for _, pair in flips)
        (low, high), (score_low, score_high) = bounds(flipped, compared), bounds(moved, scored)
        found.append(
            {
                "a": a,
                "b": b,
                "items_compared": compared,
                "answers": flipped,
                "low_ppm": low,
                "high_ppm": high,
                "scores_compared": scored,
                "scores": moved,
                "scores_low_ppm": score_low,
                "scores_high_ppm": score_high,
                "first": first,
            }
        )
    return found


def _answers(rounds: list[Document], item: int, table: Table) -> list[Given]:
    found = []
    for one in rounds:
        output = one["outputs"][item]
        if output is not None and table.answers[output].said is not None:
            found.append(Given(table.answers[output].said, output))
    return found


def _scores(rounds: list[Document], item: int) -> list[Given]:
    told = [None if one["scores"] is None else one["scores"][item] for one in rounds]
    return [Given(score, None) for score in told if score is not None]


def _flip(
    left: list[Given], right: list[Given], within: bool
) -> tuple[bool, tuple[Given, Given] | None]:
    """Give whether there is a pair at all, and the first pair that differs."""
    possible = len(left) > 1 if within else bool(left and right)
    for i, a in enumerate(left):
        for b in left[i + 1 :] if within else right:
            if a.value != b.value:
                return possible, (a, b)
        if within:
            # All later ones equal the first, so that no other pair differs.
            break
    return possible, None


def _position(a: Given, b: Given, table: Table) -> int | None:
    if a.output is None or b.output is None:
        return None
    return agree(table.outputs[a.output], table.outputs[b.output], "tokens")
