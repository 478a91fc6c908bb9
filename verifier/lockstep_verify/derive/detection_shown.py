"""What shows that a server has a fault (DET-6 to DET-13)."""

from __future__ import annotations

from typing import Any

from lockstep_verify.derive.certification_differences import Signatures
from lockstep_verify.derive.certification_outputs import Answer, answers, contrast, delta, malformed
from lockstep_verify.derive.certification_plan import AT, OTHER_SERVER, OUTCOME, Cell, require
from lockstep_verify.errors import Refusal

Document = dict[str, Any]

_CELL = ("case", "control", "cache", "filler", "order")
_DIFFERENCE = ("scope", "kind", "position", "delta")
_ANSWERS = {"difference": (2, 2), "rescoring": (2, 2), "malformed": (1, 2)}
"""The fewest and the most answers of a sort; others have none."""


def check_shown(shown: Document, plan: Document, cells: list[Cell], at: str) -> None:
    """Check one observation (step 4).

    Args:
        shown: the observation.
        plan: of its trial.
        cells: of the plan.
        at: where it stands in the predicate.

    Raises:
        Refusal: BAD_VALUE, OUTCOME_NOT_DERIVED.
    """
    sort = shown["sort"]
    _check_members(shown, at)
    if sort == "no_answer":
        return
    if shown["cell"] >= len(cells) or cells[shown["cell"]].control in OTHER_SERVER:
        _refuse(f"{at}/cell", "a cell of the plan and its server", shown["cell"])
    for i, answer in enumerate(shown["answers"]):
        _check_place(answer, answer["place"], "place", plan, cells, f"{at}/answers/{i}")
    for i, answer in enumerate(shown["answers"]):
        if answer["cell"] != shown["cell"] and (sort, i) != ("difference", 1):
            _refuse(f"{at}/answers/{i}/cell", shown["cell"], answer["cell"])
    derived: Document = dict.fromkeys(_DIFFERENCE)
    if sort == "difference":
        derived = _difference(shown, cells, at)
    elif sort == "rescoring":
        derived = _rescoring(shown, cells, at)
    elif sort == "failure":
        failure = {**shown["failure"], "cell": shown["cell"]}
        _check_place(failure, failure["request"], "request", plan, cells, f"{at}/failure")
    cell = cells[shown["cell"]]
    told = {"case": cell.case, "control": cell.control, **cell.condition}
    if sort == "malformed":
        holds = _is_malformed(shown, cells, at)
    else:
        holds = sort != "reused" or _is_reused(shown["reused"], plan, cell, f"{at}/reused")
    for name in _CELL:
        require(OUTCOME, f"{at}/{name}", told[name], shown[name])
    for name in _DIFFERENCE:
        require(OUTCOME, f"{at}/{name}", derived[name], shown[name])
    if not holds:
        raise Refusal(OUTCOME, f"{AT}/{at}/sort", "an observation that holds", sort)


def _refuse(where: str, expected: object, got: object) -> None:
    raise Refusal("BAD_VALUE", f"{AT}/{where}", expected, got)


def _check_members(shown: Document, at: str) -> None:
    """Check that members are there exactly where the sort names them (DET-6)."""
    sort = shown["sort"]
    least, most = _ANSWERS.get(sort, (0, 0))
    named = {
        "cell": sort != "no_answer",
        **({} if sort != "no_answer" else dict.fromkeys((*_CELL, *_DIFFERENCE), False)),
        "failure": sort == "failure",
        "reused": sort == "reused",
    }
    for name, wanted in named.items():
        if (shown[name] is not None) != wanted:
            _refuse(f"{at}/{name}", "a value" if wanted else "null", shown[name])
    if not least <= len(shown["answers"]) <= most:
        _refuse(f"{at}/answers", f"{least} to {most} answers", len(shown["answers"]))
    if (shown["told"] != "") != (sort == "no_answer"):
        _refuse(f"{at}/told", "words, exactly for no_answer", shown["told"])


def _check_place(
    one: Document, place: int, name: str, plan: Document, cells: list[Cell], at: str
) -> None:
    """Check that what is said of a round and a request is in the plan."""
    if one["cell"] >= len(cells) or cells[one["cell"]].control in OTHER_SERVER:
        _refuse(f"{at}/cell", "a cell of the plan and its server", one["cell"])
    cell = cells[one["cell"]]
    bounds = {"lifetime": plan["lifetimes"], "number": cell.per_lifetime}
    for member, bound in bounds.items():
        if one[member] >= bound:
            _refuse(f"{at}/{member}", f"below {bound}", one[member])
    if place >= cell.size(one["number"]):
        _refuse(f"{at}/{name}", f"below {cell.size(one['number'])}", place)


def _difference(shown: Document, cells: list[Cell], at: str) -> Document:
    """Give what two answers to requests that are alike come to (DET-7)."""
    a, b = shown["answers"]
    keys = ("cell", "lifetime", "number", "place")
    if [a[key] for key in keys] == [b[key] for key in keys]:
        _refuse(f"{at}/answers/1", "another answer than the first", "the same")
    scope = _scope(a, b, cells)
    if scope is None:
        _refuse(f"{at}/answers/1/cell", "the cell, or a partner of it", b["cell"])
    signatures = [Signatures(cells[one["cell"]]).of(one["place"], one["number"]) for one in (a, b)]
    if signatures[0] is None or signatures[0] != signatures[1]:
        _refuse(f"{at}/answers/1/place", "a request like the first", b["place"])
    if a["output"] == b["output"]:
        raise Refusal(OUTCOME, f"{AT}/{at}/kind", "two answers that differ", shown["kind"])
    left, right = answers([a["output"], b["output"]], "logprobs")
    kind, position, apart = contrast(left, right, a["output"], b["output"])
    return {"scope": scope, "kind": kind, "position": position, "delta": apart}


def _scope(a: Document, b: Document, cells: list[Cell]) -> str | None:
    if a["cell"] == b["cell"]:
        return "repeats" if a["lifetime"] == b["lifetime"] else "lifetimes"
    cell, other = cells[a["cell"]], cells[b["cell"]]
    if cell.control is not None or cell.case != other.case:
        return None
    if other.control == "sequential":
        return "alone"
    first = next(i for i, one in enumerate(cells) if (one.case, one.control) == (cell.case, None))
    return "condition" if b["cell"] == first else None


def _rescoring(shown: Document, cells: list[Cell], at: str) -> Document:
    """Give where a prompt's log-probabilities leave those of the answer before (DET-8)."""
    one, other = shown["answers"]
    _check_rescored(one, other, cells, f"{at}/answers/1")
    told, wanted = one["output"]["prompt_logprobs"], other["output"]["logprobs"]
    if told is None or wanted is None:
        _refuse(f"{at}/answers/0/output", "log-probabilities of both", None)
    tail = told[max(len(told) - len(wanted), 0) :]
    pairs = zip(tail, wanted, strict=False)
    place = next((i for i, (got, was) in enumerate(pairs) if got != was), len(tail))
    if place == len(wanted):
        raise Refusal(OUTCOME, f"{AT}/{at}/kind", "log-probabilities that differ", shown["kind"])
    apart = delta(tail[place], wanted[place]) if place < len(tail) else None
    return {"scope": "rescoring", "kind": "logprobs", "position": place, "delta": apart}


def _check_rescored(one: Document, other: Document, cells: list[Cell], at: str) -> None:
    for member in ("lifetime", "number"):
        if other[member] != one[member]:
            _refuse(f"{at}/{member}", one[member], other[member])
    rescored = cells[one["cell"]].requests[one["place"]]["rescores"]
    if other["place"] != rescored:
        _refuse(f"{at}/place", "what the first rescores", other["place"])


def _is_malformed(shown: Document, cells: list[Cell], at: str) -> bool:
    """Whether the first answer is none to its request (DET-9)."""
    one = shown["answers"][0]
    cell = cells[one["cell"]]
    request, prompt = cell.requests[one["place"]], None
    if (request["rescores"] is not None) != (len(shown["answers"]) == 2):
        _refuse(f"{at}/answers", "what it rescores, where it does", len(shown["answers"]))
    if request["rescores"] is None:
        prompt = len(request["prompt"])
    else:
        other = shown["answers"][1]
        _check_rescored(one, other, cells, f"{at}/answers/1")
        size = _answer(other["output"]).size
        before = len(cell.requests[request["rescores"]]["prompt"])
        prompt = None if size is None else before + size
    return malformed(_answer(one["output"]), one["output"], request, one["number"], prompt)


def _answer(output: Document) -> Answer:
    return answers([output], "logprobs")[0]


def _is_reused(one: Document, plan: Document, cell: Cell, at: str) -> bool:
    """Whether the cache was used where the condition excludes it (DET-11)."""
    first, cache = max(1, plan["priming"]), cell.condition["cache"]
    if not first <= one["number"] < cell.per_lifetime:
        _refuse(f"{at}/number", "a round of the plan that is not first", one["number"])
    if one["lifetime"] >= plan["lifetimes"]:
        _refuse(f"{at}/lifetime", f"below {plan['lifetimes']}", one["lifetime"])
    sent = cell.requests[: cell.size(one["number"])]
    if len(one["cached"]) != len(sent):
        _refuse(f"{at}/cached", f"{len(sent)} entries", len(one["cached"]))
    told = [
        cached
        for request, cached in zip(sent, one["cached"], strict=True)
        if request["role"] == "probe"
        and len(request["prompt"]) > plan["block_size"]
        and cached is not None
        and (cache == "off" or request["wave"] == 0)
    ]
    return any(told) if cache == "off" else cache == "cold" and told != [] and all(told)
