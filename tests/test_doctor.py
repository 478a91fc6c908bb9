"""What is looked for, with tools present, absent and broken."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lockstep import cli, doctor
from lockstep.doctor import Finding, examine, told
from lockstep.errors import LockstepError

SEEN = {
    doctor.NUMPY: {"numpy": "2", "blas": "b", "blas_kernel": "k", "subnormals": "kept"},
    doctor.TORCH: {"devices": ["a GPU"]},
    doctor.LEAN: {"found": "Lean 4, from wheel"},
}


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> dict[str, dict[str, Any]]:
    """A machine that has everything; a test takes something away."""
    seen = {code: dict(answer) for code, answer in SEEN.items()}
    monkeypatch.setattr(doctor, "version_of", lambda name: "1.0")
    monkeypatch.setattr(doctor, "told", lambda code: seen[code])
    return seen


def named(findings: list[Finding]) -> dict[str, Finding]:
    return {finding.name: finding for finding in findings}


def without(monkeypatch: pytest.MonkeyPatch, *absent: str) -> dict[str, Finding]:
    monkeypatch.setattr(doctor, "version_of", lambda name: None if name in absent else "1.0")
    return named(examine())


def test_what_is_there_needs_no_remedy(machine: dict[str, dict[str, Any]]) -> None:
    findings = named(examine())
    assert findings["GPU"].found == "a GPU"
    assert {name for name, one in findings.items() if not one.ready} <= {"published weights", "Go"}
    for finding in findings.values():
        assert finding.purpose
        assert finding.ready == (finding.remedy == "")


@pytest.mark.parametrize(
    ("distribution", "names"),
    [
        ("numpy", {"NumPy"}),
        ("httpx", {"httpx"}),
        ("numba", {"numba"}),
        ("matplotlib", {"matplotlib"}),
        ("safetensors", {"safetensors"}),
        ("tokenizers", {"tokenizers"}),
        ("uvicorn", {"uvicorn"}),
        ("torch", {"torch", "Triton's interpreter", "GPU"}),
        ("triton", {"Triton's interpreter", "GPU"}),
        ("transformers", {"transformers"}),
        ("z3-solver", {"z3"}),
        ("cvc5", {"cvc5"}),
    ],
)
def test_what_is_absent_says_what_to_do(
    machine: dict[str, dict[str, Any]],
    monkeypatch: pytest.MonkeyPatch,
    distribution: str,
    names: set[str],
) -> None:
    findings = without(monkeypatch, distribution)
    missing = {name for name, one in findings.items() if not one.ready}
    assert missing - {"published weights", "Go"} == names
    assert all(findings[name].remedy for name in names)


def test_no_device_is_no_fault(machine: dict[str, dict[str, Any]]) -> None:
    machine[doctor.TORCH]["devices"] = []
    gpu = named(examine())["GPU"]
    assert not gpu.ready
    assert "none that torch 1.0 reaches" in gpu.found
    assert named(examine())["torch"].ready


def test_flushed_subnormals_are_told(machine: dict[str, dict[str, Any]]) -> None:
    machine[doctor.NUMPY]["subnormals"] = "flushed"
    assert not named(examine())["NumPy"].ready


def test_a_library_that_cannot_be_imported_is_one_finding(
    machine: dict[str, dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def breaks(code: str) -> dict[str, Any]:
        raise LockstepError("LIBRARY_MISSING", "", "one that works", "one that fails")

    monkeypatch.setattr(doctor, "told", breaks)
    findings = named(examine())
    assert not findings["NumPy"].ready
    assert not findings["torch"].ready
    assert not findings["Lean"].ready
    assert findings["z3"].ready


@pytest.mark.parametrize("name", ["NumPy", "torch", "Triton's interpreter", "Lean"])
def test_what_is_slow_need_not_be_installed(
    machine: dict[str, dict[str, Any]], monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(doctor, "DOCTOR_SECONDS", 0.2)
    monkeypatch.setattr(doctor, "told", lambda code: told("import time; time.sleep(60)"))
    found = named(examine())[name]
    assert not found.ready
    assert "again" in found.remedy
    assert not {"pip", "make"} & set(found.remedy.replace("`", " ").split())


@pytest.mark.parametrize("code", ["import no_such_module", "print('words')", "print('[1]')"])
def test_a_look_that_fails_is_told(code: str) -> None:
    with pytest.raises(LockstepError) as caught:
        told(code)
    assert caught.value.code == "LIBRARY_MISSING"


def test_a_look_that_hangs_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "DOCTOR_SECONDS", 0.2)
    with pytest.raises(LockstepError):
        told("import time; time.sleep(60)")


def test_go_that_is_absent_or_broken(
    machine: dict[str, dict[str, Any]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert named(examine())["Go"].found == "not on the path"
    (tmp_path / "go").write_text("#!/bin/sh\nexit 1\n", "utf-8")
    (tmp_path / "go").chmod(0o755)
    assert named(examine())["Go"].found == "there, and does not run"


def test_the_command_exits_with_0_and_its_json_is_read(
    machine: dict[str, dict[str, Any]],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(doctor, "version_of", lambda name: None)
    monkeypatch.setattr(sys, "argv", ["lockstep", "doctor", "--json"])
    assert cli.main() == 0
    told_ = json.loads(capsys.readouterr().out)
    assert told_["findings"] == [finding.document() for finding in examine()]
    monkeypatch.setattr(sys, "argv", ["lockstep", "doctor"])
    assert cli.main() == 0
    out = capsys.readouterr().out
    assert "not ready" in out
    assert "published weights" in out


def test_this_machine_has_what_the_tests_run_on() -> None:
    # Not through the fixture: the looks themselves, as they are.
    assert told(doctor.NUMPY)["subnormals"] == "kept"
    version = subprocess.run([sys.executable, "--version"], capture_output=True, check=True)
    assert doctor._python()[0].found.split()[0] in version.stdout.decode()
