"""Executing again: what agrees, what differs and where, and what is not comparable."""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from lockstep.certificate import lcj
from lockstep.certificate.envelope import sign_statement
from lockstep.cli import fail
from lockstep.engine.backends.host import HostBackend
from lockstep.engine.tiny import TinyModel, make_tiny
from lockstep.errors import LockstepError
from lockstep.replay.again import replay
from lockstep.replay.read import read_stated
from lockstep_verify import derive
from lockstep_verify.derive import Options, replay_execution
from lockstep_verify.errors import Refusal


@pytest.fixture
def statement(whole: dict[str, Any]) -> dict[str, Any]:
    return deepcopy(whole)


def settle(statement: dict[str, Any], name: str, value: str) -> None:
    """Say that another setting was in force, its binding being made anew."""
    import hashlib

    environment = statement["predicate"]["environment"]
    for entry in environment["resolved"]:
        if entry["name"] == name:
            entry["value"] = value
    binding = {e["name"]: e["value"] for e in environment["resolved"] if e["binds"]}
    environment["binding_sha256"] = hashlib.sha256(lcj.encode(binding)).hexdigest()


def test_the_same_execution(statement: dict[str, Any]) -> None:
    found = replay(statement["predicate"])
    assert (found.outcome, found.steps) == ("same", len(statement["predicate"]["events"]))


def test_the_first_difference_is_named(statement: dict[str, Any]) -> None:
    for step in (9, 5):
        statement["predicate"]["trajectory"]["steps"][step]["logits"] = "0" * 64
    found = replay(statement["predicate"])
    assert (found.outcome, found.step, found.part) == ("differs", 5, "logits")
    assert found.expected == "0" * 64 != found.got


def test_a_kernel_that_computes_otherwise_differs_in_its_logits(
    statement: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    genuine = HostBackend.swiglu
    monkeypatch.setattr(
        HostBackend, "swiglu", lambda self, g, u: np.nextafter(genuine(self, g, u), np.float32(9))
    )
    found = replay(statement["predicate"])
    assert (found.outcome, found.part) == ("differs", "logits")


def test_an_output_that_trajectories_do_not_show(statement: dict[str, Any]) -> None:
    statement["predicate"]["outputs"][0]["logit_digests"][0] = "0" * 64
    assert replay(statement["predicate"]).part == "outputs"


def test_another_binding_is_not_executed(
    statement: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: object) -> None:
        raise AssertionError("executed")

    monkeypatch.setattr("lockstep.replay.again.execute", never)
    settle(statement, "numpy", "0.0")
    found = replay(statement["predicate"])
    assert found.outcome == "not_comparable"
    assert found.reason.startswith("numpy 0.0 / ")


def test_what_does_not_bind_is_no_obstacle(statement: dict[str, Any]) -> None:
    settle(statement, "blas_kernel", "abacus")
    assert replay(statement["predicate"]).outcome == "same"


def test_a_model_without_a_recipe_needs_its_folder(
    statement: dict[str, Any], tmp_path: Path
) -> None:
    predicate = statement["predicate"]
    predicate["model"]["recipe"] = None
    with pytest.raises(LockstepError) as caught:
        replay(predicate)
    assert caught.value.code == "USAGE"
    assert replay(predicate, make_tiny(tmp_path / "right")).outcome == "same"
    with pytest.raises(LockstepError) as caught:
        replay(predicate, make_tiny(tmp_path / "other", TinyModel(seed=1)))
    assert caught.value.code == "SUBJECT_MISMATCH"


def test_certificates_and_statements_are_read(statement: dict[str, Any], tmp_path: Path) -> None:
    signed, bare = tmp_path / "run.cert.json", tmp_path / "statement.json"
    signed.write_bytes(sign_statement(statement, [Ed25519PrivateKey.generate()]))
    bare.write_bytes(lcj.encode(statement))
    assert read_stated(signed) == read_stated(bare) == ("replay", statement["predicate"])


@pytest.mark.parametrize(
    ("document", "code"),
    [
        ({"payload": "*"}, "BASE64_NONCANONICAL"),
        ({"payload": 3}, "BASE64_NONCANONICAL"),
        ({"predicateType": "urn:lockstep:certificate:hunt:v1"}, "PREDICATE_UNKNOWN"),
        ({"predicateType": "urn:lockstep:certificate:replay:v1"}, "MISSING_FIELD"),
        (
            {"predicateType": "urn:lockstep:certificate:replay:v1", "predicate": {"a": 1}},
            "UNKNOWN_FIELD",
        ),
    ],
)
def test_what_is_no_replay(document: dict[str, Any], code: str, tmp_path: Path) -> None:
    path = tmp_path / "file.json"
    path.write_text(json.dumps(document))
    with pytest.raises(LockstepError) as caught:
        read_stated(path)
    assert caught.value.code == code
    assert fail(caught.value) == 3


def test_the_verifier_lets_the_engine_execute_again(statement: dict[str, Any]) -> None:
    derivation = derive.derive(statement, Options(replay=True))
    assert derivation.verdict == "REPLAYED"
    assert (derivation.counts["replayed"], derivation.counts["not_comparable"]) == (1, 0)


def test_the_verifier_refuses_what_differs(statement: dict[str, Any]) -> None:
    statement["predicate"]["outputs"][0]["logit_digests"][0] = "0" * 64
    with pytest.raises(Refusal) as caught:
        derive.derive(statement, Options(replay=True))
    assert (caught.value.code, caught.value.pointer) == ("REPLAY_DIFFERS", "/predicate/outputs")


def test_the_verifier_counts_what_is_not_comparable(statement: dict[str, Any]) -> None:
    settle(statement, "numpy", "0.0")
    derivation = derive.derive(statement, Options(replay=True))
    assert derivation.verdict == "DERIVED"
    assert (derivation.counts["replayed"], derivation.counts["not_comparable"]) == (0, 1)
    assert "NOT_COMPARABLE" in derivation.lines[-1]


@pytest.mark.parametrize(
    ("answer", "code", "pointer"),
    [
        ({"step": 5, "part": "logits"}, "REPLAY_DIFFERS", "/predicate/trajectory/steps/5/logits"),
        ({"step": 5, "part": "length"}, "REPLAY_DIFFERS", "/predicate/trajectory"),
    ],
)
def test_where_the_verifier_points(
    answer: dict[str, Any],
    code: str,
    pointer: str,
    statement: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told = {"outcome": "differs", "expected": "a", "got": "b", **answer}
    monkeypatch.setattr(replay_execution, "ask", lambda statement: told)
    with pytest.raises(Refusal) as caught:
        replay_execution.execute_again(statement)
    assert (caught.value.code, caught.value.pointer) == (code, pointer)


def test_the_verifier_says_what_it_could_not_repeat(
    statement: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replay_execution, "_START", "print('nothing')")
    assert replay_execution.execute_again(statement)[:2] == (0, 1)
    statement["predicate"]["model"]["recipe"] = None
    assert "no recipe" in replay_execution.execute_again(statement)[2]
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert "not installed" in replay_execution.execute_again(statement)[2]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("vocab_size", 257),
        ("stop_tokens", [0, 255]),
        ("max_positions", 4095),
        ("stored_dtype", "bfloat16"),
    ],
)
def test_what_is_said_of_the_model_is_compared(
    statement: dict[str, Any], name: str, value: object
) -> None:
    statement["predicate"]["model"][name] = value
    with pytest.raises(LockstepError) as caught:
        replay(statement["predicate"])
    assert caught.value.code == "SUBJECT_MISMATCH"
    assert caught.value.pointer == f"/predicate/model/{name}"


def recipe_of_another_model(predicate: dict[str, Any]) -> None:
    predicate["model"]["recipe"]["seed"] = 99


def probability_out_of_range(predicate: dict[str, Any]) -> None:
    predicate["workload"]["requests"][0]["sampling"]["top_p"] = "0"


@pytest.mark.parametrize("edit", [recipe_of_another_model, probability_out_of_range])
def test_what_the_engine_refuses_is_refused(
    statement: dict[str, Any], edit: Callable[[dict[str, Any]], None]
) -> None:
    edit(statement["predicate"])
    with pytest.raises(Refusal) as caught:
        replay_execution.execute_again(statement)
    assert (caught.value.code, caught.value.pointer) == ("REPLAY_DIFFERS", "/predicate")
