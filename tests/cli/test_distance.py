"""`lockstep sampling distance`, `recompute`, `calibrate`: what they print, write and end with."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import typer
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from lockstep import spec
from lockstep.certificate.envelope import sign_statement
from lockstep.cli import distance as command
from lockstep.cli.payload_tables import describe
from lockstep.engine.opening import open_model
from lockstep.evidence.index import statement_of
from lockstep.issue import Issued
from lockstep.issue_distance import issue_distance_calibration
from lockstep.sampling import resolve
from lockstep.sampling.document import artifact_document
from lockstep.sampling.executor import execute
from lockstep.sampling.forced import Schedule, Text, forced
from lockstep.sampling.recast import blended
from tests.distance_records import ladder
from tests.refusals import refused
from tests.sampling.conftest import request_of
from tests.sampling.documents import request_document

PROMPT = [3, 1, 4]
TOKENS = 3


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model, sequences that it served, and their prompt."""
    scratch = tmp_path_factory.mktemp("distance")
    opened = open_model(blended(scratch / "model"))
    request = request_of(
        parameters=resolve("1", 8),
        max_tokens=TOKENS,
        vocab_size=256,
        model_sha256=opened.checkpoint.sha256,
        choices=1,
    )

    def after(tokens: list[int]) -> dict[int, float]:
        text = Text("x", tuple(PROMPT), (*tokens, 0))
        row = forced(opened.model, [text], Schedule("alone"))[0][-1]
        return dict(enumerate(row.astype(float).tolist()))

    one = {
        "request": request_document(request),
        "choice": 0,
        "artifact": artifact_document(execute(request, 0, after)),
    }
    (scratch / "sequences.json").write_text(json.dumps({"sequences": [one]}))
    (scratch / "prompts.json").write_text(json.dumps({request.origin.inference_id: PROMPT}))
    return scratch


def run(folder: Path, **options: Any) -> None:
    given: dict[str, Any] = {
        "against": None,
        "model": None,
        "prompts": None,
        "backend": "host",
        "dtype": None,
        "calibration": None,
        "trust": None,
        "enforce": False,
    }
    command.distance(folder / "sequences.json", **{**given, **options})


def test_nothing_is_enforced_unless_asked(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command.recompute(
        folder / "sequences.json",
        folder / "model",
        folder / "prompts.json",
        "host",
        None,
        folder / "recomputed.json",
    )
    assert capsys.readouterr().out == f"wrote {folder / 'recomputed.json'}: 1 sequences\n"
    run(folder, against=folder / "recomputed.json")
    said = capsys.readouterr().out
    assert said.splitlines() == [
        "calibration: none was given",
        "chain-abc choice 0: replay honest, distance not_decided: positions_few; "
        "3 positions measured",
        "  mae at 50 %: 0 nat",
        "  mae at 95 %: 0 nat",
        "  kl at 50 %: 0 nat",
        "  kl at 95 %: 0 nat",
        "  max at 50 %: 0 nat",
        "  max at 95 %: 0 nat",
        "  max at 100 %: 0 nat",
        "nothing is enforced",
    ]
    with pytest.raises(typer.Exit) as left:
        run(folder, against=folder / "recomputed.json", enforce=True)
    assert left.value.exit_code == 3
    assert "enforced: failed" in capsys.readouterr().out


def test_a_model_recomputes_in_passing(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(folder, model=folder / "model", prompts=folder / "prompts.json", backend="fast")
    assert "3 positions measured" in capsys.readouterr().out
    with pytest.raises(typer.BadParameter):
        run(folder)
    with pytest.raises(typer.BadParameter):
        run(folder, model=folder / "model")
    with pytest.raises(typer.BadParameter):
        run(folder, model=folder / "model", against=folder / "recomputed.json")


def written(folder: Path, **changes: Any) -> Path:
    """Write a calibration, signed, with members of another value."""
    signer = [Ed25519PrivateKey.generate()]
    issued = issue_distance_calibration(
        ladder(), 3, signer, issued_at="2026-11-29T12:00:00Z", command="test"
    )
    statement = statement_of(issued.certificate)
    statement["predicate"] |= changes
    path = folder / "calibration.cert.json"
    path.write_bytes(sign_statement(statement, signer))
    return path


def test_a_calibration_is_derived_anew_before_it_is_used(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = {"model": folder / "model", "prompts": folder / "prompts.json"}
    run(folder, **given, calibration=written(tmp_path))
    said = capsys.readouterr().out.splitlines()[0]
    assert said.endswith("separated, derived anew; its signer was not looked at")
    forged = written(tmp_path, verdict="overlapping")
    refused("OUTCOME_NOT_DERIVED", lambda: run(folder, **given, calibration=forged))


def test_calibrate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "made.cert.json"
    command.calibrate(None, None, None, None, 2, 2, 2, output, None, None)
    said = capsys.readouterr().out.splitlines()
    assert said[1].startswith("chunked: held; median mae 0 nat")
    assert said[-2].startswith("not_decided: ")
    assert said[-1].endswith("this key alone: OK")
    tables = {table.title: table for table in describe(statement_of(output.read_bytes()), True)}
    assert len(tables["rungs"].rows) == 10
    assert len(tables["where else the line could be"].rows) == 9
    assert dict(tables["counts"].rows)["positions"] == "4"
    with pytest.raises(typer.BadParameter):
        command.calibrate(None, None, None, None, 2, 2, 2, tmp_path, None, None)


def test_all_rungs_cannot_be_accepted(tmp_path: Path) -> None:
    output = tmp_path / "made.cert.json"
    refused(
        "USAGE",
        lambda: command.calibrate(None, None, None, 10, 2, 2, 1, output, None, None),
    )
    assert not output.exists()


def test_a_ladder_that_no_certificate_holds_is_not_signed(monkeypatch: pytest.MonkeyPatch) -> None:
    made, signer = ladder(), [Ed25519PrivateKey.generate()]
    data = dict(spec.load("distance-calibration.json"))

    def sign() -> Issued:
        return issue_distance_calibration(
            made, 3, signer, issued_at="2026-11-29T12:00:00Z", command="test"
        )

    counts = sign().predicate["counts"]
    pairs = counts["signed_tokens"] + counts["reference_tokens"]
    load = spec.load
    changed = "distance-calibration.json"
    monkeypatch.setattr(spec, "load", lambda name: data if name == changed else load(name))
    data["pairs_most"] = pairs
    sign()
    data["pairs_most"] = pairs - 1
    refused("LIMIT_SIZE", sign)
