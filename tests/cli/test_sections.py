"""The help lists each command once, by the job that it is for."""

from __future__ import annotations

from collections import Counter

from typer.main import get_command

from lockstep.cli import application
from lockstep.cli.sections import SECTIONS


def test_every_command_stands_under_one_heading() -> None:
    listed = Counter(name for names in SECTIONS.values() for name in names)
    assert set(listed) == set(getattr(get_command(application()), "commands", {}))
    assert set(listed.values()) == {1}
