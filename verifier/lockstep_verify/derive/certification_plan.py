"""The cells and requests that follow from a plan (CERT-1 to CERT-6)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from itertools import product
from typing import Any, NamedTuple

from lockstep_verify import lcj, spec
from lockstep_verify.errors import Refusal

AT = "/predicate"
COVERAGE = "COVERAGE_DENOMINATOR_NOT_DERIVED"
OUTCOME = "OUTCOME_NOT_DERIVED"
COUNTS = "H10_COUNTS_DO_NOT_RECOMPUTE"
ONE_BY_ONE = ("sequential", "sensitivity", "positive_sequential")
OTHER_SERVER = ("positive_sequential", "positive")

Document = dict[str, Any]


class Cell(NamedTuple):
    """A planned cell.

    Attributes:
        case: the case's name.
        control: None, or the control that it is.
        condition: a value for each axis, by its name.
        waves: what each wave waits for.
        requests: documents, by place, with the widest set of fillers.
        widths: numbers of fillers by round, one after the other.
        sha256: of all that, in hex.
        lifetimes: how many of the server's are planned.
        per_lifetime: rounds planned in each.
    """

    case: str
    control: str | None
    condition: dict[str, str]
    waves: list[str]
    requests: list[Document]
    widths: list[int]
    sha256: str
    lifetimes: int
    per_lifetime: int

    @property
    def one_by_one(self) -> bool:
        """Whether its requests are sent one after the other."""
        return self.control in ONE_BY_ONE

    def size(self, number: int) -> int:
        """Give how many requests a round of this number has."""
        return len(self.requests) - max(self.widths) + self.widths[number % len(self.widths)]

    def submission(self, number: int) -> list[list[int]]:
        """Give for each wave the places in the order in which they are sent."""
        size, sent = self.size(number), []
        for wave in range(len(self.waves)):
            places = [at for at in range(size) if self.requests[at]["wave"] == wave]
            turn = number % len(places) if places and self.condition["order"] == "rotated" else 0
            sent.append(places[turn:] + places[:turn])
        return sent


def require(code: str, where: str, expected: object, got: object) -> None:
    """Refuse with `code` unless what stands at `where` of the predicate is what follows."""
    if type(expected) is not type(got) or expected != got:
        raise Refusal(code, f"{AT}/{where}", expected, got)


def check_plan(plan: Document, adapter: Document, launched: bool) -> None:
    """Judge the parameters of a plan, and the adapter's name (step 1)."""
    data = spec.load("certification.json")
    cases = [case["name"] for case in data["cases"]]
    known = {
        "offers": data["capabilities"],
        "cases": cases,
        **{axis["name"]: axis["values"] for axis in data["axes"]},
        "positive_cases": [name for name in cases if name in plan["cases"]],
    }
    for member, names in known.items():
        _ordered(plan[member], names, f"plan/{member}")
    if (plan["positive"] == "absent") != (not plan["positive_cases"]):
        raise Refusal("BAD_VALUE", f"{AT}/plan/positive", "absent, or cases", plan["positive"])
    if plan["lifetimes"] > 1 and not launched:
        expected = "one lifetime of a server that was not started here"
        raise Refusal("BAD_VALUE", f"{AT}/plan/lifetimes", expected, plan["lifetimes"])
    if plan["form"] == "text":
        require("BAD_VALUE", "plan/low", 0, plan["low"])
        require("BAD_VALUE", "plan/span", len(data["words"]), plan["span"])
    if len(set(plan["varying_widths"])) < 2:
        expected, got = "widths that differ", plan["varying_widths"]
        raise Refusal("BAD_VALUE", f"{AT}/plan/varying_widths", expected, got)
    adapters = {one["name"]: one for one in data["adapters"]}
    entry = adapters.get(adapter["name"])
    if entry is None:
        raise Refusal("BAD_VALUE", f"{AT}/adapter/name", list(adapters), adapter["name"])
    own = entry["verified"] and adapter["gauge"] in (None, *entry["running"])
    if adapter["verified"] and not own:
        raise Refusal("BAD_VALUE", f"{AT}/adapter/verified", False, True)


def _ordered(stated: list[str], names: list[str], where: str) -> None:
    last = -1
    for i, name in enumerate(stated):
        if name not in names or names.index(name) <= last:
            raise Refusal("BAD_VALUE", f"{AT}/{where}/{i}", "names in their order, once", name)
        last = names.index(name)


def cells(plan: Document) -> Iterator[Cell]:
    """Give the cells of a plan in their order (CERT-4)."""
    data = spec.load("certification.json")
    made = _Maker(plan, data)
    chosen = [case for case in data["cases"] if case["name"] in plan["cases"]]
    axes = [axis["name"] for axis in data["axes"]]
    first = {axis: plan[axis][0] for axis in axes}
    alone = {**first, "filler": "none", "order": "fixed"}
    for case in chosen:
        for condition in _conditions(plan, case, axes):
            yield made.cell(case, None, condition)
        yield made.cell(case, "sequential", alone)
    yield made.cell(chosen[0], "sensitivity", alone)
    for case in chosen:
        if case["name"] in plan["positive_cases"]:
            yield made.cell(case, "positive_sequential", alone)
            yield made.cell(case, "positive", first)


def eval_cells(plan: Document, items: int) -> Iterator[Cell]:
    """Give the conditions of the user's prompts, as cells whose probes have no units (CERT-24)."""
    data = spec.load("certification.json")
    made, case = _Maker(plan, data), data["eval_case"]
    axes = [axis["name"] for axis in data["axes"]]
    alone = {**{axis: plan[axis][0] for axis in axes}, "filler": "none", "order": "fixed"}
    own: list[Document] = [
        {"role": "probe", "prompt": [], "max_new": 0, "rescores": None} for _ in range(items)
    ]
    rounds = plan["lifetimes"], plan["repeats"]
    waves = ["start"] + ["end"] * (items - 1)
    one_by_one = [{**one, "wave": wave} for wave, one in enumerate(own)]
    yield Cell(case["name"], "sequential", alone, waves, one_by_one, [0], "", *rounds)
    at_once = [{**one, "wave": 0} for one in own]
    for condition in _conditions(plan, case, axes):
        fillers, widths = made.fillers(case, condition["filler"])
        requests = at_once + fillers
        yield Cell(case["name"], None, condition, case["waves"], requests, widths, "", *rounds)


def _conditions(plan: Document, case: Document, axes: list[str]) -> list[dict[str, str]]:
    values = [plan[axis] if axis in case["axes"] else plan[axis][:1] for axis in axes]
    if plan["design"] == "factorial":
        return [dict(zip(axes, one, strict=True)) for one in product(*values)]
    first = {axis: plan[axis][0] for axis in axes}
    return [first] + [
        {**first, axis: value}
        for axis, several in zip(axes, values, strict=True)
        for value in several[1:]
    ]


_Sent = tuple[list[Document], list[str], list[int], str]
"""Requests, waves, widths and the digest over them."""


class _Maker:
    """Makes cells of one plan; requests that several cells share are made once."""

    def __init__(self, plan: Document, data: Document) -> None:
        self._plan = plan
        self._data = data
        self._top = plan["top"] if plan["observable"] == "logprobs" else None
        self._sampling = {one["name"]: one for one in data["sampling"]}
        self._streams: dict[tuple[str, str], list[int]] = {}
        self._sent: dict[
            tuple[str, str, str], tuple[list[Document], list[str], list[int], str]
        ] = {}

    def cell(self, case: Document, control: str | None, condition: dict[str, str]) -> Cell:
        how = (control or "") if control in ONE_BY_ONE else "together"
        key = case["name"], how.removeprefix("positive_"), condition["filler"]
        if key not in self._sent:
            self._sent[key] = self._send(case, key[1], condition["filler"])
        requests, waves, widths, sha256 = self._sent[key]
        lifetimes = 1 if control in OTHER_SERVER else self._plan["lifetimes"]
        rounds = self._plan["priming"] + self._plan["repeats"]
        name = case["name"]
        return Cell(name, control, condition, waves, requests, widths, sha256, lifetimes, rounds)

    def _send(self, case: Document, how: str, filler: str) -> _Sent:
        """Give requests, waves, widths and their digest (CERT-5)."""
        plan, name = self._plan, case["name"]
        groups = [group for group in case["requests"] for _ in range(group["count"])]
        requests = [self._request(name, place, group) for place, group in enumerate(groups)]
        waves, widths = case["waves"], [0]
        if how == "together":
            fillers, widths = self.fillers(case, filler)
            requests += fillers
        else:
            probes = [r for r in requests if r["role"] == "probe" and r["rescores"] is None]
            requests = [
                {**one, "wave": wave}
                for wave, one in enumerate(probes[: self._data["alone_probes"]])
            ]
            waves = ["start"] + ["end"] * (len(requests) - 1)
        if how == "sensitivity":
            for one in requests:
                last = one["prompt"][-1] - plan["low"]
                changed = plan["low"] + (last + 1) % plan["span"]
                one["prompt"] = [*one["prompt"][:-1], changed]
        told = {"requests": requests, "waves": waves, "widths": widths}
        return requests, waves, widths, hashlib.sha256(lcj.encode(told)).hexdigest()

    def fillers(self, case: Document, filler: str) -> tuple[list[Document], list[int]]:
        """Give the fillers of a condition, the widest set, and how many there are by round."""
        widths = [0]
        if filler != "none":
            varying = filler == "varying"
            widths = self._plan["varying_widths"] if varying else [self._plan["fixed_width"]]
        last = len(case["waves"]) - 1
        return [self._filler(case["name"], i, last) for i in range(max(widths))], widths

    def _units(self, case: str, stream: str, count: int) -> list[int]:
        units = self._streams.setdefault((case, stream), [])
        while len(units) < count:
            text = (
                f"lockstep/certification/1/{self._plan['seed']}/{case}/{stream}/{len(units) // 8}"
            )
            digest = hashlib.sha256(text.encode("ascii")).digest()
            words = [int.from_bytes(digest[at : at + 4], "big") for at in range(0, 32, 4)]
            units += [self._plan["low"] + word % self._plan["span"] for word in words]
        return units[: max(count, 0)]

    def _request(self, case: str, place: int, group: Document) -> Document:
        plan, prompt, again = self._plan, list[int](), group["rescores"]
        for piece in group["pieces"]:
            stream = f"own/{place}" if piece["stream"] == "own" else piece["stream"]
            blocks, chunks = piece["blocks"] * plan["block_size"], piece["chunks"] * plan["chunk"]
            prompt += self._units(case, stream, blocks + chunks + piece["units"])
        seeded = self._sampling[group["sampling"]]["seeded"]
        return {
            "role": group["role"],
            "wave": group["wave"],
            "prompt": prompt,
            "rescores": again,
            "max_new": plan["max_new"] if again is None else 1,
            "sampling": group["sampling"],
            "seed": self._data["seed_base"] + place if seeded else None,
            "top": self._top,
            "echo": again is not None,
            "varying": group["varying"],
        }

    def _filler(self, case: str, number: int, wave: int) -> Document:
        return {
            "role": "filler",
            "wave": wave,
            "prompt": self._units(case, f"filler/{number}", self._data["filler_units"]),
            "rescores": None,
            "max_new": self._plan["max_new"],
            "sampling": "greedy",
            "seed": None,
            "top": self._top,
            "echo": False,
            "varying": None,
        }
