"""Controls, conditions, limits, counts and verdict of a run [CERT-19] to [CERT-23]."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, combinations, product
from typing import Any

from lockstep import spec
from lockstep.certify.cells import POSITIVE
from lockstep.certify.observation import Seen, Setting, Subject
from lockstep.claims import certification_answers as answers
from lockstep.claims.certification_cells import Cell
from lockstep.claims.certification_differences import Sight

FILE = "certification.json"
Members = Sequence[Mapping[str, Any]]
"""Cells as the certificate has them."""


def omitted(seen: Seen) -> list[dict[str, str]]:
    """Give the cases that the plan leaves out, with the reason."""
    offers = seen.plan["offers"]
    return [
        {
            "case": case["name"],
            "reason": "not_offered" if set(case["needs"]) - set(offers) else "not_chosen",
        }
        for case in spec.load(FILE)["cases"]
        if case["name"] not in seen.plan["cases"]
    ]


def overridden(settings: Sequence[Setting]) -> list[str]:
    """Give the settings that resolved to something else than was requested [CERT-20]."""
    return [one.name for one in settings if one.requested and _other(one)]


def _other(one: Setting) -> bool:
    return one.resolved is not None and one.resolved != one.requested


def turned_off(settings: Sequence[Setting]) -> list[str]:
    """Give the features that are off although nobody asked for that [CERT-20]."""
    features = spec.load(FILE)["features"]
    off = [one for one in settings if one.name in features and one.resolved == "off"]
    return [one.name for one in off if one.requested != "off"]


def conditions(cells: Sequence[Cell]) -> list[dict[str, Any]]:
    """Give for each axis how many pairs of cells differ in it alone, and in answers."""
    axes = [axis["name"] for axis in spec.load(FILE)["axes"]]
    told = {axis: {"axis": axis, "compared": 0, "differing": 0} for axis in axes}
    scored = [one for one in cells if one.planned.control is None and one.scored]
    for one, other in combinations(scored, 2):
        if one.planned.case != other.planned.case:
            continue
        apart = [a for a in axes if getattr(one.planned, a) != getattr(other.planned, a)]
        if len(apart) == 1:
            told[apart[0]]["compared"] += 1
            told[apart[0]]["differing"] += _answers_differ(one, other)
    return list(told.values())


def _answers_differ(one: Cell, other: Cell) -> bool:
    return any(
        _apart(one, a, b)
        for key, own in one.sights.items()
        for a, b in product(_outputs(own), _outputs(other.sights.get(key, ())))
    )


def _outputs(sights: Iterable[Sight]) -> set[int]:
    return {one.output for one in sights}


def _apart(cell: Cell, a: int, b: int) -> bool:
    return a != b and answers.kind(cell.run.outputs[a], cell.run.outputs[b]) is not None


def controls(cells: Sequence[Cell], seen: Seen) -> dict[str, str]:
    """Give what each control shows [CERT-21]."""
    by = {name: [one for one in cells if one.planned.control == name] for name in _CONTROLS}
    positive = [*by["positive_sequential"], *by["positive"]]
    off = [one for one in by[None] if one.planned.cache == "off"]
    altered = by["sensitivity"][0]
    plain = next(one for one in by["sequential"] if one.planned.case == altered.planned.case)
    return {
        "sequential": _shown(by["sequential"], ("clean",)),
        "sensitivity": _sensitive(altered, plain),
        "positive": _positive(positive) if positive else "absent",
        "cache_off": "absent" if not off else _shown(off, ()),
    }


_CONTROLS = (None, "sequential", "sensitivity", "positive_sequential", "positive")


def _shown(cells: Sequence[Cell], verdicts: tuple[str, ...]) -> str:
    if not all(one.scored for one in cells):
        return "not_run"
    return "shown" if all(one.verdict in verdicts or not verdicts for one in cells) else "not_shown"


def _positive(cells: Sequence[Cell]) -> str:
    if any(one.verdict == "divergent" for one in cells):
        return "shown"
    return "not_shown" if all(one.scored for one in cells) else "not_run"


def _sensitive(altered: Cell, plain: Cell) -> str:
    if {altered.verdict, plain.verdict} & {"not_run", "hang", "error"}:
        return "not_run"
    ours, theirs = (
        {place: _outputs(told) for place, told in _by_place(one).items()}
        for one in (altered, plain)
    )
    for place in ours.keys() & theirs.keys():
        if all(_apart(altered, a, b) for a, b in product(ours[place], theirs[place])):
            return "shown"
    return "not_shown"


def _by_place(cell: Cell) -> dict[int, list[Sight]]:
    found: dict[int, list[Sight]] = {}
    for sight in chain.from_iterable(cell.sights.values()):
        found.setdefault(sight.place, []).append(sight)
    return found


def identity(subject: Subject) -> tuple[int, int]:
    """Give how many fields agree with their own recorded constants, and how many do not."""
    held = [one for one in subject.identity if one.recorded is not None]
    differing = sum(one.recorded != one.observed for one in held)
    return len(held) - differing, differing


def limits(cells: Sequence[Cell], seen: Seen, shown: Mapping[str, str]) -> list[str]:
    """Give what cannot be believed [CERT-23]."""
    plan, subject = seen.plan, seen.subject
    scored = [one for one in cells if one.planned.control is None and one.scored]
    holds = {"black_box"}
    if shown["positive"] != "shown":
        holds.add("positive_absent" if shown["positive"] == "absent" else "positive_not_shown")
    if shown["cache_off"] == "absent":
        holds.add("cache_off_absent")
    if seen.adapter.gauge is None and any(one.batched for one in scored):
        holds.add("overlap_only")
    if any(one.cache == "not_reported" and _long(one) for one in scored):
        holds.add("cache_not_reported")
    if plan["observable"] != "logprobs" or _is_constant(seen):
        holds.add("weak_observable")
    if plan["form"] == "text":
        holds.add("text_prompts")
    elif any(map(_lengths_differ, cells)):
        holds.add("lengths_differ")
    if plan["lifetimes"] == 1:
        holds.add("one_lifetime")
    if subject.launch is None:
        holds.add("not_launched")
    if identity(subject)[1] or any(one.observed is None for one in subject.identity):
        holds.add("identity_not_read")
    if not seen.adapter.verified:
        holds.add("adapter_unverified")
    if omitted(seen):
        holds.add("cases_omitted")
    return [one["id"] for one in spec.load(FILE)["limits"] if one["id"] in holds]


def _is_constant(seen: Seen) -> bool:
    """Whether all log-probabilities are one and the same text, or there are none."""
    return len({number for one in seen.outputs for number in one.logprobs or ()} - {None}) < 2


def _long(cell: Cell) -> bool:
    """Whether a probe of a cell is long enough for the cache to hold a part of it."""
    probes = [one for one in cell.planned.requests if one.role == "probe"]
    return any(len(one.prompt) > cell.run.plan["block_size"] for one in probes)


def _lengths_differ(cell: Cell) -> bool:
    for one in cell.rounds:
        for request, told in zip(cell.planned.requests, one.prompt_tokens or (), strict=False):
            if request.rescores is None and told not in (None, len(request.prompt)):
                return True
    return False


def verdict(cells: Sequence[Cell], seen: Seen, shown: Mapping[str, str]) -> str:
    """Give the run's verdict [CERT-22]."""
    own = [one for one in cells if one.planned.control not in POSITIVE]
    if any(one.kinds for one in own):
        return "DIVERGENT"
    if any(one.verdict != "clean" for one in own) or identity(seen.subject)[1]:
        return "INCONCLUSIVE"
    both = shown["sequential"] == "shown" and shown["sensitivity"] == "shown"
    return "CLEAN" if both else "INCONCLUSIVE"


def counts(
    cells: Sequence[Cell],
    seen: Seen,
    shown: Mapping[str, str],
    stated: Members,
    prompts: Mapping[str, Any] | None,
) -> dict[str, int]:
    """Give the counts, in their order."""
    data = spec.load(FILE)
    scored = [one for one in cells if one.planned.control is None and one.scored]
    rounds = [one for cell in cells for one in cell.rounds]
    agreeing, differing = identity(seen.subject)
    verdicts = [one.verdict for one in cells]
    formed = sum(bool(one.batched) for one in scored)
    gauge = seen.adapter.gauge is not None
    return {
        "cases_declared": len(data["cases"]),
        "cases_planned": len(seen.plan["cases"]),
        "cells_planned": len(cells),
        "cells_run": len(cells) - verdicts.count("not_run"),
        **{f"cells_{name}": verdicts.count(name) for name in reversed(data["cell_verdicts"])},
        "cells_gauge": formed if gauge else 0,
        "cells_overlap": 0 if gauge else formed,
        "cells_cache_shown": sum(one.cache == "shown" for one in scored),
        "controls_shown": sum(one == "shown" for one in shown.values()),
        **{
            f"{name}_shown": int(shown[name] == "shown")
            for name in ("sequential", "sensitivity", "positive")
        },
        "lifetimes": len({one.lifetime for one in rounds}),
        "rounds": len(rounds),
        "rounds_scored": sum(one["statistics"]["rounds"] for one in stated if one["statistics"]),
        "requests": sum(len(one.outputs) for one in rounds),
        "answers": sum(output is not None for one in rounds for output in one.outputs),
        "positions": sum(
            answers.size(seen.outputs[output]) or 0
            for one in rounds
            for output in one.outputs
            if output is not None
        ),
        "failures": sum(len(one.failures) for one in rounds),
        "outputs": len(seen.outputs),
        "pairs": sum(one["pairs"] for one in stated),
        "pairs_differing": sum(one["pairs_differing"] for one in stated),
        "identity_agreeing": agreeing,
        "identity_differing": differing,
        "turned_off": len(turned_off(seen.settings)),
        "prompts_items": 0 if prompts is None else prompts["items"],
        "prompts_flips": sum(one["answers"] for one in prompts["comparisons"]) if prompts else 0,
    }
