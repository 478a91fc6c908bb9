"""Runs of relations as a certificate holds them: their form and their outcomes (INV-3 to INV-7)."""

from __future__ import annotations

from typing import Any, NamedTuple

from lockstep_verify import spec
from lockstep_verify.errors import Refusal

COVERAGE = "COVERAGE_DENOMINATOR_NOT_DERIVED"
OUTCOME = "OUTCOME_NOT_DERIVED"
OUTCOMES = ("not_run", "vacuous", "violated", "holds")
"""From the least to the most that a run says; several runs say what the least of them does."""
_LISTS = ("workloads", "schedules", "counters", "n_grams")
_NUMBERS = ("executions", "requests", "positions", "differences")

Gram = tuple[str, ...]


class Demand(NamedTuple):
    """What `relations.json` asks for.

    Attributes:
        counters: the counters that a run of a relation needs, by the relation's name.
        places: the place of each combination of a relation and a block size.
    """

    counters: dict[str, list[str]]
    places: dict[tuple[str, int], int]


def demand() -> Demand:
    """Give what the spec asks for (INV-4)."""
    relations = spec.load("relations.json")["relations"]
    pairs = [(entry["name"], size) for entry in relations for size in entry["block_sizes"]]
    places = {pair: place for place, pair in enumerate(pairs)}
    return Demand({entry["name"]: entry["counters"] for entry in relations}, places)


def words(cells: list[dict[str, str]], n: int) -> set[Gram]:
    """Give the legal n-grams of events (LIFE-3): paths of n cells, read by their events."""
    paths: list[tuple[Gram, str]] = [((cell["event"],), cell["next"]) for cell in cells]
    for _ in range(n - 1):
        paths = [
            ((*word, cell["event"]), cell["next"])
            for word, state in paths
            for cell in cells
            if cell["state"] == state
        ]
    return {word for word, _ in paths}


def require(code: str, pointer: str, expected: object, got: object) -> None:
    """Refuse with `code` unless what stands there is what follows."""
    if expected != got:
        raise Refusal(code, pointer, expected, got)


def check_places(runs: list[dict[str, Any]], wanted: Demand, at: str) -> None:
    """Check that runs stand in their order, and that each combination has one (step 3)."""
    before = (-1, -1)
    for i, run in enumerate(runs):
        name, size = run["relation"], run["block_size"]
        if name not in wanted.counters:
            raise Refusal(COVERAGE, f"{at}/{i}/relation", sorted(wanted.counters), name)
        if (name, size) not in wanted.places:
            sizes = [other for relation, other in wanted.places if relation == name]
            raise Refusal(COVERAGE, f"{at}/{i}/block_size", sizes, size)
        place = (wanted.places[name, size], run["seed"])
        if place <= before:
            raise Refusal("BAD_VALUE", f"{at}/{i}", "a run after the one before", [name, size])
        before = place
    there = {(run["relation"], run["block_size"]) for run in runs}
    for pair in wanted.places:
        if pair not in there:
            raise Refusal(COVERAGE, at, f"a run of {pair[0]} at {pair[1]}", "none")


def check_run(run: dict[str, Any], needed: list[str], legal: dict[int, set[Gram]], at: str) -> None:
    """Check the form of a run, and derive its outcome (step 4).

    Args:
        run: the record.
        needed: the counters that must not be zero.
        legal: the words of the lifecycle by their number of events.
        at: where the run stands.

    Raises:
        Refusal: BAD_VALUE, OUTCOME_NOT_DERIVED.
    """
    for member in ("workloads", "schedules"):
        _ascending(run[member], [f"{at}/{member}/{i}" for i in range(len(run[member]))])
    names = [counter["name"] for counter in run["counters"]]
    _ascending(names, [f"{at}/counters/{i}/name" for i in range(len(names))])
    _check_grams(run["n_grams"], legal, f"{at}/n_grams")
    if run["differences"] > run["positions"]:
        most = f"at most {run['positions']}"
        raise Refusal("BAD_VALUE", f"{at}/differences", most, run["differences"])
    if (run["first_difference"] is None) != (run["differences"] == 0):
        words_ = "null" if run["differences"] == 0 else "a difference"
        raise Refusal("BAD_VALUE", f"{at}/first_difference", words_, run["first_difference"])
    if run["outcome"] == "not_run":
        _check_not_run(run, at)
        return
    derived = outcome(run, needed)
    require(OUTCOME, f"{at}/outcome", derived, run["outcome"])
    if (run["reason"] != "") != (derived == "vacuous"):
        wanted = "a reason" if derived == "vacuous" else "no reason"
        raise Refusal("BAD_VALUE", f"{at}/reason", wanted, run["reason"])


def outcome(run: dict[str, Any], needed: list[str]) -> str:
    """Give the outcome of a run that was executed (REL-5)."""
    counted = {counter["name"]: counter["value"] for counter in run["counters"]}
    if run["differences"]:
        return "violated"
    if run["positions"] == 0 or any(not counted.get(name) for name in needed):
        return "vacuous"
    return "holds"


def _check_not_run(run: dict[str, Any], at: str) -> None:
    if not run["reason"]:
        raise Refusal("BAD_VALUE", f"{at}/reason", "why it was not run", "")
    for member in ("workloads", "schedules", *_NUMBERS, "counters", "n_grams"):
        empty: object = [] if member in _LISTS else 0
        require("BAD_VALUE", f"{at}/{member}", empty, run[member])


def _ascending(values: list[Any], pointers: list[str]) -> None:
    for before, value, pointer in zip(values, values[1:], pointers[1:], strict=False):
        if value <= before:
            raise Refusal("BAD_VALUE", pointer, f"above {before}", value)


def _check_grams(entries: list[dict[str, Any]], legal: dict[int, set[Gram]], at: str) -> None:
    grams = [tuple(entry["events"]) for entry in entries]
    order = [(len(gram), gram) for gram in grams]
    _ascending(order, [f"{at}/{i}/events" for i in range(len(grams))])
    counted = {gram: entry["count"] for gram, entry in zip(grams, entries, strict=True)}
    for i, gram in enumerate(grams):
        if gram not in legal[len(gram)]:
            raise Refusal("BAD_VALUE", f"{at}/{i}/events", "a word of the lifecycle", list(gram))
    for i, gram in enumerate(grams):
        least = min(counted.get(part, 0) for part in (gram[:2], gram[1:])) if gram[2:] else None
        if least is not None and counted[gram] > least:
            raise Refusal("BAD_VALUE", f"{at}/{i}/count", f"at most {least}", counted[gram])


def shown(control: dict[str, Any], required: bool) -> str:
    """Say what a control came to (INV-7)."""
    if control["outcome"] == "violated":
        return "shown"
    return "not_comparable" if control["outcome"] == "holds" and not required else "not_shown"


def check_controls(controls: list[dict[str, Any]], wanted: Demand, legal: dict[int, set[Gram]],
                   at: str) -> None:  # fmt: skip
    """Check the controls against those that the spec declares (step 5)."""
    declared = spec.load("relations.json")["controls"]
    require(COVERAGE, at, len(declared), len(controls))
    for i, (entry, control) in enumerate(zip(declared, controls, strict=True)):
        place = f"{at}/{i}"
        for member in ("backend", "relation", "block_size"):
            require(COVERAGE, f"{place}/{member}", entry[member], control[member])
        check_run(control, wanted.counters[entry["relation"]], legal, place)
        require(OUTCOME, f"{place}/shown", shown(control, entry["required"]), control["shown"])


def combined(runs: list[dict[str, Any]]) -> dict[tuple[str, int], str]:
    """Give the outcome of each combination (INV-6)."""
    found: dict[tuple[str, int], str] = {}
    for run in runs:
        pair = (run["relation"], run["block_size"])
        found[pair] = min(found.get(pair, "holds"), run["outcome"], key=OUTCOMES.index)
    return found


def fold(outcomes: list[str], controls: list[str], word: str) -> str:
    """Give the verdict over combinations, at least one, and controls (INV-8).

    Args:
        outcomes: of the combinations.
        controls: what each control came to.
        word: the verdict where all of them hold.
    """
    if not outcomes or not {"not_run", "vacuous"}.isdisjoint(outcomes) or "not_shown" in controls:
        return "UNPROVEN"
    return "VIOLATED" if "violated" in outcomes else word
