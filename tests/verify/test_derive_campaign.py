"""Re-derivation of campaigns: each rule's mutation, in the order of the rules.

The certificate that the tests mutate is folded by the producer, from made-up records: that the two
agree on it is a test by itself.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from lockstep.certificate.statement import model_subjects, statement
from lockstep.fuzz.failure import Failure
from lockstep.fuzz.record import Record
from lockstep_verify import spec
from tests import campaign_records as made
from tests.statements import get, judge, put, refusal

COVERAGE = "COVERAGE_DENOMINATOR_NOT_DERIVED"
OUTCOME = "OUTCOME_NOT_DERIVED"
H10 = "H10_COUNTS_DO_NOT_RECOMPUTE"
BAD = "BAD_VALUE"
P = "/predicate"
COUNTS = list(spec.load("schemas/campaign.schema.json")["$defs"]["counts"]["properties"])
RECORDS = made.campaign()
FOLDED = made.fold(RECORDS)

Change = Callable[[list[Record]], list[Record]]


def stated(folded: dict[str, Any] | None = None) -> dict[str, Any]:
    chosen = copy.deepcopy(FOLDED) if folded is None else folded
    return statement("campaign", model_subjects("campaign", chosen), chosen)


def with_swarm(change: Change) -> dict[str, Any]:
    swarm = made.related("swarm", change(list(RECORDS["swarm"])))
    return stated(made.fold({**RECORDS, "swarm": swarm}))


def test_a_clean_campaign() -> None:
    told = judge(stated())
    assert told.verdict == "CLEAN"
    assert {name: told.counts[name] for name in COUNTS} == FOLDED["counts"]
    assert (told.counts["explored_pairs"], told.counts["explored_triples"]) == (25, 79)
    assert told.counts["probes_shown"] < told.counts["records"]
    assert told.counts["replayed"] == 0


def fails(record: Record) -> Record:
    return replace(
        record, outcome="failed", alone=False, failure=Failure("differs_alone", part="logits")
    )


def not_run(record: Record) -> Record:
    blank = Record(record.population, record.seed, None, record.case_sha256)
    return replace(blank, reason="MEMORY_SHORT", requests=3)


@pytest.mark.parametrize(
    ("change", "verdict"),
    [
        (lambda own: [*own[:5], fails(own[5]), *own[6:]], "FINDINGS"),
        (lambda own: [*own[:5], not_run(own[5]), *own[6:]], "UNPROVEN"),
        (lambda own: [not_run(own[0]), fails(own[1]), *own[2:]], "UNPROVEN"),
        (lambda own: own[:-1], "UNPROVEN"),
        (lambda own: [], "UNPROVEN"),
    ],
    ids=["failed", "not run", "failed and not run", "too few", "none"],
)
def test_verdicts(change: Change, verdict: str) -> None:
    document = with_swarm(change)
    assert judge(document).verdict == verdict == document["predicate"]["verdict"]


def little(record: Record) -> Record:
    """Let a case show the shortest run alone."""
    if record.outcome != "clean":
        return record
    return replace(record, cells=made.SHORTEST, n_grams=made.LITTLE)


def test_credit_is_for_what_lies_outside_the_target() -> None:
    # Only the population `eviction` shows all; it targets evict.
    swarm = [little(one) for one in RECORDS["swarm"]]
    folded = made.fold({**RECORDS, "swarm": made.related("swarm", swarm)})
    counts = judge(stated(folded)).counts
    legal = [tuple(gram) for gram in folded["n_grams"]]
    apart = [gram for gram in legal if "evict" not in gram]
    assert counts["explored_pairs"] == sum(len(gram) == 2 for gram in apart) < 25
    assert counts["explored_triples"] == sum(len(gram) == 3 for gram in apart) < 79
    assert (counts["pairs"], counts["triples"]) == (25, 79)
    assert folded["verdict"] == "UNPROVEN"


def test_probes_are_no_exploration() -> None:
    poor = {
        name: made.related(name, [little(one) for one in own])
        for name, own in RECORDS.items()
        if name != made.PROBES
    }
    counts = judge(stated(made.fold({**RECORDS, **poor}))).counts
    assert (counts["explored_pairs"], counts["pairs"]) == (2, 25)


def test_an_unwitnessed_cell() -> None:
    seldom = {
        name: made.related(name, [little(one) for one in own]) for name, own in RECORDS.items()
    }
    document = stated(made.fold(seldom))
    assert judge(document).verdict == "UNPROVEN"
    assert judge(document).counts["cells"] == 3
    unwitnessed = document["predicate"]["coverage"]["unwitnessed"]
    assert {"state": "PREEMPTED", "event": "resume"} in unwitnessed
    assert len(unwitnessed) == 10


def test_an_illegal_n_gram_is_a_failure() -> None:
    illegal = (("finish", "admit"),)
    told = {"n_grams": tuple(sorted((*RECORDS["swarm"][4].n_grams, *illegal)))}

    def change(own: list[Record]) -> list[Record]:
        failure = Failure("illegal", "", "relation", "/logs/r0/3", "admit in FINISHED")
        failed = replace(own[4], **told, outcome="failed", twice=None, alone=None, failure=failure)
        return [*own[:4], failed, *own[5:]]

    assert judge(with_swarm(change)).verdict == "FINDINGS"
    hidden = with_swarm(lambda own: [*own[:4], replace(own[4], **told), *own[5:]])
    assert refusal(hidden) == (OUTCOME, f"{P}/populations/0/records/4/outcome")


R = f"{P}/populations/0/records"
UNREACHABLE = f"{P}/lifecycle/unreachable"


@pytest.mark.parametrize(
    ("pointer", "value", "code", "where"),
    [
        (f"{P}/environment/binding_sha256", "0" * 64, "ENVIRONMENT_MISMATCH", None),
        (f"{P}/model/vocab_size", 255, BAD, None),
        (f"{P}/model_digest", "0" * 64, BAD, None),
        (f"{P}/lifecycle/cells/0/next", "DECODING", COVERAGE, f"{P}/lifecycle/cells"),
        (f"{P}/lifecycle/sha256", "0" * 64, COVERAGE, None),
        (f"{P}/lifecycle/unreachable", [], COVERAGE, None),
        (f"{UNREACHABLE}/0/query", "lifecycle/x", COVERAGE, UNREACHABLE),
        (f"{P}/n_grams/3/1", "sleep", BAD, f"{P}/n_grams/3"),
        (f"{P}/n_grams/1", ["admit", "cache_hit"], BAD, None),
        (f"{P}/populations/0/name", "eviction", COVERAGE, None),
        (f"{P}/populations/0/targets", ["evict"], COVERAGE, None),
        (f"{R}/3/seed", 4, COVERAGE, None),
        (f"{R}/0/cells", [3, 3], BAD, f"{R}/0/cells/1"),
        (f"{R}/0/n_grams", [999], BAD, f"{R}/0/n_grams/0"),
        (f"{R}/0/predicates", [37], BAD, f"{R}/0/predicates/0"),
        (f"{R}/0/n_grams", [100], BAD, None),
        (f"{R}/0/outcome", "refused", OUTCOME, None),
        (f"{R}/0/reason", "REQUEST_NEVER_FITS", OUTCOME, f"{R}/0/outcome"),
        (f"{R}/0/twice", None, BAD, None),
        (f"{R}/0/alone", False, BAD, None),
        (f"{R}/0/trajectory_sha256", None, BAD, None),
        (f"{R}/0/requests", 0, BAD, None),
        (f"{R}/0/steps", 0, BAD, None),
        (f"{R}/0/events", 8, BAD, None),
        (f"{R}/0/requests", 4097, BAD, None),
        (f"{R}/0/steps", 4097, BAD, None),
        (f"{R}/2/events", 12, BAD, f"{R}/2/cells"),
        (f"{R}/2/events", 27, BAD, f"{R}/2/n_grams"),
        (f"{R}/2/events", 84, BAD, f"{R}/2/n_grams"),
        (f"{R}/3/requests", 0, BAD, None),
        (f"{R}/0/cells", [0, 1, 3, 11], BAD, f"{R}/0/cells"),
        (f"{R}/0/cells", [0, 11], BAD, f"{R}/0/n_grams"),
        (f"{R}/0/predicates", [36], BAD, None),
        (f"{R}/3/predicates", [0, 36], BAD, None),
        (f"{R}/0/parent", 0, BAD, None),
        (f"{P}/coverage/legal/pairs", 24, COVERAGE, None),
        (f"{P}/coverage/rows", [], COVERAGE, None),
        (f"{P}/coverage/rows/1/population", "swarm", COVERAGE, None),
        (f"{P}/coverage/rows/3/triples", 78, H10, None),
        (f"{P}/coverage/unexplored", [["admit", "decode"]], H10, None),
        (f"{P}/coverage/unseen", [["admit", "decode"]], H10, None),
        (f"{P}/coverage/unwitnessed", [{"state": "QUEUED", "event": "admit"}], H10, None),
        (f"{P}/coverage/unshown", ["width_1"], H10, None),
        (f"{P}/verdict", "FINDINGS", OUTCOME, None),
        *((f"{P}/counts/{name}", 100_000, H10, None) for name in COUNTS),
        ("/subject/1/digest/sha256", "0" * 64, "SUBJECT_MISMATCH", None),
    ],
)  # fmt: skip
def test_an_edit_is_refused(pointer: str, value: object, code: str, where: str | None) -> None:
    document = stated()
    put(document, pointer, value)
    assert refusal(document) == (code, where or pointer)


def test_a_dropped_seed() -> None:
    document = stated()
    del get(document, R)[5]
    assert refusal(document) == (COVERAGE, f"{R}/5/seed")


def test_an_unused_n_gram() -> None:
    document = stated()
    for place in range(3):
        for record in get(document, f"{P}/populations/{place}/records"):
            record["n_grams"] = [n for n in record["n_grams"] if n != 103]
    # Seeds that are altered from others stay so: what was dropped was no seed's only novelty.
    assert refusal(document) == (BAD, f"{P}/n_grams/103")


def test_more_probes_than_targets() -> None:
    document = stated()
    probes = get(document, f"{P}/populations/2/records")
    probes.append({**probes[-1], "seed": len(probes)})
    assert refusal(document) == (COVERAGE, f"{P}/populations/2/records")


def test_a_missing_population() -> None:
    document = stated()
    get(document, f"{P}/populations").pop()
    assert refusal(document) == (COVERAGE, f"{P}/populations")


@pytest.mark.parametrize("member", ["steps", "events", "cells", "n_grams", "trajectory_sha256"])
def test_what_was_refused_shows_nothing(member: str) -> None:
    document = stated()
    record = get(document, f"{R}/0")
    record |= {"outcome": "refused", "reason": "REQUEST_NEVER_FITS", "twice": None, "alone": None}
    blank = {"trajectory_sha256": None, "steps": 0, "events": 0, "cells": [], "n_grams": []}
    kept = record[member]
    record |= blank
    record[member] = kept
    assert refusal(document) == (BAD, f"{R}/0/{member}")


@pytest.mark.parametrize(
    ("kind", "part", "where", "twice", "alone"),
    [
        ("differs_again", "work", "/steps/2", False, None),
        ("differs_alone", "tokens", "/outputs/r0/1", True, False),
        ("stuck", "machine", "/alone/r0/steps/0", True, None),
        ("stuck", "policy", "/steps/0", None, None),
    ],
)
def test_what_a_failure_says_was_seen(
    kind: Any, part: str, where: str, twice: bool | None, alone: bool | None
) -> None:
    def change(own: list[Record]) -> list[Record]:
        failure = Failure(kind, "", part, where)
        failed = replace(own[6], outcome="failed", twice=twice, alone=alone, failure=failure)
        return [*own[:6], failed, *own[7:]]

    document = with_swarm(change)
    assert judge(document).verdict == "FINDINGS"
    put(document, f"{R}/6/twice", not twice)
    assert refusal(document) == (BAD, f"{R}/6/twice")
    put(document, f"{R}/6/twice", twice)
    put(document, f"{R}/6/alone", True)
    assert refusal(document) == (BAD, f"{R}/6/alone")


@pytest.mark.parametrize(
    ("kind", "code", "part", "member"),
    [
        ("stuck", "", "logits", "part"),
        ("refused", "KeyError", "machine", "part"),
        ("starved", "", "policy", "part"),
        ("illegal", "", "steps", "part"),
        ("differs_alone", "", "refusal", "part"),
        ("differs_alone", "KeyError", "logits", "code"),
        ("refused", "", "refusal", "code"),
    ],
)
def test_no_failure_has_part_or_code_of_another_kind(
    kind: Any, code: str, part: str, member: str
) -> None:
    """As many findings as one likes could be made of one, or one of many."""

    def change(own: list[Record]) -> list[Record]:
        failed = replace(own[6], outcome="failed", failure=Failure(kind, code, part))
        return [*own[:6], failed, *own[7:]]

    assert refusal(with_swarm(change)) == (BAD, f"{R}/6/failure/{member}")


def test_few_events_show_few_n_grams_in_a_failed_case_too() -> None:
    document = with_swarm(lambda own: [*own[:5], fails(own[5]), *own[6:]])
    put(document, f"{R}/5/events", 2)
    assert refusal(document) == (BAD, f"{R}/5/cells")
    put(document, f"{R}/5/cells", [])
    assert refusal(document) == (BAD, f"{R}/5/n_grams")


def test_seeds_of_one_case_are_counted_once() -> None:
    again = {"case_sha256": RECORDS["swarm"][0].case_sha256}
    again["trajectory_sha256"] = RECORDS["swarm"][0].trajectory_sha256
    document = with_swarm(lambda own: [own[0], replace(own[1], **again), *own[2:]])
    counts = judge(document).counts
    assert counts["cases"] == counts["records"] - 1


@pytest.mark.parametrize(
    ("member", "value"),
    [
        ("trajectory_sha256", "0" * 64),
        ("requests", 2),
        ("steps", 8),
        ("events", 299),
        ("predicates", [0, 1]),
    ],
)
def test_one_case_does_not_run_in_two_ways(member: str, value: object) -> None:
    document = stated()
    records = get(document, R)
    alike = {name: records[0][name] for name in ("case_sha256", "trajectory_sha256")}
    records[1] |= alike
    # A record of another population, whose parents hang on nothing that changes here.
    probe = get(document, f"{P}/populations/2/records/0")
    probe |= {**alike, member: value}
    assert refusal(document) == (BAD, f"{P}/populations/2/records/0/{member}")


def test_a_refused_case_does_not_run_elsewhere() -> None:
    document = stated()
    digest = get(document, f"{R}/3/case_sha256")
    put(document, f"{P}/populations/2/records/0/case_sha256", digest)
    assert refusal(document) == (BAD, f"{P}/populations/2/records/0/outcome")


@pytest.mark.parametrize(("member", "value"), [("requests", 2), ("steps", 8)])
def test_one_trajectory_has_its_requests_and_steps(member: str, value: int) -> None:
    document = stated()
    probe = get(document, f"{P}/populations/2/records/0")
    probe |= {"trajectory_sha256": get(document, f"{R}/0/trajectory_sha256"), member: value}
    assert refusal(document) == (BAD, f"{P}/populations/2/records/0/{member}")
