"""The Go implementation as tests run it: its toolchain and its command."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "conformance/go"


def toolchain() -> Path | None:
    """The `go` beside this interpreter (the dev extra's), else that of the path."""
    beside = Path(sys.executable).parent / "go"
    found = str(beside) if beside.exists() else shutil.which("go")
    return Path(found) if found else None


class Go:
    """A toolchain that leaves nothing outside one folder."""

    def __init__(self, command: Path, folder: Path) -> None:
        self.command = command
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "GOCACHE": str(folder / "cache"),
            "GOPATH": str(folder / "path"),
            "GOENV": "off",
            "GOTOOLCHAIN": "local",
            "GOTELEMETRY": "off",
            "GOPROXY": "off",
        }

    def run(self, *arguments: str) -> str:
        done = subprocess.run(
            [self.command, *arguments],
            cwd=SOURCE,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


def command_of(binary: Path) -> list[str]:
    """The command, with this checkout's specification."""
    return [str(binary), "--spec", str(ROOT / "spec")]
