"""A fresh machine: the README's two commands in a clone, and the base install under each Python."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent


def call(name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = ["bash", FOLDER / name, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_a_python_that_is_not_there_is_no_success() -> None:
    done = call("base.sh", "2.0")
    assert done.returncode == 1
    assert done.stdout == "Python 2.0: not present\n"
    assert done.stderr == "base install: no Python is present\n"


@pytest.mark.slow
def test_the_base_install_verifies_the_evidence_under_each_python() -> None:
    done = call("base.sh")
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"(?m)^[1-3] passed, 0 failed, [0-2] not present$", done.stdout)


@pytest.mark.slow
def test_the_readmes_commands_run_in_a_fresh_clone_and_nothing_is_left() -> None:
    done = call("clone.sh")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "=== make test: " in done.stdout
    assert done.stdout.splitlines()[-1].endswith("nothing left behind but results/")
