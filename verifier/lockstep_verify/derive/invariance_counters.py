"""What the numbers of a run cannot say: counters, n-grams and conditions (REL-9, REL-26)."""

from __future__ import annotations

from collections import Counter
from typing import Any

from lockstep_verify import spec
from lockstep_verify.errors import Refusal

CONTRADICT = "COUNTERS_CONTRADICT"
_FIRST, _LAST = "admit", "finish"
"""The events that a request's log begins and ends with, and that stand nowhere else in it."""
_SINGLE = ("executions", "requests", "positions")
_COUNTED = ("workloads", "schedules")

Gram = tuple[str, ...]
Records = list[dict[str, Any]]


def counter_names(relation: dict[str, Any]) -> set[str]:
    """Give the counters that a run of a relation may have (REL-9)."""
    shared = spec.load("relations.json")["counters"] if relation["executes"] else []
    return {*shared, *relation["counters"]}


def constants() -> dict[str, int]:
    """Give the numbers in conditions that are the same for all runs (REL-9)."""
    data = spec.load("relations.json")
    return {
        "one": 1,
        "listed_kernels": len(data["kernels"]),
        "listed_batch_sizes": len(data["batch_sizes"]),
        "listed_batch_requests": sum(data["batch_sizes"]),
    }


def check_counters(run: dict[str, Any], relation: dict[str, Any], at: str) -> None:
    """Hold the numbers of a run against its n-grams and each other (INV-14).

    Args:
        run: the record; its lists are in order, and its n-grams are words of the lifecycle.
        relation: what `relations.json` says of its relation.
        at: where the run stands.

    Raises:
        Refusal: COUNTERS_CONTRADICT, for the first of them that no run can have.
    """
    counted = {counter["name"]: counter["value"] for counter in run["counters"]}
    grams = {tuple(entry["events"]): entry["count"] for entry in run["n_grams"]}
    shared: list[dict[str, Any]] = []
    if relation["executes"]:
        _check_events(counted, grams, f"{at}/counters")
        _check_triples(grams, f"{at}/n_grams")
        shared = spec.load("relations.json")["conditions"]
    numbers = {**counted, **{name: run[name] for name in _SINGLE}}
    numbers |= {name: len(run[name]) for name in _COUNTED}
    numbers["published_slots"] = counted.get("published_blocks", 0) * run["block_size"]
    numbers |= constants()
    for condition in (*shared, *relation["conditions"]):
        if condition["where"] == "always" or run["outcome"] == "holds":
            _check_condition(condition, numbers, f"{at}/counters")


def _check_events(counted: dict[str, int], grams: dict[Gram, int], at: str) -> None:
    """Compare each event's counter with the pairs that it begins and ends."""
    begun: Counter[str] = Counter()
    ended: Counter[str] = Counter()
    for gram, count in grams.items():
        if len(gram) == 2:
            begun[gram[0]] += count
            ended[gram[1]] += count
    for entry in spec.load("relations.json")["events"]:
        event, counter = entry["event"], entry["counter"]
        told = counted.get(counter, 0)
        for pairs, verb, excepted in ((begun, "begin", _LAST), (ended, "end", _FIRST)):
            if event != excepted and pairs[event] != told:
                expected = f"{counter} {pairs[event]}, as pairs {verb} with {event}"
                raise Refusal(CONTRADICT, at, expected, told)


def _check_triples(grams: dict[Gram, int], at: str) -> None:
    """Compare each pair's count with the triples that it begins and ends."""
    begun: Counter[Gram] = Counter()
    ended: Counter[Gram] = Counter()
    pairs = [gram for gram in grams if len(gram) == 2]
    triples = [gram for gram in grams if len(gram) == 3]
    for gram in triples:
        begun[gram[:2]] += grams[gram]
        ended[gram[1:]] += grams[gram]
    for pair in pairs:
        for sums, verb, leaves in ((begun, "begin", pair[1] == _LAST),
                                   (ended, "end", pair[0] == _FIRST)):  # fmt: skip
            if not leaves and sums[pair] != grams[pair]:
                expected = f"triples that {verb} with {' '.join(pair)}: {grams[pair]}"
                raise Refusal(CONTRADICT, at, expected, sums[pair])
    for gram in triples:
        for pair in (gram[:2], gram[1:]):
            if pair not in grams:
                raise Refusal(CONTRADICT, at, f"the pair {' '.join(pair)}", f"{' '.join(gram)}")


def _check_condition(condition: dict[str, Any], numbers: dict[str, int], at: str) -> None:
    left, right = (_sum(condition[side], numbers) for side in ("left", "right"))
    met = {
        "equal": left == right,
        "at_least": left >= right,
        "positive_with": left > 0 or right == 0,
    }[condition["is"]]
    if not met:
        words = condition["is"].replace("_", " ")
        expected = f"{_words(condition['left'])} {words} {_words(condition['right'])}"
        raise Refusal(CONTRADICT, at, expected, f"{left}, {right}")


def _sum(weights: dict[str, int], numbers: dict[str, int]) -> int:
    return sum(weight * numbers.get(name, 0) for name, weight in weights.items())


def _words(weights: dict[str, int]) -> str:
    names = (name if weight == 1 else f"{weight} {name}" for name, weight in weights.items())
    return " + ".join(names) or "0"


def check_digests(runs: Records, controls: Records, at: str) -> None:
    """Check what digests of workloads and schedules cannot be shared (REL-26).

    Args:
        runs: all runs, checked one by one.
        controls: likewise.
        at: where the predicate stands.

    Raises:
        Refusal: BAD_VALUE, at a schedule that stood before at another block size or is a
            workload; at the workloads of a run that are another seed's.
    """
    placed = [(f"{at}/runs/{i}", run) for i, run in enumerate(runs)]
    placed += [(f"{at}/controls/{i}", control) for i, control in enumerate(controls)]
    workloads = {digest for _, record in placed for digest in record["workloads"]}
    sizes: dict[str, int] = {}
    for place, record in placed:
        for i, digest in enumerate(record["schedules"]):
            size = sizes.setdefault(digest, record["block_size"])
            if size != record["block_size"] or digest in workloads:
                got = "a workload's" if digest in workloads else f"one over blocks of {size}"
                expected = f"a schedule over blocks of {record['block_size']}"
                raise Refusal("BAD_VALUE", f"{place}/schedules/{i}", expected, got)
    seen: dict[tuple[Any, ...], int] = {}
    for i, run in enumerate(runs):
        drawn = (run["relation"], run["block_size"], *run["workloads"])
        if run["workloads"] and drawn in seen:
            expected = "workloads drawn from its own seed"
            got = f"those of /runs/{seen[drawn]}"
            raise Refusal("BAD_VALUE", f"{at}/runs/{i}/workloads", expected, got)
        seen[drawn] = i
