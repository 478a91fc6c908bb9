"""Requests are held against their rules, artifacts against their form alone."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from lockstep import spec
from lockstep.sampling.document import Artifact, Request, artifact_document, read_artifact
from lockstep.sampling.observe import judge
from tests.refusals import refused
from tests.sampling.documents import request_document


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


def test_the_number_of_log_probabilities_in_all(document: dict[str, Any]) -> None:
    (one,) = document["sequences"]
    one["artifact"]["positions"] = [{"token": "1", "support": [["1", "-1"]] * 1025}] * 256
    fault = refused("LIMIT_SIZE", lambda: judge(document, "file"))
    assert fault.pointer == "file:/sequences"


@pytest.mark.parametrize(
    ("code", "pointer", "edit"),
    [
        ("WRONG_TYPE", "positions/0/support/0/1", ["1", -1]),
        ("BAD_VALUE", "positions/0/support/0", ["1"]),
        ("BAD_VALUE", "positions/0/support/0/1", ["1", "-1" * 40]),
    ],
)
def test_the_form_of_an_artifact(
    document: dict[str, Any], code: str, pointer: str, edit: object
) -> None:
    document["sequences"][0]["artifact"]["positions"][0]["support"][0] = edit
    fault = refused(code, lambda: judge(document))
    assert fault.pointer == f"/sequences/0/artifact/{pointer}"


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
