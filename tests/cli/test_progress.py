"""The progress bar: for a person on a terminal, and for nobody else."""

from __future__ import annotations

import io
import sys

import pytest

from lockstep.cli.progress import bar


class Screen(io.StringIO):
    """What is written to a terminal."""

    def isatty(self) -> bool:
        return True


def test_a_terminal_is_shown_how_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Screen()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    with bar("tokens", 7) as tell:
        tell(3)
        tell(7)
    assert "tokens" in screen.getvalue()
    assert "7/7" in screen.getvalue()


def test_nothing_is_written_elsewhere(capsys: pytest.CaptureFixture[str]) -> None:
    with bar("tokens", 7) as tell:
        tell(3)
    assert capsys.readouterr() == ("", "")


def test_faults_pass_through(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", Screen())
    with pytest.raises(KeyboardInterrupt), bar("tokens", 7):
        raise KeyboardInterrupt
