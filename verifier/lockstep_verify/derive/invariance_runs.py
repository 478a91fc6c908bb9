"""Runs of relations as a certificate holds them: their form and their outcomes (INV-3 to INV-7)."""

from __future__ import annotations

from typing import Any, NamedTuple

from lockstep_verify import spec
from lockstep_verify.derive.invariance_counters import check_counters, counter_names
from lockstep_verify.errors import Refusal

COVERAGE = "COVERAGE_DENOMINATOR_NOT_DERIVED"
OUTCOME = "OUTCOME_NOT_DERIVED"
CLAIM_DOES_NOT_APPLY = "DOES_NOT_APPLY"
OUTCOMES = ("not_run", "vacuous", "violated", "holds")
"""From the least to the most that a run says; several runs say what the least of them does."""
_LISTS = ("workloads", "schedules", "counters", "n_grams")
_NUMBERS = ("executions", "requests", "positions", "differences")

Gram = tuple[str, ...]


class Demand(NamedTuple):
    """What `relations.json` asks for in an environment.

    Attributes:
        relations: each relation as the file declares it, by name.
        places: the demanded combinations of a relation and a block size, in order.
        exempt: the combinations of relations that do not apply, as a predicate lists them.
    """

    relations: dict[str, dict[str, Any]]
    places: list[tuple[str, int]]
    exempt: list[dict[str, Any]]


def demand(resolved: dict[str, str]) -> Demand:
    """Give what the spec asks for in an environment (INV-4, INV-12).

    Args:
        resolved: the settings in force, by name.
    """
    wanted = Demand({}, [], [])
    for entry in spec.load("relations.json")["relations"]:
        wanted.relations[entry["name"]] = entry
        reason = _exemption(entry, resolved)
        for size in entry["block_sizes"]:
            if reason is None:
                wanted.places.append((entry["name"], size))
                continue
            wanted.exempt.append({"relation": entry["name"], "block_size": size, "reason": reason})
    return wanted


def _exemption(entry: dict[str, Any], resolved: dict[str, str]) -> str | None:
    """Give why a relation does not apply; None where it does."""
    rule = entry.get("does_not_apply")
    if rule is None:
        return None
    met = all(resolved.get(one["name"]) == one["value"] for one in rule["settings"])
    met = met and all(
        one["name"] in resolved and resolved[one["name"]] != one["value"] for one in rule["but"]
    )
    return str(rule["reason"]) if met else None


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


def check_places(runs: list[dict[str, Any]], wanted: Demand, seeds: int, at: str) -> None:
    """Check that there is exactly a run of each seed of each demanded combination (step 3)."""
    require(COVERAGE, at, len(wanted.places) * seeds, len(runs))
    for i, run in enumerate(runs):
        name, size = wanted.places[i // seeds]
        require(COVERAGE, f"{at}/{i}/relation", name, run["relation"])
        require(COVERAGE, f"{at}/{i}/block_size", size, run["block_size"])
        require(COVERAGE, f"{at}/{i}/seed", i % seeds, run["seed"])


def check_run(
    run: dict[str, Any],
    relation: dict[str, Any],
    legal: dict[int, set[Gram]],
    at: str,
    backend: str | None = None,
) -> None:
    """Check the form of a run, derive its outcome, and hold its numbers together (step 4).

    Args:
        run: the record.
        relation: what `relations.json` says of its relation.
        legal: the words of the lifecycle by their number of events.
        at: where the run stands.
        backend: the environment's; None for a control.

    Raises:
        Refusal: BAD_VALUE, OUTCOME_NOT_DERIVED, COUNTERS_CONTRADICT.
    """
    for member in ("workloads", "schedules"):
        _ascending(run[member], [f"{at}/{member}/{i}" for i in range(len(run[member]))])
    names = [counter["name"] for counter in run["counters"]]
    _ascending(names, [f"{at}/counters/{i}/name" for i in range(len(names))])
    grams = [tuple(entry["events"]) for entry in run["n_grams"]]
    places = [f"{at}/n_grams/{i}/events" for i in range(len(grams))]
    _ascending([(len(gram), gram) for gram in grams], places)
    possible = counter_names(relation)
    for i, name in enumerate(names):
        if name not in possible:
            expected = f"a counter of {relation['name']}"
            raise Refusal("BAD_VALUE", f"{at}/counters/{i}/name", expected, name)
    for gram, place in zip(grams, places, strict=True):
        if gram not in legal[len(gram)]:
            raise Refusal("BAD_VALUE", place, "a word of the lifecycle", list(gram))
    _check_differences(run, at)
    needed = relation.get("backend")
    if run["outcome"] != "not_run" and backend is not None and needed not in (None, backend):
        expected = f"not_run: {relation['name']} is about the backend {needed}, not {backend}"
        raise Refusal(OUTCOME, f"{at}/outcome", expected, run["outcome"])
    if run["outcome"] == "not_run":
        _check_not_run(run, at)
        return
    if not relation["executes"]:
        for member in ("workloads", "schedules", "executions", "requests", "n_grams"):
            require("BAD_VALUE", f"{at}/{member}", _nothing(member), run[member])
    derived = outcome(run, relation)
    require(OUTCOME, f"{at}/outcome", derived, run["outcome"])
    if (run["reason"] != "") != (derived == "vacuous"):
        wanted = "a reason" if derived == "vacuous" else "no reason"
        raise Refusal("BAD_VALUE", f"{at}/reason", wanted, run["reason"])
    check_counters(run, relation, at)


def outcome(run: dict[str, Any], relation: dict[str, Any]) -> str:
    """Give the outcome of a run that was executed (REL-5)."""
    counted = {counter["name"]: counter["value"] for counter in run["counters"]}
    executed = ("executions", "workloads", "schedules") if relation["executes"] else ()
    if run["differences"]:
        return "violated"
    if run["positions"] == 0 or not all(run[member] for member in executed):
        return "vacuous"
    return "holds" if all(counted.get(name) for name in relation["counters"]) else "vacuous"


def _check_differences(run: dict[str, Any], at: str) -> None:
    if run["differences"] > run["positions"]:
        most = f"at most {run['positions']}"
        raise Refusal("BAD_VALUE", f"{at}/differences", most, run["differences"])
    if (run["first_difference"] is None) != (run["differences"] == 0):
        told = "null" if run["differences"] == 0 else "a difference"
        raise Refusal("BAD_VALUE", f"{at}/first_difference", told, run["first_difference"])


def _check_not_run(run: dict[str, Any], at: str) -> None:
    if not run["reason"]:
        raise Refusal("BAD_VALUE", f"{at}/reason", "why it was not run", "")
    for member in ("workloads", "schedules", *_NUMBERS, "counters", "n_grams"):
        require("BAD_VALUE", f"{at}/{member}", _nothing(member), run[member])


def _nothing(member: str) -> object:
    return [] if member in _LISTS else 0


def _ascending(values: list[Any], pointers: list[str]) -> None:
    for before, value, pointer in zip(values, values[1:], pointers[1:], strict=False):
        if value <= before:
            raise Refusal("BAD_VALUE", pointer, f"above {before}", value)


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
