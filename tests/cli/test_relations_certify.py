"""`lockstep relations --certificate`: what was recorded is signed, and what was not run is said."""

from __future__ import annotations

import base64
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lockstep import cli
from lockstep.certificate.keys import new_key_file
from lockstep.relations.results import read_observations, write_observations

COMMAND = ("relations", "--block-sizes", "8", "--relations", "NEVER-FITS", "--jobs", "1")


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    def go(*options: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["lockstep", *COMMAND, "--out", str(tmp_path), *options])
        status = cli.main()
        return status, *capsys.readouterr()

    return go


def statement(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(base64.b64decode(json.loads(path.read_bytes())["payload"]))
    return found


def test_a_certificate_of_few_runs_verifies_and_is_unproven(run: Any, tmp_path: Path) -> None:
    key, output = tmp_path / "key.pem", tmp_path / "it.cert.json"
    new_key_file(key)
    status, out, err = run("--no-controls", "--certificate", str(output), "--key", str(key))
    assert (status, err) == (0, "")
    assert "UNPROVEN: 1 of 80 combinations" in out
    assert "trusts this key alone: OK" in out
    predicate = statement(output)["predicate"]
    assert predicate["model"]["recipe"] == {
        "seed": 0, "head_dim": 16, "dtype": "float32", "tied": False,
    }  # fmt: skip
    assert predicate["counts"]["holds"] == 1
    assert {control["outcome"] for control in predicate["controls"]} == {"not_run"}


def test_a_key_is_asked_for_before_anything_runs(run: Any, tmp_path: Path) -> None:
    status, _, err = run("--certificate", str(tmp_path / "c"), "--key", str(tmp_path / "none"))
    assert status == 2
    assert "USAGE" in err
    assert not (tmp_path / "runs.jsonl").exists()


def test_records_of_other_sources_are_made_anew_and_not_signed(run: Any, tmp_path: Path) -> None:
    key, output, results = tmp_path / "key.pem", tmp_path / "it.cert.json", tmp_path / "runs.jsonl"
    new_key_file(key)
    assert run("--no-controls")[0] == 0
    (made,) = read_observations(results)
    subject = replace(made.subject, sources_sha256="0" * 64)
    write_observations(results, [replace(made, subject=subject, positions=7)])
    assert run("--no-controls", "--certificate", str(output), "--key", str(key))[0] == 0
    (signed,) = [run_ for run_ in statement(output)["predicate"]["runs"] if run_["positions"]]
    assert signed["positions"] == made.positions
