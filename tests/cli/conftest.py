"""A way to run commands as people do, in a folder of one's own."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from lockstep.cli import main


@pytest.fixture
def lockstep(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Callable[..., str]:
    """Run a command in a folder of its own, demand its exit status, and give what it printed."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str, exit: int = 0) -> str:
        monkeypatch.setattr(sys, "argv", ["lockstep", *arguments])
        status = main()
        printed = capsys.readouterr()
        assert status == exit, printed.out + printed.err
        return printed.out + printed.err

    return run
