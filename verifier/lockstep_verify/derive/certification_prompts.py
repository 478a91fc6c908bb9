"""The user's own prompts: which answers and scores flip between conditions (CERT-24, CERT-25)."""

from __future__ import annotations

from collections.abc import Hashable
from itertools import combinations_with_replacement
from typing import Any, NamedTuple

from lockstep_verify.derive import certification_rounds as form
from lockstep_verify.derive.certification_differences import Table
from lockstep_verify.derive.certification_outputs import agree
from lockstep_verify.derive.certification_plan import (
    COUNTS,
    COVERAGE,
    OUTCOME,
    Cell,
    eval_cells,
    require,
)
from lockstep_verify.derive.certification_statistics import bounds

Document = dict[str, Any]


class Given(NamedTuple):
    """What a round gives for an item: something compared, and the output where there is one."""

    value: Hashable
    output: int | None


def check_form(prompts: Document, plan: Document, outputs: int, gauge: bool) -> list[Cell]:
    """Check conditions and rounds of the user's prompts, and give the conditions (step 6)."""
    cells = list(eval_cells(plan, prompts["items"]))
    require(COVERAGE, "prompts/conditions", len(cells), len(prompts["conditions"]))
    for i, (cell, one) in enumerate(zip(cells, prompts["conditions"], strict=True)):
        for name, value in {"control": cell.control, **cell.condition}.items():
            require(COVERAGE, f"prompts/conditions/{i}/{name}", value, one[name])
    for i, (cell, one) in enumerate(zip(cells, prompts["conditions"], strict=True)):
        at = f"prompts/conditions/{i}"
        form.check_numbers(one["rounds"], cell.lifetimes, cell.per_lifetime, one["reason"], at)
        form.check_possible(cell, one, plan, at)
        for number, told in enumerate(one["rounds"]):
            roles = [request["role"] for request in cell.requests[: cell.size(told["number"])]]
            where = f"{at}/rounds/{number}"
            form.check_form(told, roles, outputs, gauge, where, prompts["items"])
            if told["scores"] is not None and prompts["scorer"] is None:
                form.refuse(f"{where}/scores", None, told["scores"])
            if cell.one_by_one:
                form.check_one_by_one(told, where)
            else:
                form.check_waves(cell, told, where)
    return cells


def check(prompts: Document, cells: list[Cell], plan: Document, table: Table, gauge: bool) -> None:
    """Derive what flips, and the verdict over it (step 6)."""
    whole = {**plan, "priming": 0}
    shown = []
    for i, (cell, one) in enumerate(zip(cells, prompts["conditions"], strict=True)):
        shown.append(form.witness(cell, one["rounds"], whole, gauge))
        at = f"prompts/conditions/{i}"
        require(COUNTS, f"{at}/batched_rounds", sum(shown[i].batched), one["batched_rounds"])
        require(OUTCOME, f"{at}/cache_witness", shown[i].cache, one["cache_witness"])
    found = comparisons(prompts, table)
    require(COVERAGE, "prompts/comparisons", len(found), len(prompts["comparisons"]))
    for i, (derived, stated) in enumerate(zip(found, prompts["comparisons"], strict=True)):
        for name, value in derived.items():
            code = OUTCOME if name in ("a", "b", "first") else COUNTS
            if name.endswith("_ppm"):
                code = "STATISTICS_DO_NOT_RECOMPUTE"
            require(code, f"prompts/comparisons/{i}/{name}", value, stated[name])
    verdict = "STEADY"
    if any(one["answers"] for one in found):
        verdict = "ENGINE_MOVES"
    elif _unknown(prompts, cells, shown, found) or _lacks(prompts, table):
        verdict = "UNKNOWN"
    elif any(one["scores"] for one in found):
        verdict = "SCORER_MOVES"
    elif prompts["scorer"] is not None and _unscored(prompts):
        verdict = "UNKNOWN"
    require(OUTCOME, "prompts/verdict", verdict, prompts["verdict"])


def _unknown(
    prompts: Document, cells: list[Cell], shown: list[form.Witness], found: list[Document]
) -> bool:
    """Whether it cannot be said that the server does not move an answer (CERT-25)."""
    if any(one["items_compared"] < prompts["items"] for one in found):
        return True
    for cell, one, told in zip(cells, prompts["conditions"], shown, strict=True):
        failed = any(seen["failures"] for seen in one["rounds"])
        seen = told.alone if cell.one_by_one else sum(told.batched) > 1
        if one["reason"] or failed or told.cache == "contradicted" or not seen:
            return True
    return False


def _lacks(prompts: Document, table: Table) -> bool:
    """Whether an answer to an item lacks what the observable needs (CERT-16)."""
    return any(
        output is not None and table.answers[output].lacks
        for one in prompts["conditions"]
        for told in one["rounds"]
        for output in told["outputs"][: prompts["items"]]
    )


def _unscored(prompts: Document) -> bool:
    """Whether an answer to an item has no score."""
    for one in prompts["conditions"]:
        for told in one["rounds"]:
            scores = told["scores"] or [None] * prompts["items"]
            answered = zip(told["outputs"], scores, strict=False)
            if any(output is not None and score is None for output, score in answered):
                return True
    return False


def comparisons(prompts: Document, table: Table) -> list[Document]:
    """Give what flips within and between conditions (CERT-24)."""
    answers, scores, items = [], [], range(prompts["items"])
    for one in prompts["conditions"]:
        answers.append([_answers(one["rounds"], item, table) for item in items])
        scores.append([_scores(one["rounds"], item) for item in items])
    found = []
    for a, b in combinations_with_replacement(range(len(answers)), 2):
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
        if output is not None and table.answers[output].says:
            found.append(Given(table.answers[output].tokens, output))
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
