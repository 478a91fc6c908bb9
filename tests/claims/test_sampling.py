"""The fold over judged sequences: no worse one is outvoted, and looking less never helps."""

from __future__ import annotations

from collections import Counter
from itertools import product
from typing import Any

import jsonschema
import pytest

from lockstep import spec
from lockstep.certificate.statement import sampling_subjects
from lockstep.claims.sampling import predicate, totals, verdict
from lockstep.sampling.observe import Judged
from lockstep.sampling.replay import SequenceOutcome

REASONS = {
    "honest": "",
    "fraud": "token_differs",
    "invalid_artifact": "finish",
    "inconclusive": "version_unknown",
    "not_covered": "greedy",
}
PRODUCER = {name: "x" for name in ("name", "version", "python", "machine", "command")}


def judged(found: str, number: int = 0, positions: int = 4) -> Judged:
    covered = 0 if found in ("inconclusive", "not_covered") else positions
    outcome = SequenceOutcome(
        found, REASONS[found], 2 if found == "fraud" else None, positions, covered,
        int(found == "fraud"), 0, 5 * covered,
    )  # fmt: skip
    beacon = "ab" * 32 if number % 2 else ""
    request = {"inference_id": f"r{number}", "beacon": beacon, "choices": 1}
    return Judged(request, 0, {"positions": []}, outcome)


def folded(*found: str) -> str:
    return verdict(totals([judged(one, n) for n, one in enumerate(found)]))


def test_the_worst_verdict_stands() -> None:
    assert folded("honest", "honest") == "honest"
    assert folded("honest", "honest", "not_covered") == "honest"
    assert folded("honest", "inconclusive") == "inconclusive"
    assert folded("honest", "inconclusive", "invalid_artifact") == "invalid_artifact"
    assert folded("fraud", "invalid_artifact", "honest") == "fraud"


def test_a_choice_that_no_sequence_has_leaves_the_request_uncovered() -> None:
    """Two choices were asked for, and the executor shows the one that it likes [SAMP-47]."""
    one = judged("honest")
    both = {**one.request, "choices": 2}
    shown = [Judged(both, choice, one.artifact, one.outcome) for choice in (0, 1)]
    assert totals(shown[:1])["choices_missing"] == 1
    assert verdict(totals(shown[:1])) == "not_covered"
    assert verdict(totals(shown)) == "honest"


def test_coverage_has_a_least_share() -> None:
    least = spec.load("sampling.json")["coverage_least_permille"]
    assert least == 500
    assert folded("not_covered") == "not_covered"
    assert folded("honest", "not_covered") == "honest"
    assert folded("honest", "not_covered", "not_covered") == "not_covered"


def test_to_look_less_never_raises_the_verdict() -> None:
    order = spec.load("sampling.json")["verdicts"]
    weaker = {
        "honest": ("inconclusive", "not_covered", "invalid_artifact", "fraud"),
        "not_covered": ("inconclusive",),
    }
    for found in product(REASONS, repeat=3):
        rank = order.index(folded(*found))
        for place, one in enumerate(found):
            for less in weaker.get(one, ()):
                weakened = (*found[:place], less, *found[place + 1 :])
                assert order.index(folded(*weakened)) <= rank


def test_counts_add_up() -> None:
    counts = totals([judged(one, n) for n, one in enumerate(REASONS)])
    assert counts == {
        "sequences": 5, "honest": 1, "fraud": 1, "invalid_artifact": 1, "inconclusive": 1,
        "not_covered": 1, "positions": 20, "positions_covered": 12, "covered_permille": 600,
        "fraud_positions": 1, "invalid_positions": 0, "support_tokens": 60, "beacons": 2,
        "requests": 5, "choices_missing": 0,
    }  # fmt: skip


def test_a_predicate_has_its_members_and_no_other() -> None:
    made = predicate([judged("fraud")], issued_at="2026-01-01T00:00:00Z", producer=PRODUCER)
    schema = spec.load("schemas/sampling.schema.json")
    assert list(made) == schema["required"]
    assert list(made["counts"]) == schema["properties"]["counts"]["required"]
    (sequence,) = made["sequences"]
    assert list(sequence) == schema["$defs"]["sequence"]["required"]
    assert made["verdict"] == "fraud"
    assert Counter(made["not_run"]) == Counter(spec.load("sampling.json")["not_run"])


def test_a_request_of_several_choices_counts_once_in_the_subject() -> None:
    def subjects(*entries: Any) -> Any:
        made = predicate(entries, issued_at="2026-01-01T00:00:00Z", producer=PRODUCER)
        return sampling_subjects(made)[1]

    one = judged("honest")
    again = Judged(one.request, 1, one.artifact, one.outcome)
    assert subjects(one)["name"] == "requests"
    assert subjects(one) == subjects(one, again) != subjects(one, judged("honest", 1))


@pytest.mark.parametrize("member", ["positions", "covered"])
def test_the_schema_has_these_as_numbers(member: str) -> None:
    schema = spec.load("schemas/sampling.schema.json")
    count = {"$ref": f"#/$defs/sequence/properties/{member}", "$defs": schema["$defs"]}
    jsonschema.validate(3, count)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(-1, count)
