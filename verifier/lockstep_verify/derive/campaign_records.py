"""Records of a campaign: their form, their outcomes, and which seeds came of which (FUZZ-3, 10)."""

from __future__ import annotations

from typing import Any, NamedTuple

from lockstep_verify import spec
from lockstep_verify.derive.campaign_repeats import Repeats
from lockstep_verify.derive.failure import check_failure
from lockstep_verify.derive.invariance_runs import words
from lockstep_verify.derive.replay_ledger import framed, number
from lockstep_verify.errors import Refusal

COVERAGE = "COVERAGE_DENOMINATOR_NOT_DERIVED"
OUTCOME = "OUTCOME_NOT_DERIVED"
PROBES = "probes"
_NEVER_FITS = "REQUEST_NEVER_FITS"
_ALONE = "/alone/"

Gram = tuple[str, ...]
Record = dict[str, Any]


class Whole(NamedTuple):
    """What there is to show: cells in their order, legal n-grams ascending, predicates' names."""

    cells: list[dict[str, str]]
    pairs: list[Gram]
    triples: list[Gram]
    predicates: list[str]


def whole() -> Whole:
    """Give what there is to show (FUZZ-4, FUZZ-8)."""
    cells = spec.load("lifecycle.json")["cells"]
    pairs, triples = (sorted(words(cells, n)) for n in (2, 3))
    names = [entry["name"] for entry in spec.load("fuzz.json")["predicates"]]
    return Whole(cells, pairs, triples, names)


def require(code: str, pointer: str, expected: object, got: object) -> None:
    """Refuse with `code` unless what stands there is what follows."""
    if type(expected) is not type(got) or expected != got:
        raise Refusal(code, pointer, expected, got)


def check_table(table: list[list[str]], at: str) -> list[Gram]:
    """Judge the form of the table of n-grams, and give it (step 3)."""
    events = spec.load("lifecycle.json")["events"]
    grams = [tuple(gram) for gram in table]
    for i, gram in enumerate(grams):
        for event in gram:
            if event not in events:
                raise Refusal("BAD_VALUE", f"{at}/{i}", "events of the lifecycle", event)
        if i and (len(grams[i - 1]), grams[i - 1]) >= (len(gram), gram):
            raise Refusal("BAD_VALUE", f"{at}/{i}", f"above {list(grams[i - 1])}", list(gram))
    return grams


def check_records(
    name: str, records: list[Record], table: list[Gram], told: Whole, repeats: Repeats, at: str
) -> int:
    """Judge the records of a population, and give how many seeds would be kept (step 4).

    Args:
        name: of the population.
        records: in the form of the schema.
        table: the n-grams that records name by their places.
        told: what there is to show.
        repeats: the records of the populations before; these are added.
        at: where the records stand.

    Raises:
        Refusal: the code of the first offence.
    """
    if name == PROBES:
        targets = len(told.cells) + len(told.pairs) + len(told.triples)
        if len(records) > targets:
            raise Refusal(COVERAGE, at, f"at most {targets}", len(records))
    legal = {*told.pairs, *told.triples}
    ancestry = _Ancestry(name)
    for i, record in enumerate(records):
        where = f"{at}/{i}"
        require(COVERAGE, f"{where}/seed", i, record["seed"])
        lengths = (len(told.cells), len(table), len(told.predicates))
        for member, length in zip(("cells", "n_grams", "predicates"), lengths, strict=True):
            _check_places(record[member], length, f"{where}/{member}")
        grams = {table[place] for place in record["n_grams"]}
        for gram in grams:
            if len(gram) == 3 and not {gram[:2], gram[1:]} <= grams:
                raise Refusal("BAD_VALUE", f"{where}/n_grams", "both pairs of a triple", list(gram))
        _check_form(record, grams, told, where)
        if not grams <= legal and record["outcome"] != "failed":
            raise Refusal(OUTCOME, f"{where}/outcome", "failed", record["outcome"])
        require("BAD_VALUE", f"{where}/parent", ancestry.parent(i), record["parent"])
        ancestry.add(i, {*grams, *record["predicates"]})
        repeats.add(record, where)
    return len(ancestry.kept)


class _Ancestry:
    """The corpus of a population as its records come (FUZZ-3)."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.kept: list[int] = []
        self._seen: set[object] = set()
        self._round = int(spec.load("fuzz.json")["round"])
        self._corpus: list[int] = []

    def parent(self, seed: int) -> int | None:
        """Give the seed whose case this one alters, None for a fresh case."""
        if seed % self._round == 0:
            self._corpus = list(self.kept)
        digest = framed("lockstep/fuzz-parent/1", self.name.encode("ascii"), number(seed))
        drawn = int.from_bytes(digest[:8], "big")
        if self.name == PROBES or not self._corpus or drawn % 2 == 0:
            return None
        return self._corpus[drawn // 2 % len(self._corpus)]

    def add(self, seed: int, shown: set[object]) -> None:
        """Keep a seed that shows something new."""
        if not shown <= self._seen:
            self.kept.append(seed)
            self._seen |= shown


def _check_places(places: list[int], length: int, at: str) -> None:
    before = -1
    for i, place in enumerate(places):
        if not before < place < length:
            expected = f"above {before} and below {length}"
            raise Refusal("BAD_VALUE", f"{at}/{i}", expected, place)
        before = place


def _check_form(record: Record, grams: set[Gram], told: Whole, at: str) -> None:
    """Judge outcome, and what a record of it may hold (FUZZ-7, FUZZ-10)."""
    failure, reason = record["failure"], record["reason"]
    if failure is not None:
        outcome = "failed"
    elif reason:
        outcome = "refused" if reason == _NEVER_FITS else "not_run"
    else:
        outcome = "clean"
    require(OUTCOME, f"{at}/outcome", outcome, record["outcome"])
    if failure is not None:
        require("BAD_VALUE", f"{at}/reason", "", reason)
        check_failure(failure, f"{at}/failure")
    for member, value in zip(("twice", "alone"), _seen(outcome, failure), strict=True):
        require("BAD_VALUE", f"{at}/{member}", value, record[member])
    if outcome == "clean":
        _check_clean(record, grams, told, at)
    elif outcome == "failed":
        _check_numbers(record, grams, 1, at)
    else:
        if outcome == "refused" and not record["requests"]:
            raise Refusal("BAD_VALUE", f"{at}/requests", "1 or more", 0)
        for member, value in _NOTHING.items():
            require("BAD_VALUE", f"{at}/{member}", value, record[member])
        shown = [p for p in record["predicates"] if outcome == "not_run" or p not in _of_cases()]
        if shown:
            expected = f"nothing that holds of a case that is {outcome}"
            raise Refusal("BAD_VALUE", f"{at}/predicates", expected, shown)


_NOTHING: dict[str, Any] = {
    "trajectory_sha256": None, "steps": 0, "events": 0, "cells": [], "n_grams": [],
}  # fmt: skip
"""What a record shows of a case that did not run."""


def _check_clean(record: Record, grams: set[Gram], told: Whole, at: str) -> None:
    """Judge what a record shows of a case that ran to its end."""
    if record["trajectory_sha256"] is None:
        raise Refusal("BAD_VALUE", f"{at}/trajectory_sha256", "a digest", None)
    for member, least in (("requests", 1), ("steps", 1), ("events", 3 * record["requests"])):
        if record[member] < least:
            raise Refusal("BAD_VALUE", f"{at}/{member}", f"{least} or more", record[member])
    cells = [told.cells[place] for place in record["cells"]]
    _check_numbers(record, grams, record["requests"], at)
    events = {event for gram in grams if len(gram) == 2 for event in gram}
    for cell in cells:
        if cell["event"] not in events:
            raise Refusal("BAD_VALUE", f"{at}/cells", "events of its pairs", cell["event"])
    paths = words(cells, 2) | words(cells, 3)
    for gram in sorted(grams & {*told.pairs, *told.triples}):
        if gram not in paths:
            raise Refusal("BAD_VALUE", f"{at}/n_grams", "paths of its cells", list(gram))
    shown = [place for place in record["predicates"] if place in _of_cases()]
    if shown:
        raise Refusal("BAD_VALUE", f"{at}/predicates", "none of a case that is refused", shown)


def _check_numbers(record: Record, grams: set[Gram], logs: int, at: str) -> None:
    """See that there were events enough: a log of e events shows e cells and e + 1 - n n-grams."""
    events = record["events"]
    if len(record["cells"]) > events:
        raise Refusal("BAD_VALUE", f"{at}/cells", f"at most {events}", len(record["cells"]))
    for n in (2, 3):
        shown, most = sum(len(gram) == n for gram in grams), max(events - (n - 1) * logs, 0)
        if shown > most:
            raise Refusal("BAD_VALUE", f"{at}/n_grams", f"at most {most} of {n} events", shown)


def _of_cases() -> list[int]:
    """Give the places of the predicates that hold of a case before it runs."""
    declared = spec.load("fuzz.json")["predicates"]
    return [place for place, entry in enumerate(declared) if entry["at"] == "case"]


def _seen(outcome: str, failure: dict[str, Any] | None) -> tuple[bool | None, bool | None]:
    """Give what `twice` and `alone` must be."""
    if failure is None:
        return (True, True) if outcome == "clean" else (None, None)
    if failure["kind"] == "differs_again":
        return False, None
    if failure["kind"] == "differs_alone":
        return True, False
    return (True if failure["where"].startswith(_ALONE) else None), None
