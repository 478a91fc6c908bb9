"""The plan of a run: what the user chose, the server offers and the data say, in a budget."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lockstep import spec
from lockstep.certify import prompts as own_prompts
from lockstep.certify.cells import PlannedCell, eval_conditions, planned
from lockstep.certify.config import Config
from lockstep.certify.probe import Found
from lockstep.certify.requests import FILE
from lockstep.errors import LockstepError

LOW, SPAN = 10, 246
"""Token ids of prompts unless chosen: below 256, which every vocabulary has, and above the first
ones, where most have their special tokens."""
CONTEXT = 4096
"""Tokens of a prompt and its answer where the server does not say."""
FILLED = 0.8
"""Share of a budget that a plan is fitted to: the measure is taken while the server is idle."""


def parameters(config: Config, found: Found, positive: str) -> dict[str, Any]:
    """Give a plan's parameters [CERT-3].

    What the user chose stands as it is; cases and values of axes that the server does not offer
    are left out of what they did not choose.

    Args:
        config: what the user chose.
        found: what the server offers and says.
        positive: `absent`, `mode_off` or `fault`.

    Raises:
        LockstepError: USAGE, a choice that no plan can have.
    """
    data, chosen = spec.load(FILE), config.plan
    told = found.description
    plan: dict[str, Any] = {name: _plain(value) for name, value in data["defaults"].items()}
    plan |= {"low": LOW, "span": SPAN, "form": found.form, "observable": found.observable}
    plan |= {"context": told.context or CONTEXT}
    plan["block_size"] = told.block_size or plan["block_size"]
    plan["chunk"] = told.chunk if told.chunk and 2 <= told.chunk <= 16384 else plan["chunk"]
    plan["cases"] = [case["name"] for case in data["cases"]]
    plan["cache"] = ["warm", "cold", "off"]
    plan |= {name: _plain(value) for name, value in chosen.items()}
    plan |= {"offers": list(found.offers), "positive": positive}
    if plan["form"] == "text":
        plan |= {"low": 0, "span": len(data["words"])}
    _leave_out(plan, chosen, data)
    plan["cases"] = _ordered(plan["cases"], [case["name"] for case in data["cases"]], "--cases")
    for axis in data["axes"]:
        option = f"--{axis['name']}"
        plan[axis["name"]] = _ordered(plan[axis["name"]], axis["values"], option)
    _settle_positive(plan, chosen)
    if len(set(plan["varying_widths"])) < 2:
        raise LockstepError("USAGE", "varying_widths", "widths that differ", plan["varying_widths"])
    names = spec.load("schemas/certification.schema.json")["$defs"]["plan"]["required"]
    return {name: plan[name] for name in names}


def _leave_out(plan: dict[str, Any], chosen: Mapping[str, Any], data: Mapping[str, Any]) -> None:
    """Leave out what is not offered, unless the user chose it."""
    if "cache" not in chosen:
        needs = {one["value"]: one["capability"] for one in data["cache_needs"]}
        plan["cache"] = [
            value for value in plan["cache"] if needs.get(value, "") in ("", *plan["offers"])
        ]
    if "cases" not in chosen:
        offered = {
            case["name"] for case in data["cases"] if set(case["needs"]) <= set(plan["offers"])
        }
        plan["cases"] = [name for name in plan["cases"] if name in offered]


def _settle_positive(plan: dict[str, Any], chosen: Mapping[str, Any]) -> None:
    if plan["positive"] == "absent":
        if chosen.get("positive_cases"):
            hint = "Give the command of such a server: --positive."
            raise LockstepError("USAGE", "positive_cases", "a positive control", None, hint)
        plan["positive_cases"] = []
        return
    among = [name for name in plan["positive_cases"] if name in plan["cases"]]
    if "positive_cases" in chosen and len(among) < len(plan["positive_cases"]):
        raise LockstepError("USAGE", "positive_cases", "cases of the plan", None)
    plan["positive_cases"] = _ordered(among or plan["cases"][:1], plan["cases"], "positive_cases")


def _ordered(names: Sequence[str], known: Sequence[str], option: str) -> list[str]:
    """Give names in the order of the data, each once."""
    for name in names:
        if name not in known:
            raise LockstepError("USAGE", option, f"names of {', '.join(known)}", name)
    return [name for name in known if name in names]


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, list | tuple) else value


@dataclass(frozen=True)
class Cost:
    """What a plan takes, by what was measured before it.

    Attributes:
        found: what probing measured.
        start: seconds until a server that is started here answers.
        own: the user's prompts, sent under the plan's conditions; None for none.
    """

    found: Found
    start: float = 0.0
    own: own_prompts.Prompts | None = None

    def seconds(self, plan: Mapping[str, Any]) -> float:
        """Estimate what is still to come of a plan once its first server answers."""
        cells: tuple[PlannedCell, ...] = planned(plan)
        if self.own is not None:
            cells += own_prompts.costed(self.own, eval_conditions(plan, len(self.own.items)))
        starts = int(plan["lifetimes"]) - 1 + bool(plan["positive"] != "absent")
        return seconds(cells, self.found) + starts * self.start


def seconds(cells: Sequence[PlannedCell], found: Found) -> float:
    """Estimate what cells take, by what probing measured."""
    return sum(round_seconds(cell, number, found) for cell, number in _rounds(cells))


def _rounds(cells: Sequence[PlannedCell]) -> Iterator[tuple[PlannedCell, int]]:
    for cell in cells:
        for _ in range(cell.lifetimes):
            for number in range(cell.per_lifetime):
                yield cell, number


def round_seconds(cell: PlannedCell, number: int, found: Found) -> float:
    """Estimate a round: a wave takes one request's time, and for each further one what it adds."""
    total = 0.0
    for places in cell.submission(number):
        requests = [cell.requests[place] for place in places]
        long = sum(len(one.prompt) // 64 for one in requests)
        new = max((one.max_new for one in requests), default=0) / 16
        total += new * (found.alone + (len(requests) - 1) * found.beside) + long * found.beside
    return total


def fitted(plan: dict[str, Any], cost: Cost, budget: float) -> dict[str, Any]:
    """Give a plan that fits a budget by the estimate, weakening this one step by step.

    First repeats, down to 2; then values of axes but the first; then cases, the one that takes
    the longest first; then lifetimes. What is left out is told by the certificate: the plan is
    part of it.
    """
    while cost.seconds(plan) > FILLED * budget:
        weaker = _weaker(plan, cost)
        if weaker is None:
            return plan
        plan = weaker
    return plan


def fitting(
    whole: Mapping[str, Any], plan: Mapping[str, Any], cost: Cost, budget: float
) -> tuple[str, ...]:
    """Say how a plan was fitted to a budget, for people."""
    less = [
        f"{name} {whole[name]} -> {plan[name]}"
        for name in ("repeats", "lifetimes")
        if whole[name] != plan[name]
    ]
    for name in ("filler", "order", "cache", "cases"):
        gone = [value for value in whole[name] if value not in plan[name]]
        less += [f"without {name} {', '.join(gone)}"] if gone else []
    told = f"; weakened to fit: {'; '.join(less)}" if less else "; the whole plan fits"
    if cost.seconds(plan) > FILLED * budget:
        told += "; no plan is short enough, and what is lacking in the end will be not_run"
    return (f"budget: {_minutes(budget)} left{told}",)


def _weaker(plan: dict[str, Any], cost: Cost) -> dict[str, Any] | None:
    if plan["repeats"] > 2:
        return {**plan, "repeats": plan["repeats"] - 1}
    for axis in ("filler", "order", "cache"):
        if len(plan[axis]) > 1:
            return {**plan, axis: plan[axis][:-1]}
    if len(plan["cases"]) == 1:
        one = {**plan, "lifetimes": plan["lifetimes"] - 1}
        return one if one["lifetimes"] else None
    cells = planned(plan)

    def takes(name: str) -> float:
        return seconds([cell for cell in cells if cell.case == name], cost.found)

    dearest = max(plan["cases"], key=takes)
    cases = [name for name in plan["cases"] if name != dearest]
    positive = [name for name in plan["positive_cases"] if name != dearest]
    if plan["positive"] != "absent" and not positive:
        positive = cases[:1]
    return {**plan, "cases": cases, "positive_cases": positive}


def show(plan: Mapping[str, Any], cells: Sequence[PlannedCell], found: Found) -> list[str]:
    """Give the lines that tell a plan to people."""
    rounds = list(_rounds(cells))
    requests = sum(len(cell.present(number)) for cell, number in rounds)
    lines = [
        f"plan: {len(plan['cases'])} cases, {len(cells)} cells ({plan['design']} design), "
        f"{plan['lifetimes']} lifetime(s) of {plan['priming']} priming and {plan['repeats']} "
        "scored rounds each",
        f"  {len(rounds):,} rounds, {requests:,} requests; about "
        f"{_minutes(seconds(cells, found))} by what a few requests took",
        f"  compared: {plan['observable']}; prompts as {plan['form']}, blocks of "
        f"{plan['block_size']}, chunks of {plan['chunk']}, {plan['max_new']} new tokens",
        f"  cache {', '.join(plan['cache'])}; filler {', '.join(plan['filler'])}; order "
        f"{', '.join(plan['order'])}; positive control {plan['positive']}",
    ]
    left = [case["name"] for case in spec.load(FILE)["cases"] if case["name"] not in plan["cases"]]
    if left:
        lines.append(f"  not in the plan: {', '.join(left)}")
    lines += [f"  {note}" for note in found.notes]
    lines += [f"  observable missing: {name}" for name in found.missing]
    return lines


def _minutes(value: float) -> str:
    whole = int(value) + 1
    return f"{whole} s" if whole < 120 else f"{whole // 60} min"
