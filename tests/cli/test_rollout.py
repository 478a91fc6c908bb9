"""`lockstep sampling experiments` and `rollout`, and the commands of docs/rollout.md."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import typer
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from lockstep import spec
from lockstep.certificate import keys
from lockstep.certificate.envelope import sign_statement
from lockstep.cli import sampling_experiments as command
from lockstep.cli.payload_tables import describe
from lockstep.errors import LockstepError
from lockstep.evidence.index import statement_of
from lockstep.issue_sampling_experiments import issue_sampling_experiments
from tests import experiments_records as records
from tests.distance_records import ladder, whole

DOCUMENT = Path(__file__).parents[2] / "docs" / "rollout.md"
KEY = Ed25519PrivateKey.from_private_bytes(bytes(32))
AT = "2026-11-30T00:00:00Z"


@pytest.fixture
def experiments(tmp_path: Path) -> Path:
    path = tmp_path / "experiments.cert.json"
    issued = issue_sampling_experiments(records.experiments(), [KEY], issued_at=AT, command="test")
    path.write_bytes(issued.certificate)
    return path


@pytest.fixture
def calibration(tmp_path: Path) -> Path:
    path = tmp_path / "calibration.cert.json"
    path.write_bytes(sign_statement(whole(ladder()), [KEY]))
    return path


def test_what_blocks_is_named(
    experiments: Path, calibration: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(typer.Exit) as left:
        command.rollout(experiments, calibration, None, None, None)
    assert left.value.exit_code == command.BLOCKED
    said = capsys.readouterr().out
    assert "holds   replay_differing: 0 replayed positions differ" in said
    assert "blocks  replay_positions_few: 20 positions replayed of 100000" in said
    assert "blocks  other_model: the model that is served is not named" in said
    assert "blocks  signers: no policy was given" in said
    assert "verdicts enforce nothing" in said


def test_certificates_are_derived_anew(experiments: Path, calibration: Path) -> None:
    statement = statement_of(experiments.read_bytes())
    statement["predicate"]["counts"]["replay_positions"] = 100_000
    experiments.write_bytes(sign_statement(statement, [KEY]))
    with pytest.raises(LockstepError) as caught:
        command.rollout(experiments, calibration, None, None, None)
    assert caught.value.code == "H10_COUNTS_DO_NOT_RECOMPUTE"
    with pytest.raises(LockstepError) as caught:
        command.rollout(calibration, experiments, None, None, None)
    assert caught.value.code == "PREDICATE_UNKNOWN"


def test_nothing_blocks_where_every_condition_holds(
    experiments: Path,
    calibration: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    real = "lockstep.cli.verified.verified"
    held = {"model": {"sha256": "ab" * 32}, "verdict": "separated"}
    seen = dict(records.statement()["predicate"])
    seen["counts"] = {**seen["counts"], "replay_positions": 100_000}

    def given(path: Path, trust: Path | None, kind: str) -> tuple[dict[str, Any], bool]:
        return (seen if "experiments" in kind else held), trust is not None

    monkeypatch.setattr(real, given)
    command.rollout(experiments, calibration, Path("trust.json"), 5, "ab" * 32)
    assert "no condition blocks" in capsys.readouterr().out
    with pytest.raises(typer.Exit):
        command.rollout(experiments, calibration, Path("trust.json"), 100_001, "ab" * 32)
    with pytest.raises(typer.Exit):
        command.rollout(experiments, calibration, Path("trust.json"), 5, "cd" * 32)
    assert "2 of 2 certificates are of another model than is served" in capsys.readouterr().out


def test_a_certificate_is_shown(experiments: Path) -> None:
    shown = describe(statement_of(experiments.read_bytes()), True)
    titles = [one.title for one in shown]
    assert titles[1:4] == ["experiments", "compared position by position", "distances"]


def test_experiments_are_signed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[Any] = []

    def observe(scratch: Path, progress: Callable[..., None], scale: Any) -> Any:
        asked.append(scale)
        return replace(records.experiments())

    monkeypatch.setattr("lockstep.sampling.experiments.observe", observe)
    keys.new_key_file(tmp_path / "key.pem")
    output = tmp_path / "out.cert.json"
    command.experiments(2, 32, 4, 3, output, tmp_path / "key.pem", AT)
    assert "shown: 9 of 9 shown" in capsys.readouterr().out
    assert asked == [(2, 32, 4, 3)]
    assert statement_of(output.read_bytes())["predicate"]["verdict"] == "shown"


def test_the_commands_of_the_document_are_those_that_there_are() -> None:
    text = DOCUMENT.read_text("utf-8")
    for name in spec.load("sampling-experiments.json")["rollout"]["conditions"]:
        assert f"`{name}`" in text
    told = re.findall(r"`?lockstep ([a-z]+)(?: ([a-z-]+))?((?: --[a-z-]+(?: [^\s`]+)?)*)", text)
    assert {(group, name) for group, name, _ in told} >= {
        ("sampling", "replay"), ("sampling", "distance"), ("sampling", "calibrate"),
        ("sampling", "rollout"),
    }  # fmt: skip
