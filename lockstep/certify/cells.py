"""The cells of a plan [CERT-4, CERT-5]: which requests are sent, in which waves, beside what."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import Any

from lockstep import spec
from lockstep.certificate import lcj
from lockstep.certify.requests import FILE, Plan, Request, altered, case_requests, fillers

Condition = dict[str, str]
"""A value for each axis, by its name."""

SUBMITTED_ALONE = ("sequential", "sensitivity", "positive_sequential")
"""Controls whose requests are sent one after the other."""
POSITIVE = ("positive_sequential", "positive")
"""Controls that ask the other server."""


@dataclass(frozen=True)
class PlannedCell:
    """One cell of a plan.

    Attributes:
        case: its name.
        control: None, or one of `controls` of the data.
        cache: `warm`, `cold` or `off` [CERT-6].
        filler: `none`, `fixed` or `varying`.
        order: `fixed` or `rotated`.
        waves: for each wave, what it waits for in the one before.
        requests: by place, the widest set of fillers last.
        widths: numbers of fillers, one after the other by round.
        width: how many requests must run at once.
        needs: capabilities without which it cannot run.
        lifetimes: server lifetimes of the plan; one for a positive control.
        per_lifetime: rounds in a lifetime, priming among them.
    """

    case: str
    control: str | None
    cache: str
    filler: str
    order: str
    waves: tuple[str, ...]
    requests: tuple[Request, ...]
    widths: tuple[int, ...]
    width: int
    needs: tuple[str, ...]
    lifetimes: int
    per_lifetime: int

    @property
    def alone(self) -> bool:
        """Whether its requests are sent one after the other."""
        return self.control in SUBMITTED_ALONE

    @property
    def longest(self) -> int:
        """Tokens of its longest prompt with its answer."""
        sizes = [len(one.prompt) + one.max_new for one in self.requests]
        again = [one for one in self.requests if one.rescores is not None]
        return max(sizes + [sizes[one.rescores or 0] + one.max_new for one in again])

    def present(self, number: int) -> tuple[Request, ...]:
        """Give the requests of a round of this number within its lifetime."""
        absent = max(self.widths) - self.widths[number % len(self.widths)]
        return self.requests[: len(self.requests) - absent]

    def submission(self, number: int) -> tuple[tuple[int, ...], ...]:
        """Give for each wave the places of its requests, in the order in which they are sent."""
        sent = []
        for wave in range(len(self.waves)):
            places = [at for at, one in enumerate(self.present(number)) if one.wave == wave]
            turn = number % len(places) if places and self.order == "rotated" else 0
            sent.append((*places[turn:], *places[:turn]))
        return tuple(sent)

    @cached_property
    def requests_sha256(self) -> str:
        """Digest of requests, waves and widths, in hex."""
        told = {
            "requests": [one.document() for one in self.requests],
            "waves": list(self.waves),
            "widths": list(self.widths),
        }
        return hashlib.sha256(lcj.encode(told)).hexdigest()


def planned(plan: Plan) -> tuple[PlannedCell, ...]:
    """Give the cells of a plan, in their order [CERT-4]."""
    return tuple(_planned(plan))


def _planned(plan: Plan) -> Iterator[PlannedCell]:
    cases = {one["name"]: one for one in spec.load(FILE)["cases"]}
    chosen = [case for name, case in cases.items() if name in plan["cases"]]
    first = {axis: plan[axis][0] for axis in _axes()}
    apart = {"cache": first["cache"], "filler": "none", "order": "fixed"}
    for case in chosen:
        for condition in conditions(plan, case):
            yield _cell(plan, case, None, condition)
        yield _cell(plan, case, "sequential", apart)
    yield _cell(plan, chosen[0], "sensitivity", apart)
    for name in plan["positive_cases"]:
        yield _cell(plan, cases[name], "positive_sequential", apart)
        yield _cell(plan, cases[name], "positive", first)


def conditions(plan: Plan, case: Mapping[str, Any]) -> Iterator[Condition]:
    """Give the conditions of a case, in their order."""
    values = {axis: plan[axis] if axis in case["axes"] else plan[axis][:1] for axis in _axes()}
    if plan["design"] == "factorial":
        for chosen in product(*values.values()):
            yield dict(zip(values, chosen, strict=True))
        return
    first = {axis: several[0] for axis, several in values.items()}
    yield first
    for axis, (_, *others) in values.items():
        for value in others:
            yield {**first, axis: value}


def eval_conditions(plan: Plan, items: int) -> tuple[PlannedCell, ...]:
    """Give the conditions of the user's prompts, as cells [CERT-24].

    Args:
        plan: its parameters.
        items: of the user's file; each is a probe, whose prompt the plan does not know.
    """
    case = spec.load(FILE)["eval_case"]
    own = Request("probe", 0, (), None, 0, "greedy", None, None, False, None)
    first = {"cache": plan["cache"][0], "filler": "none", "order": "fixed"}
    chosen = [("sequential", first), *((None, one) for one in conditions(plan, case))]
    found = []
    for control, condition in chosen:
        apart = control is not None
        requests = tuple(replace(own, wave=at if apart else 0) for at in range(items))
        cell = _cell(plan, case, control, condition, requests)
        found.append(replace(cell, lifetimes=plan["lifetimes"], per_lifetime=plan["repeats"]))
    return tuple(found)


def _axes() -> list[str]:
    return [axis["name"] for axis in spec.load(FILE)["axes"]]


def _cell(
    plan: Plan,
    case: Mapping[str, Any],
    control: str | None,
    condition: Condition,
    own: tuple[Request, ...] = (),
) -> PlannedCell:
    requests, waves = own or case_requests(plan, case), tuple(case["waves"])
    widths: tuple[int, ...] = (0,)
    if control in SUBMITTED_ALONE:
        requests = own or tuple(_alone(plan, requests, control == "sensitivity"))
        waves = ("start", *["end"] * (len(requests) - 1))
    else:
        widths = _widths(plan, condition["filler"])
        requests += fillers(plan, case["name"], len(waves) - 1, max(widths))
    data = spec.load(FILE)
    wanted = [
        one["capability"] for one in data["cache_needs"] if one["value"] == condition["cache"]
    ]
    return PlannedCell(
        case["name"],
        control,
        **condition,
        waves=waves,
        requests=requests,
        widths=widths,
        width=case["width"],
        needs=(*case["needs"], *wanted),
        lifetimes=1 if control in POSITIVE else plan["lifetimes"],
        per_lifetime=plan["priming"] + plan["repeats"],
    )


def _alone(plan: Plan, requests: tuple[Request, ...], other: bool) -> Iterator[Request]:
    probes = [one for one in requests if one.role == "probe" and one.rescores is None]
    for wave, one in enumerate(probes[: spec.load(FILE)["alone_probes"]]):
        yield replace(altered(plan, one) if other else one, wave=wave)


def _widths(plan: Plan, filler: str) -> tuple[int, ...]:
    widths: dict[str, tuple[int, ...]] = {
        "none": (0,),
        "fixed": (plan["fixed_width"],),
        "varying": tuple(plan["varying_widths"]),
    }
    return widths[filler]
