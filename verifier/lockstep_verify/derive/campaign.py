"""Re-derive a certificate of a fuzzing campaign (spec/fuzz.md).

What each seed showed is the signer's word until it is run again; which seeds there are, what came
of what, outcomes, credit, coverage, counts and verdict are not. The order of the checks below is
the normative order of derivation.
"""

from __future__ import annotations

import hashlib
from typing import Any

from lockstep_verify import spec
from lockstep_verify.derive import Derivation, Options
from lockstep_verify.derive.campaign_records import (
    COVERAGE,
    OUTCOME,
    PROBES,
    Gram,
    Record,
    Whole,
    check_records,
    check_table,
    require,
    whole,
)
from lockstep_verify.derive.campaign_repeats import Repeats
from lockstep_verify.derive.environment import Environment, check_environment
from lockstep_verify.derive.model import check_model
from lockstep_verify.derive.replay_ledger import framed
from lockstep_verify.errors import Refusal

_AT = "/predicate"
_COUNTS = "H10_COUNTS_DO_NOT_RECOMPUTE"
_WHAT = ("cells", "pairs", "triples", "predicates")
_EXPLORED, _ALL = "explored", "all"

Covered = dict[str, set[Any]]


def derive(statement: dict[str, Any], options: Options) -> Derivation:
    """Re-derive the statement of a campaign.

    Raises:
        Refusal: the first offence in the order of derivation of spec/fuzz.md.
    """
    predicate = statement["predicate"]
    environment = _check_subject_matter(predicate)
    told = whole()
    table = check_table(predicate["n_grams"], f"{_AT}/n_grams")
    kept = _check_populations(predicate["populations"], table, told)
    records = {one["name"]: one["records"] for one in predicate["populations"]}
    rows = _covered(records, table, told)
    unmet = _check_coverage(predicate["coverage"], rows, told)
    counts = _counts(records, rows, told, table, kept)
    for name, value in counts.items():
        require(_COUNTS, f"{_AT}/counts/{name}", value, predicate["counts"][name])
    verdict = _verdict(records, counts, unmet)
    require(OUTCOME, f"{_AT}/verdict", verdict, predicate["verdict"])
    _check_subject(statement)
    lines = _lines(predicate, environment)
    replayed, compared, said = 0, 1, "cases: not run again here (--replay)"
    if options.replay:
        # Starting an engine is dear, and few runs ask for it.
        from lockstep_verify.derive.campaign_execution import run_again

        replayed, compared, said = run_again(statement)
    counts |= {"replayed": replayed, "not_comparable": 1 - compared}
    return Derivation(verdict, counts, (*lines, said))


def _check_subject_matter(predicate: dict[str, Any]) -> Environment:
    """Judge environment, model and lifecycle (steps 1 and 2)."""
    environment = check_environment(predicate["environment"], f"{_AT}/environment")
    dtype = environment.resolved["dtype"]
    check_model(predicate["model"], dtype)
    checkpoint = bytes.fromhex(predicate["model"]["sha256"])
    digest = framed("lockstep/model/1", checkpoint, dtype.encode("ascii")).hex()
    require("BAD_VALUE", f"{_AT}/model_digest", digest, predicate["model_digest"])
    data, stated = spec.load("lifecycle.json"), predicate["lifecycle"]
    proofs = [
        {
            "state": pair["state"],
            "event": pair["event"],
            "query": f"lifecycle/unreachable/{pair['state']}/{pair['event']}".lower(),
        }
        for pair in data["unreachable"]
    ]
    require(COVERAGE, f"{_AT}/lifecycle/cells", data["cells"], stated["cells"])
    sha256 = hashlib.sha256(spec.read("lifecycle.json")).hexdigest()
    require(COVERAGE, f"{_AT}/lifecycle/sha256", sha256, stated["sha256"])
    require(COVERAGE, f"{_AT}/lifecycle/unreachable", proofs, stated["unreachable"])
    return environment


def _check_populations(stated: list[dict[str, Any]], table: list[Gram], told: Whole) -> int:
    """Judge populations and their records, and give how many seeds are kept (step 4)."""
    declared, at = spec.load("fuzz.json")["populations"], f"{_AT}/populations"
    events = spec.load("lifecycle.json")["events"]
    require(COVERAGE, at, len(declared), len(stated))
    kept, used, repeats = 0, set[int](), Repeats()
    for i, (entry, one) in enumerate(zip(declared, stated, strict=True)):
        targets = [event for event in events if event in entry["targets"]]
        require(COVERAGE, f"{at}/{i}/name", entry["name"], one["name"])
        require(COVERAGE, f"{at}/{i}/targets", targets, one["targets"])
        where = f"{at}/{i}/records"
        kept += check_records(one["name"], one["records"], table, told, repeats, where)
        used.update(place for record in one["records"] for place in record["n_grams"])
    for place, gram in enumerate(table):
        if place not in used:
            expected = "an n-gram of a record"
            raise Refusal("BAD_VALUE", f"{_AT}/n_grams/{place}", expected, list(gram))
    return kept


def _covered(
    records: dict[str, list[Record]], table: list[Gram], told: Whole
) -> dict[str, Covered]:
    """Give what each population shows, what is explored, and what all show (FUZZ-2, FUZZ-11)."""
    rows: dict[str, Covered] = {}
    explored: Covered = {what: set() for what in _WHAT}
    for entry in spec.load("fuzz.json")["populations"]:
        members, targets = records[entry["name"]], set(entry["targets"])
        grams = {table[place] for record in members for place in record["n_grams"]}
        seen: Covered = {
            "cells": {place for record in members for place in record["cells"]},
            "pairs": grams & set(told.pairs),
            "triples": grams & set(told.triples),
            "predicates": {place for record in members for place in record["predicates"]},
        }
        rows[entry["name"]] = seen
        for what in ("pairs", "triples"):
            explored[what] |= {gram for gram in seen[what] if targets.isdisjoint(gram)}
        for what in ("cells", "predicates"):
            explored[what] |= set() if targets else seen[what]
    every = {what: set().union(*(seen[what] for seen in rows.values())) for what in _WHAT}
    return {**rows, _EXPLORED: explored, _ALL: every}


def _check_coverage(
    stated: dict[str, Any], rows: dict[str, Covered], told: Whole
) -> dict[str, list[Any]]:
    """Compare coverage with what follows, and give what is not covered (step 5)."""
    at = f"{_AT}/coverage"
    for what, members in told._asdict().items():
        require(COVERAGE, f"{at}/legal/{what}", len(members), stated["legal"][what])
    require(COVERAGE, f"{at}/rows", len(rows), len(stated["rows"]))
    for i, ((name, seen), row) in enumerate(zip(rows.items(), stated["rows"], strict=True)):
        require(COVERAGE, f"{at}/rows/{i}/population", name, row["population"])
        for what in _WHAT:
            require(_COUNTS, f"{at}/rows/{i}/{what}", len(seen[what]), row[what])
    grams = [("pairs", gram) for gram in told.pairs] + [("triples", gram) for gram in told.triples]
    every, explored = rows[_ALL], rows[_EXPLORED]
    missing: dict[str, list[Any]] = {
        "unexplored": [list(gram) for what, gram in grams if gram not in explored[what]],
        "unseen": [list(gram) for what, gram in grams if gram not in every[what]],
        "unwitnessed": [
            {"state": cell["state"], "event": cell["event"]}
            for place, cell in enumerate(told.cells)
            if place not in every["cells"]
        ],
        "unshown": [
            name for place, name in enumerate(told.predicates) if place not in every["predicates"]
        ],
    }
    for member, value in missing.items():
        require(_COUNTS, f"{at}/{member}", value, stated[member])
    return missing


def _counts(
    by_population: dict[str, list[Record]],
    rows: dict[str, Covered],
    told: Whole,
    table: list[Gram],
    kept: int,
) -> dict[str, int]:
    """Give the counts, in their order (FUZZ-12)."""
    records = [record for members in by_population.values() for record in members]
    outcomes = [record["outcome"] for record in records]
    failures = [record["failure"] for record in records if record["failure"] is not None]
    targets: list[object] = [*range(len(told.cells)), *told.pairs, *told.triples]
    shown = sum(
        targets[probe["seed"]] in (*probe["cells"], *(table[place] for place in probe["n_grams"]))
        for probe in by_population[PROBES]
    )
    every, explored = rows[_ALL], rows[_EXPLORED]
    return {
        "records": len(records),
        "cases": len({record["case_sha256"] for record in records}),
        **{name: outcomes.count(name) for name in ("clean", "refused", "failed", "not_run")},
        "altered": sum(record["parent"] is not None for record in records),
        "kept": kept,
        **{name: sum(r[name] for r in records) for name in ("requests", "steps", "events")},
        "findings": len({(one["kind"], one["code"], one["part"]) for one in failures}),
        "probes_shown": shown,
        **{what: len(every[what]) for what in _WHAT},
        "explored_pairs": len(explored["pairs"]),
        "explored_triples": len(explored["triples"]),
        "cells_legal": len(told.cells),
        "pairs_legal": len(told.pairs),
        "triples_legal": len(told.triples),
        "predicates_declared": len(told.predicates),
    }


def _verdict(
    records: dict[str, list[Record]], counts: dict[str, int], unmet: dict[str, list[Any]]
) -> str:
    """Give the verdict (FUZZ-13)."""
    data = spec.load("fuzz.json")
    probes = counts["cells_legal"] + counts["pairs_legal"] + counts["triples_legal"]
    wanted = {e["name"]: probes if e["seeds"] is None else e["seeds"] for e in data["populations"]}
    short = any(len(records[name]) < seeds for name, seeds in wanted.items())
    below = any(counts[name] < least for name, least in data["floors"].items())
    if short or below or counts["not_run"] or unmet["unwitnessed"] or unmet["unseen"]:
        return "UNPROVEN"
    return "FINDINGS" if counts["failed"] else "CLEAN"


def _check_subject(statement: dict[str, Any]) -> None:
    """Compare the subject `model` with the model's digest (step 7)."""
    expected = statement["predicate"]["model"]["sha256"]
    names = [subject["name"] for subject in statement["subject"]]
    if "model" not in names:
        raise Refusal("SUBJECT_MISMATCH", "/subject", f"model {expected}", "no subject model")
    at = names.index("model")
    got = statement["subject"][at]["digest"]["sha256"]
    require("SUBJECT_MISMATCH", f"/subject/{at}/digest/sha256", expected, got)


def _lines(predicate: dict[str, Any], environment: Environment) -> tuple[str, ...]:
    """Give the report for people."""
    counts = predicate["counts"]
    failed = [
        (one["name"], record)
        for one in predicate["populations"]
        for record in one["records"]
        if record["failure"] is not None
    ]
    return (
        *environment.lines(),
        f"seeds: {counts['records']}, distinct cases: {counts['cases']}; {counts['clean']} clean, "
        f"{counts['refused']} rightly refused, {counts['failed']} failed, {counts['not_run']} not "
        "run (attested)",
        f"explored: {counts['explored_pairs']} of {counts['pairs_legal']} pairs and "
        f"{counts['explored_triples']} of {counts['triples_legal']} triples; with probes "
        f"{counts['pairs']} and {counts['triples']}",
        f"cells {counts['cells']} of {counts['cells_legal']}, boundary predicates "
        f"{counts['predicates']} of {counts['predicates_declared']}",
        *(
            f"failed: {name} {record['seed']}: {record['failure']['kind']} "
            f"{record['failure']['code']} {record['failure']['part']}"
            for name, record in failed
        ),
    )
