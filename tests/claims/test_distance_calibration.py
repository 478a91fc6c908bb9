"""The fold of a ladder: all of it stands there, and nothing but the ladder changes it."""

from __future__ import annotations

from dataclasses import replace

import jsonschema

from lockstep import spec
from lockstep.certificate.statement import distance_subjects
from lockstep.claims.distance_calibration import UNBOUND, digest, written
from tests.distance_records import SUPPORT, folded, ladder

DATA = spec.load("distance-calibration.json")


def test_the_predicate_fits_its_schema_and_the_data() -> None:
    told = folded(ladder())
    schema = spec.load("schemas/distance-calibration.schema.json")
    jsonschema.validate(told, schema)
    assert list(told) == schema["required"]
    assert list(told["counts"]) == schema["properties"]["counts"]["required"]
    assert told["not_run"] == DATA["not_run"]
    assert set(schema["$defs"]["placement"]["properties"]["outcomes"]["items"]["enum"]) == set(
        DATA["outcomes"]
    )
    assert set(schema["properties"]["verdict"]["enum"]) == set(DATA["verdicts"])
    gates, measures = len(DATA["gates"]), len(DATA["measures"])
    for rung in told["rungs"]:
        assert {len(row) for row in rung["statistics"]} == {gates}
        assert [len(row) for row in rung["quantiles"]] == [len(DATA["quantiles"])] * measures
    assert {len(one["thresholds"]) for one in told["placements"]} == {gates}


def test_counts() -> None:
    made = ladder()
    told = folded(made)
    counts = told["counts"]
    supports = [one for rung in told["rungs"] for text in rung["supports"] for one in text]
    assert counts["comparisons"] == len(supports) == 640
    assert counts["identical"] == supports.count(None) == told["rungs"][0]["identical"] == 128
    assert counts["signed_tokens"] == SUPPORT * (640 - 128)
    assert counts["reference_tokens"] == sum(
        one.count(":") for text in told["texts"] for one in text["reference"]
    )
    assert (counts["texts"], counts["texts_held_out"], counts["positions"]) == (4, 2, 128)
    parts = ("held", "separated", "overlapping", "not_separated")
    assert sum(counts[name] for name in parts) == counts["rungs"] == 5


def test_supports_are_written_in_string_order() -> None:
    assert written((("10", "-1.5"), ("2", "0"))) == "10:-1.5 2:0"


def test_where_the_line_is_drawn_changes_the_verdict_alone() -> None:
    made = ladder()
    strict, loose = folded(made, 2), folded(made, 3)
    assert (strict["verdict"], loose["verdict"]) == ("overlapping", "separated")
    assert strict["placements"] == loose["placements"]
    assert strict["rungs"] == loose["rungs"]


def test_the_digest_is_that_of_what_follows() -> None:
    told = folded(ladder())
    for name in UNBOUND:
        assert digest({**told, name: "another"}) == digest(told)
    for name in set(told) - set(UNBOUND):
        assert digest({**told, name: "another"}) != digest(told), name
    assert digest(folded(ladder(seed=1))) != digest(told)
    subjects = {one["name"]: one["digest"]["sha256"] for one in distance_subjects(told, "5" * 64)}
    assert subjects == {
        "spec": spec.digest("distance-calibration"),
        "model": "4" * 64,
        "calibration": "5" * 64,
    }


def test_a_rung_that_is_left_out_is_another_calibration() -> None:
    made = ladder()
    fewer = folded(replace(made, rungs=made.rungs[:-1]))
    assert fewer["counts"]["rungs"] == 4
    assert digest(fewer) != digest(folded(made))
