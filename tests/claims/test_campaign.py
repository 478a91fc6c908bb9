"""The fold of campaigns, over made-up records."""

from __future__ import annotations

from dataclasses import replace

import jsonschema

from lockstep import spec
from lockstep.claims.campaign_totals import VERDICTS
from lockstep.fuzz.failure import Failure
from lockstep.fuzz.populations import populations
from lockstep.fuzz.record import Record
from tests.campaign_records import campaign, fold, related

RECORDS = campaign()


def test_the_predicate_has_the_shape_of_the_schema() -> None:
    schema = spec.load("schemas/campaign.schema.json")
    jsonschema.Draft202012Validator(schema).validate(fold(RECORDS))


def test_denominators_come_from_the_specification() -> None:
    folded = fold({})
    declared = len(spec.load("fuzz.json")["predicates"])
    legal = {"cells": 13, "pairs": 25, "triples": 79, "predicates": declared}
    assert folded["coverage"]["legal"] == legal
    assert [one["name"] for one in folded["populations"]] == list(populations())
    assert folded["verdict"] == "UNPROVEN"
    assert len(folded["coverage"]["unseen"]) == 25 + 79
    assert len(folded["coverage"]["unwitnessed"]) == 13


def test_weakening_never_raises_the_verdict() -> None:
    def rank(own: dict[str, tuple[Record, ...]]) -> int:
        return VERDICTS.index(fold(own)["verdict"])

    ranks = [rank(RECORDS)]
    swarm = list(RECORDS["swarm"])
    for place, weaker in ((6, _failed), (6, _not_run), (2, _failed), (2, _not_run), (4, _failed)):
        swarm[place] = weaker(swarm[place])
        ranks.append(rank({**RECORDS, "swarm": related("swarm", swarm)}))
    assert ranks == sorted(ranks, reverse=True)
    assert {VERDICTS[place] for place in ranks} == set(VERDICTS)


def test_floors_of_exploration() -> None:
    floors = spec.load("fuzz.json")["floors"]
    assert (floors["explored_pairs"], floors["explored_triples"]) == (22, 60)
    few = {name: related(name, [_poor(one) for one in own]) for name, own in RECORDS.items()}
    assert fold(few)["verdict"] == "UNPROVEN"
    assert fold(few)["counts"]["predicates"] == floors["predicates"] - 1


def _poor(record: Record) -> Record:
    return replace(record, predicates=record.predicates[:19] if record.steps else ())


def _failed(record: Record) -> Record:
    failure = Failure("differs_alone", part="logits")
    return replace(record, outcome="failed", alone=False, failure=failure)


def _not_run(record: Record) -> Record:
    return Record(record.population, record.seed, None, record.case_sha256, reason="MEMORY_SHORT")
