"""The action for workflows and the hook for commits: what they install and what they run."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

CERTIFICATE = "exact-transformations.cert.json"
ROOT = Path(__file__).resolve().parent.parent


def call(folder: Path, certificates: str) -> subprocess.CompletedProcess[str]:
    values = {
        "SOURCE": str(ROOT),
        "CERTIFICATES": certificates,
        "TRUST": "trust.json",
        "EVIDENCE": "",
    }
    return subprocess.run(
        ["bash", ROOT / ".github" / "verify.sh"], cwd=folder, capture_output=True, text=True,
        env={**os.environ, **values}, check=False,
    )  # fmt: skip


def test_the_files_name_what_is_there() -> None:
    assert 'bash "$SOURCE/.github/verify.sh"' in (ROOT / "action.yml").read_text()
    assert "entry: lockstep-verify\n" in (ROOT / ".pre-commit-hooks.yaml").read_text()


@pytest.mark.slow
def test_certificates_are_verified_by_a_verifier_of_its_own(tmp_path: Path) -> None:
    shutil.copy(ROOT / "evidence" / "trust.json", tmp_path)
    shutil.copy(ROOT / "evidence" / CERTIFICATE, tmp_path)
    done = call(tmp_path, "*.cert.json")
    assert done.returncode == 0, done.stdout + done.stderr
    whole = (tmp_path / CERTIFICATE).read_bytes()
    (tmp_path / CERTIFICATE).write_bytes(whole.replace(b"a", b"b", 1))
    assert call(tmp_path, "*.cert.json").returncode not in (0, 2)
    assert call(tmp_path, "none*.json").returncode == 2
