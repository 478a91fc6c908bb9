"""Certificates made on a GPU: names, keys, figures; and what happens where there is none.

No test has a device. The command's way through is run with the host's backend in its place, over
makers that fold made-up records.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from lockstep import cli
from lockstep.certificate import lcj
from lockstep.certificate.envelope import sign_statement
from lockstep.certificate.keys import sole_policy
from lockstep.certificate.statement import model_subjects, statement
from lockstep.cli import gpu_evidence
from lockstep.engine import device
from lockstep.errors import LockstepError
from lockstep.evidence import gpu
from lockstep.evidence.index import faults, markdown
from lockstep.evidence.make import MAKERS
from lockstep.evidence.making import Making

SPAN = ("2026-01-01T00:00:00Z", "2036-01-01T00:00:00Z")
LABEL = "nvidia-h200-00112233"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of evidence with a policy, an empty index, and no certificate."""
    made = tmp_path / "evidence"
    made.mkdir()
    key = Ed25519PrivateKey.generate()
    policy = sole_policy(key.public_key(), "evidence", "lockstep", SPAN)
    (made / "trust.json").write_bytes(lcj.encode(policy))
    (made / "index.json").write_bytes(lcj.encode({"version": 1, "figures": {}}))
    return made


@pytest.fixture
def run(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[[], tuple[int, str, str]]:
    def go() -> tuple[int, str, str]:
        command = ["lockstep", "gpu-evidence", "--folder", str(folder)]
        monkeypatch.setattr(sys, "argv", command)
        status = cli.main()
        return status, *capsys.readouterr()

    return go


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_name_says_device_and_environment() -> None:
    label = gpu.label("NVIDIA H200", "00112233" + "f" * 56)
    assert label == LABEL
    assert gpu.file_name("invariance", label) == f"invariance-gpu-{LABEL}.cert.json"
    assert gpu.label("NVIDIA H200", "4" * 64) != label
    assert gpu.label("***", "0" * 64) == "device-00000000"


def test_every_kind_of_the_engine_that_is_made_is_made_there_too() -> None:
    engine = {name.removesuffix(".cert.json") for name in MAKERS} & set(gpu.KINDS)
    assert set(gpu.makers()) == engine
    assert "invariance" in engine


@pytest.mark.parametrize("code", ["DEVICE_MISSING", "LIBRARY_MISSING"])
def test_without_a_device_nothing_is_made(
    run: Callable[[], tuple[int, str, str]],
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    code: str,
) -> None:
    def none() -> str:
        raise LockstepError(code, "GPU", "a GPU", "none")

    monkeypatch.setattr(device, "require_device", none)
    before = contents(folder)
    status, out, err = run()
    assert status == 2
    assert "not run here" in out
    assert code in err
    assert contents(folder) == before


def test_a_folder_that_holds_no_evidence_is_refused(
    run: Callable[[], tuple[int, str, str]], folder: Path
) -> None:
    shutil.rmtree(folder)
    status, _, err = run()
    assert status == 2
    assert "USAGE" in err


@pytest.fixture
def at_hand(monkeypatch: pytest.MonkeyPatch, records: Any) -> Any:
    """A device in name, and one maker that signs made-up records on it."""
    monkeypatch.setattr(device, "require_device", lambda: "NVIDIA H200")
    monkeypatch.setattr(gpu_evidence, "_binding_sha256", lambda: "00112233" + "0" * 56)

    def make(making: Making) -> bytes:
        assert (making.backend, making.jobs) == ("triton", 1)
        folded = records.fold()
        stated = statement("invariance", model_subjects("invariance", folded), folded)
        return sign_statement(stated, [making.key])

    made = {"invariance.cert.json": ("running", make)}
    monkeypatch.setattr("lockstep.evidence.make.MAKERS", made)
    monkeypatch.setattr(gpu, "MAKERS", made)
    return records


def test_what_is_made_is_verified_trusted_and_indexed(
    run: Callable[[], tuple[int, str, str]], folder: Path, at_hand: Any
) -> None:
    for version in (2, 3):
        status, out, err = run()
        assert status == 0, err
        assert "running, on NVIDIA H200" in out
        policy = json.loads((folder / "trust.json").read_bytes())
        assert [entry["name"] for entry in policy["keys"]] == ["evidence", f"gpu-{LABEL}"]
        assert policy["version"] == version
    index = json.loads((folder / "index.json").read_bytes())
    held = index["figures"][f"gpu-{LABEL}-relations-held"]
    assert held == {
        "file": f"invariance-gpu-{LABEL}.cert.json",
        "pointer": "/predicate/counts/holds",
        "value": 80,
    }
    assert faults(folder, markdown(index)) == []


def test_a_certificate_that_is_refused_changes_nothing(
    run: Callable[[], tuple[int, str, str]], folder: Path, at_hand: Any
) -> None:
    before = contents(folder)
    fold = at_hand.fold
    at_hand.fold = lambda: {**fold(), "verdict": "VIOLATED"}
    status, _, err = run()
    assert status == 3
    assert "OUTCOME_NOT_DERIVED" in err
    assert contents(folder) == before
