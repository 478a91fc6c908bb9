"""`lockstep sampling`: what it prints, signs and gives as its exit status."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import typer

from lockstep.certificate import keys
from lockstep.cli import sampling as command
from lockstep.cli.payload_tables import describe
from lockstep.evidence.index import statement_of
from lockstep.sampling import derive_seed
from lockstep.sampling.document import Artifact, artifact_document
from lockstep.sampling.executor import execute
from lockstep.sampling.perplexity import perplexity
from lockstep.sampling.seed import Origin, upstream_position_seed, upstream_seed
from tests.refusals import refused
from tests.sampling.conftest import logprobs_after, request_of
from tests.sampling.documents import request_document

REQUEST = request_of(vocab_size=300, max_tokens=3, choices=1)
HONEST = execute(REQUEST, 0, logprobs_after(300))
FORGED = replace(
    HONEST, positions=(HONEST.positions[0]._replace(token="299"), *HONEST.positions[1:])
)


def written(folder: Path, artifact: Artifact) -> Path:
    one = {
        "request": request_document(REQUEST),
        "choice": 0,
        "artifact": artifact_document(artifact),
    }
    path = folder / "sequences.json"
    path.write_text(json.dumps({"sequences": [one]}))
    return path


def test_seed(capsys: pytest.CaptureFixture[str]) -> None:
    command.seed(-7, "chain-abc", "ab" * 32, 1, 3, command.V1)
    command.seed(-7, "chain-abc", "", 0, 3, command.UPSTREAM)
    assert capsys.readouterr().out.splitlines() == [
        derive_seed(Origin(-7, "chain-abc", "ab" * 32), 1, 3),
        upstream_position_seed(upstream_seed(-7, "chain-abc"), 3),
    ]
    for beacon, choice in (("ab" * 32, 0), ("", 1)):
        with pytest.raises(typer.BadParameter):
            command.seed(-7, "chain-abc", beacon, choice, 3, command.UPSTREAM)
    with pytest.raises(typer.BadParameter):
        command.seed(-7, "chain-abc", "", 0, 0, "sampling/v2")


def test_an_executors_names_write_to_no_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path, HONEST)
    document = json.loads(path.read_text())
    document["sequences"][0]["artifact"]["\x1b[2J\nhonest"] = 1
    path.write_text(json.dumps(document))
    with pytest.raises(typer.Exit):
        command.replay(path, None, 1)
    out = capsys.readouterr().out
    assert "\\u{1b}[2J\\u{a}honest" in out
    assert "\x1b" not in out


def test_weights(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "support.json"
    path.write_text('{"2": "0", "10": "0", "9": "0"}')
    command.weights(path, "1", None, None, None, "reference_seed_v1", command.V1)
    command.weights(path, "1.0", None, None, None, None, command.UPSTREAM)
    weights, token, others = capsys.readouterr().out.splitlines()
    assert json.loads(weights) == {"10": 21846, "2": 21845, "9": 21845}
    assert token == "10"
    assert json.loads(others) == {"10": 21845, "2": 21845, "9": 21846}
    refused("BAD_VALUE", lambda: command.weights(path, "1.0", None, None, None, None, command.V1))


def test_replay(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command.replay(written(tmp_path, HONEST), False, 1)
    said = capsys.readouterr().out
    command.replay(written(tmp_path, HONEST), None, 1)
    assert capsys.readouterr().out == said.replace(
        "judged one by one, in decimal arithmetic", "judged in batches, by the exact path"
    )
    assert "honest: 3 of 3 positions covered" in said
    logprobs = [float(dict(one.support or ())[one.token]) for one in HONEST.positions]
    assert f"signed: {perplexity(logprobs):.6g} (telemetry)" in said
    with pytest.raises(typer.Exit) as left:
        command.replay(written(tmp_path, FORGED), True, 1)
    assert left.value.exit_code == 3
    said = capsys.readouterr().out
    assert "chain-abc choice 0: fraud: token_differs at position 0" in said
    assert "fraud: 3 of 3 positions covered, 1 with another token, 0 invalid" in said


@pytest.mark.parametrize(("artifact", "verdict"), [(HONEST, "honest"), (FORGED, "fraud")])
def test_sign(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], artifact: Artifact, verdict: str
) -> None:
    keys.new_key_file(tmp_path / "key.pem")
    output = tmp_path / "sampling.cert.json"
    command.sign(written(tmp_path, artifact), output, tmp_path / "key.pem", None)
    assert "trusts this key alone: OK" in capsys.readouterr().out
    statement = statement_of(output.read_bytes())
    assert statement["predicate"]["verdict"] == verdict
    assert [one["name"] for one in statement["subject"]] == ["spec", "requests"]
    shown = describe(statement, True)
    assert [one.title for one in shown] == ["certificate", "sequences", "positions", "counts"]
    # A certificate holds sequences, too; what it says of them is derived anew.
    if verdict == "honest":
        command.replay(output, None, 1)
        assert "honest: 3 of 3" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("code", "document"),
    [
        (
            "PREDICATE_UNKNOWN",
            {"predicateType": "urn:lockstep:certificate:hunt:v1", "predicate": {}},
        ),
        ("BASE64_NONCANONICAL", {"payload": "*"}),
        ("WRONG_TYPE", {"sequences": 7}),
    ],
)
def test_other_files(tmp_path: Path, code: str, document: dict[str, Any]) -> None:
    path = tmp_path / "other.json"
    path.write_text(json.dumps(document))
    refused(code, lambda: command.replay(path, None, 1))
