"""Requests are held against their rules, artifacts against their form alone."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest

from lockstep import spec
from lockstep.certificate import lcj
from lockstep.certificate.statement import sampling_subjects
from lockstep.certificate.statement import statement as wrap
from lockstep.claims.sampling import predicate
from lockstep.sampling.document import (
    Artifact,
    Request,
    artifact_document,
    blank_artifact,
    read_artifact,
)
from lockstep.sampling.observe import Judged, judge
from tests.refusals import refused
from tests.sampling.documents import request_document
from tests.statements import judge as derived

PRODUCER = dict.fromkeys(("name", "version", "python", "machine", "command"), "test")


@pytest.fixture
def document(request_made: Request, artifact: Artifact) -> dict[str, Any]:
    one = {
        "request": request_document(request_made),
        "choice": 1,
        "artifact": artifact_document(artifact),
    }
    return copy.deepcopy({"sequences": [one]})


def test_documents_keep_everything(
    document: dict[str, Any], request_made: Request, artifact: Artifact
) -> None:
    assert read_artifact(document["sequences"][0]["artifact"]) == artifact
    (judged,) = judge(document)
    assert judged.outcome.verdict == "honest"
    assert judged.request == request_document(request_made)


@pytest.mark.parametrize(
    ("code", "pointer", "member", "value"),
    [
        ("BAD_VALUE", "user_seed", "user_seed", str(1 << 63)),
        ("BAD_VALUE", "user_seed", "user_seed", "-0"),
        ("WRONG_TYPE", "user_seed", "user_seed", 7),
        ("BAD_VALUE", "inference_id", "inference_id", "a b"),
        ("BAD_VALUE", "temperature", "temperature", "1.0"),
        ("BAD_VALUE", "temperature", "temperature", "-1"),
        ("BAD_VALUE", "top_k", "top_k", -2),
        ("BAD_VALUE", "top_p", "top_p", "0"),
        ("BAD_VALUE", "min_p", "min_p", "2"),
        ("BAD_VALUE", "min_tokens", "min_tokens", 9),
        ("BAD_VALUE", "max_tokens", "max_tokens", 0),
        ("BAD_VALUE", "stop_tokens/1", "stop_tokens", [5, 5]),
        ("BAD_VALUE", "stop_tokens/0", "stop_tokens", [5000]),
        ("BAD_VALUE", "features/1", "features", ["masks", "beam"]),
        ("BAD_VALUE", "features/0", "features", ["sorcery"]),
        ("BAD_VALUE", "beacon", "beacon", "ab"),
    ],
)
def test_requests_that_are_refused(
    document: dict[str, Any], code: str, pointer: str, member: str, value: object
) -> None:
    document["sequences"][0]["request"][member] = value
    fault = refused(code, lambda: judge(document, "file"))
    assert fault.pointer == f"file:/sequences/0/request/{pointer}"


def test_a_request_lacks_nothing_and_has_nothing_more(document: dict[str, Any]) -> None:
    request = document["sequences"][0]["request"]
    for member in list(request):
        kept = request.pop(member)
        fault = refused("MISSING_FIELD", lambda: judge(document))
        assert fault.pointer == f"/sequences/0/request/{member}"
        request[member] = kept
    request["greedy"] = True
    refused("UNKNOWN_FIELD", lambda: judge(document))


@pytest.mark.parametrize("member", ["request", "choice", "artifact"])
def test_a_sequence_has_three_members(document: dict[str, Any], member: str) -> None:
    del document["sequences"][0][member]
    assert refused("MISSING_FIELD", lambda: judge(document)).pointer == f"/sequences/0/{member}"


def test_choices_of_a_request(document: dict[str, Any]) -> None:
    (one,) = document["sequences"]
    document["sequences"] = [one, copy.deepcopy(one)]
    assert refused("BAD_VALUE", lambda: judge(document)).pointer == "/sequences/1/choice"
    document["sequences"][1]["request"]["max_tokens"] = 9
    assert refused("BAD_VALUE", lambda: judge(document)).pointer == "/sequences/1/request"
    document["sequences"] = [one | {"choice": 2}]
    assert refused("BAD_VALUE", lambda: judge(document)).pointer == "/sequences/0/choice"
    document["sequences"] = [one | {"choice": True}]
    refused("WRONG_TYPE", lambda: judge(document))


def test_the_number_of_sequences(document: dict[str, Any]) -> None:
    most = spec.load("sampling.json")["sequences_most"]
    for sequences in ([], document["sequences"] * (most + 1)):
        refused("LIMIT_SIZE", lambda sequences=sequences: judge({"sequences": sequences}))  # type: ignore[misc]
    refused("WRONG_TYPE", lambda: judge({}))
    refused("WRONG_TYPE", lambda: judge({"sequences": [7]}))


def pairs_of(judged: tuple[Judged, ...]) -> int:
    supports = [one["support"] or () for each in judged for one in each.artifact["positions"]]
    return sum(map(len, supports))


def test_what_the_requests_allow_may_be_too_much(
    document: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    pairs = pairs_of(judge(document))
    data = spec.load("sampling.json")
    monkeypatch.setitem(data, "pairs_most", pairs)
    judge(document)
    monkeypatch.setitem(data, "pairs_most", pairs - 1)
    assert refused("LIMIT_SIZE", lambda: judge(document, "file")).pointer == "file:/sequences"


@pytest.mark.parametrize(
    ("fault", "signed"),
    [
        # A token more than top_k, more positions than max_tokens, more than there can be.
        ("LIMIT_SIZE", [{"token": "1", "support": [["1", "-1"]] * 21}]),
        ("LIMIT_SIZE", [{"token": "1", "support": [["1", "-1"]] * 12}] * 9),
        ("BAD_VALUE", [{"token": "1", "support": None}] * 16_385),
    ],
)
def test_an_executor_cannot_make_a_file_too_large(
    document: dict[str, Any], monkeypatch: pytest.MonkeyPatch, fault: str, signed: list[Any]
) -> None:
    (one,) = document["sequences"]
    large = copy.deepcopy(one) | {"choice": 0}
    large["artifact"]["positions"] = signed
    monkeypatch.setitem(spec.load("sampling.json"), "pairs_most", pairs_of(judge(document)))
    document["sequences"].append(large)
    honest, blank = judge(document)
    assert honest.outcome.verdict == "honest"
    assert (blank.outcome.verdict, blank.outcome.reason) == ("invalid_artifact", "copy_differs")
    assert blank.artifact == blank_artifact()
    assert blank.fault.startswith(fault)


def test_supports_that_nobody_looks_at_are_left_out(
    document: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    (one,) = document["sequences"]
    one["request"]["temperature"] = "0"
    positions = len(one["artifact"]["positions"])
    monkeypatch.setitem(spec.load("sampling.json"), "pairs_most", 1)
    (judged,) = judge(document)
    assert (judged.outcome.verdict, judged.outcome.reason) == ("not_covered", "greedy")
    assert (judged.outcome.positions, pairs_of((judged,))) == (positions, 0)


def sent(member: str, value: object) -> Callable[[dict[str, Any]], object]:
    return lambda artifact: {**artifact, member: value}


def signed(pair: object) -> Callable[[dict[str, Any]], object]:
    def change(artifact: dict[str, Any]) -> object:
        artifact["positions"][0]["support"][0] = pair
        return artifact

    return change


@pytest.mark.parametrize(
    ("told", "change"),
    [
        ("WRONG_TYPE at /sequences/0/artifact", lambda artifact: None),
        ("WRONG_TYPE at /sequences/0/artifact", lambda artifact: [artifact]),
        ("MISSING_FIELD at /sequences/0/artifact/version", lambda artifact: {}),
        ("UNKNOWN_FIELD at /sequences/0/artifact/note", sent("note", "paid")),
        ("BAD_VALUE at /sequences/0/artifact/length", sent("length", -1)),
        ("BAD_VALUE at /sequences/0/artifact/temperature", sent("temperature", "1" * 65)),
        ("WRONG_TYPE at /sequences/0/artifact/temperature", sent("temperature", 0.7)),
        ("WRONG_TYPE at /sequences/0/artifact/positions/0/support/0/1", signed(["1", -1])),
        ("BAD_VALUE at /sequences/0/artifact/positions/0/support/0", signed(["1"])),
        ("BAD_VALUE at /sequences/0/artifact/positions/0/support/0/0", signed(["\u0663", "-1"])),
    ],
)
def test_what_is_no_artifact_is_an_invalid_one(
    document: dict[str, Any], told: str, change: Callable[[dict[str, Any]], object]
) -> None:
    """Else whoever had drawn another token would send this, and have no verdict."""
    (one,) = document["sequences"]
    other = copy.deepcopy(one) | {"choice": 0}
    one["artifact"] = change(one["artifact"])
    document["sequences"].append(other)
    blank, judged = judge(document)
    assert (blank.outcome.verdict, blank.outcome.reason) == ("invalid_artifact", "copy_differs")
    assert (blank.artifact, blank.fault) == (blank_artifact(), told)
    assert judged.fault == "" and judged.outcome.positions > 0
    folded = predicate([blank, judged], issued_at="2026-06-01T00:00:00Z", producer=PRODUCER)
    made = wrap("sampling", sampling_subjects(folded), folded)
    assert derived(json.loads(lcj.encode(made))).verdict == folded["verdict"] == "fraud"


def test_limits_of_data_and_schema_are_one() -> None:
    data = spec.load("sampling.json")
    schema = spec.load("schemas/sampling.schema.json")
    artifact = schema["$defs"]["artifact"]["properties"]
    assert artifact["positions"]["maxItems"] == data["positions_most"]
    assert schema["properties"]["sequences"]["maxItems"] == data["sequences_most"]
    assert schema["properties"]["version"]["const"] == data["contract"]
    sequence = schema["$defs"]["sequence"]["properties"]
    assert sequence["reason"]["enum"] == [one["reason"] for one in data["reasons"]]
    assert sequence["verdict"]["enum"] == data["verdicts"]
    request = schema["$defs"]["request"]["properties"]
    assert request["features"]["items"]["enum"] == data["features"]
