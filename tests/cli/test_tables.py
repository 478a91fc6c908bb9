"""Tables on a terminal and off it; what a document holds is text in both."""

import pytest

from lockstep.cli import tables

HOSTILE = tables.Table("rows", ("a", "b"), (("\x1b[2J", "[red]x[/red]"), ("yy", "")))


def test_off_a_terminal_columns_are_plain_and_aligned(capsys: pytest.CaptureFixture[str]) -> None:
    tables.show_table(HOSTILE)
    out = capsys.readouterr().out
    assert out == "\nrows\n  a          b\n  \\u{1b}[2J  [red]x[/red]\n  yy\n"


def test_on_a_terminal_cells_are_neither_escapes_nor_markup(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("TERM", "dumb")
    tables.show_table(HOSTILE)
    out = capsys.readouterr().out
    assert "\\u{1b}[2J" in out
    assert "[red]x[/red]" in out
    assert "\x1b[2J" not in out


def test_a_table_may_be_empty(capsys: pytest.CaptureFixture[str]) -> None:
    tables.show_table(tables.Table("none", ("a",), ()))
    assert capsys.readouterr().out == "\nnone\n"
