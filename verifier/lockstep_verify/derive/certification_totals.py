"""Controls, conditions, limits, counts and verdict of a run (CERT-19 to CERT-23)."""

from __future__ import annotations

from itertools import combinations
from typing import Any

from lockstep_verify import spec
from lockstep_verify.derive.certification_cells import Judged
from lockstep_verify.derive.certification_differences import Table
from lockstep_verify.derive.certification_plan import OTHER_SERVER

Document = dict[str, Any]
_VERDICTS = (
    "clean",
    "divergent",
    "first_run_only",
    "missing",
    "not_batched",
    "not_alone",
    "not_cached",
    "malformed",
    "error",
    "hang",
    "not_run",
)


def omitted(plan: Document) -> list[Document]:
    """Give the cases that are not in the plan (CERT-23)."""
    return [
        {
            "case": case["name"],
            "reason": "not_chosen" if set(case["needs"]) <= set(plan["offers"]) else "not_offered",
        }
        for case in spec.load("certification.json")["cases"]
        if case["name"] not in plan["cases"]
    ]


def conditions(judged: list[Judged], table: Table) -> list[Document]:
    """Give for each axis the pairs of cells that differ in it alone (CERT-23)."""
    axes = [axis["name"] for axis in spec.load("certification.json")["axes"]]
    found = {axis: {"axis": axis, "compared": 0, "differing": 0} for axis in axes}
    scored = [one for one in judged if one.cell.control is None and one.scored]
    by_case: dict[str, list[Judged]] = {}
    for one in scored:
        by_case.setdefault(one.cell.case, []).append(one)
    for several in by_case.values():
        for left, right in combinations(several, 2):
            here, there = left.cell.condition, right.cell.condition
            apart = [axis for axis in axes if here[axis] != there[axis]]
            if len(apart) == 1:
                found[apart[0]]["compared"] += 1
                found[apart[0]]["differing"] += _differ(left, right, table)
    return list(found.values())


def _differ(left: Judged, right: Judged, table: Table) -> bool:
    return any(
        len(_classes(own, table) | _classes(right.seen[signature], table)) > 1
        for signature, own in left.seen.items()
        if signature in right.seen
    )


def _classes(ones: list[Any], table: Table) -> set[int]:
    return {table.whole(one) for one in ones}


def controls(judged: list[Judged], plan: Document, table: Table) -> list[Document]:
    """Give what each control shows (CERT-21)."""
    sequential = [one for one in judged if one.cell.control == "sequential"]
    positive = [one for one in judged if one.cell.control in OTHER_SERVER]
    off = [
        one for one in judged if one.cell.control is None and one.cell.condition["cache"] == "off"
    ]
    status = {
        "sequential": _status(sequential, all(one.verdict == "clean" for one in sequential)),
        "sensitivity": _sensitivity(judged, table),
        "positive": "absent",
        "cache_off": _status(off, True) if off else "absent",
    }
    if plan["positive"] != "absent":
        differs = any(one.verdict == "divergent" for one in positive)
        status["positive"] = "shown" if differs else _status(positive, False)
    return [{"name": name, "status": value} for name, value in status.items()]


def _status(cells: list[Judged], shown: bool) -> str:
    if shown and all(one.scored for one in cells):
        return "shown"
    return "not_shown" if all(one.scored for one in cells) else "not_run"


def _sensitivity(judged: list[Judged], table: Table) -> str:
    altered = next(one for one in judged if one.cell.control == "sensitivity")
    plain = next(
        one
        for one in judged
        if one.cell.control == "sequential" and one.cell.case == altered.cell.case
    )
    if any(one.verdict in ("not_run", "hang", "error") for one in (altered, plain)):
        return "not_run"
    by_place = [_by_place(one, table) for one in (altered, plain)]
    for place, own in by_place[0].items():
        if own.isdisjoint(by_place[1].get(place, own)):
            return "shown"
    return "not_shown"


def _by_place(one: Judged, table: Table) -> dict[int, set[int]]:
    found: dict[int, set[int]] = {}
    for several in one.seen.values():
        for seen in several:
            found.setdefault(seen.place, set()).add(table.whole(seen))
    return found


def identity(subject: Document) -> tuple[int, int]:
    """Give how many fields agree with their own recorded constants, and how many do not."""
    recorded = [one for one in subject["identity"] if one["recorded"] is not None]
    agreeing = sum(one["recorded"] == one["observed"] for one in recorded)
    return agreeing, len(recorded) - agreeing


def limits(predicate: Document, judged: list[Judged], status: dict[str, str]) -> list[str]:
    """Give what cannot be believed (CERT-23)."""
    plan = predicate["plan"]
    cells = [one for one in judged if one.cell.control is None and one.scored]
    fields = predicate["subject"]["identity"]
    holds = {
        "black_box": True,
        "positive_absent": status["positive"] == "absent",
        "positive_not_shown": status["positive"] in ("not_run", "not_shown"),
        "cache_off_absent": status["cache_off"] == "absent",
        "overlap_only": any(one.members["witness"] == "overlap" for one in cells),
        "cache_not_reported": any(
            one.members["cache_witness"] == "not_reported" and _long(one, plan) for one in cells
        ),
        "weak_observable": plan["observable"] != "logprobs" or _constant(predicate["outputs"]),
        "text_prompts": plan["form"] == "text",
        "lengths_differ": plan["form"] == "tokens" and _lengths_differ(predicate, judged),
        "one_lifetime": plan["lifetimes"] == 1,
        "not_launched": predicate["subject"]["launch"] is None,
        "identity_not_read": any(one["observed"] is None for one in fields)
        or identity(predicate["subject"])[1] > 0,
        "adapter_unverified": not predicate["adapter"]["verified"],
        "cases_omitted": bool(predicate["omitted"]),
    }
    return [one["id"] for one in spec.load("certification.json")["limits"] if holds[one["id"]]]


def _constant(outputs: list[Document]) -> bool:
    """Whether all log-probabilities are one and the same text, or there are none."""
    return len({number for one in outputs for number in one["logprobs"] or ()} - {None}) < 2


def _long(one: Judged, plan: Document) -> bool:
    return any(
        len(request["prompt"]) > plan["block_size"]
        for request in one.cell.requests
        if request["role"] == "probe"
    )


def _lengths_differ(predicate: Document, judged: list[Judged]) -> bool:
    return any(
        told is not None and request["rescores"] is None and told != len(request["prompt"])
        for one, stated in zip(judged, predicate["cells"], strict=True)
        for round_ in stated["rounds"]
        for request, told in zip(one.cell.requests, round_["prompt_tokens"] or (), strict=False)
    )


def verdict(judged: list[Judged], status: dict[str, str], subject: Document) -> str:
    """Give the run's verdict (CERT-22)."""
    own = [one for one in judged if one.cell.control not in OTHER_SERVER]
    if any(one.members["kinds"] for one in own):
        return "DIVERGENT"
    clean = all(one.verdict == "clean" for one in own)
    shown = status["sequential"] == status["sensitivity"] == "shown"
    return "CLEAN" if clean and shown and identity(subject)[1] == 0 else "INCONCLUSIVE"


def counts(
    predicate: Document, judged: list[Judged], status: dict[str, str], table: Table
) -> dict[str, int]:
    """Give the counts, in their order."""
    plan, verdicts = predicate["plan"], [one.verdict for one in judged]
    rounds = [one for cell in predicate["cells"] for one in cell["rounds"]]
    statistics = [one.members["statistics"] for one in judged]
    scored = [one for one in judged if one.cell.control is None and one.scored]
    agreeing, differing = identity(predicate["subject"])
    prompts = predicate["prompts"]
    return {
        "cases_declared": len(spec.load("certification.json")["cases"]),
        "cases_planned": len(plan["cases"]),
        "cells_planned": len(judged),
        "cells_run": sum(one != "not_run" for one in verdicts),
        **{f"cells_{name}": verdicts.count(name) for name in _VERDICTS},
        "cells_gauge": sum(one.members["witness"] == "gauge" for one in scored),
        "cells_overlap": sum(one.members["witness"] == "overlap" for one in scored),
        "cells_cache_shown": sum(one.members["cache_witness"] == "shown" for one in scored),
        "controls_shown": sum(one == "shown" for one in status.values()),
        "sequential_shown": int(status["sequential"] == "shown"),
        "sensitivity_shown": int(status["sensitivity"] == "shown"),
        "positive_shown": int(status["positive"] == "shown"),
        "lifetimes": max((one["lifetime"] + 1 for one in rounds), default=0),
        "rounds": len(rounds),
        "rounds_scored": sum(one["rounds"] for one in statistics if one is not None),
        "requests": sum(len(one["outputs"]) for one in rounds),
        "answers": sum(output is not None for one in rounds for output in one["outputs"]),
        "positions": sum(
            table.answers[output].size or 0
            for one in rounds
            for output in one["outputs"]
            if output is not None
        ),
        "failures": sum(len(one["failures"]) for one in rounds),
        "outputs": len(predicate["outputs"]),
        "pairs": sum(one.members["pairs"] for one in judged),
        "pairs_differing": sum(one.members["pairs_differing"] for one in judged),
        "identity_agreeing": agreeing,
        "identity_differing": differing,
        "turned_off": len(predicate["turned_off"]),
        "prompts_items": 0 if prompts is None else prompts["items"],
        "prompts_flips": 0
        if prompts is None
        else sum(c["answers"] for c in prompts["comparisons"]),
    }
