"""Tables: drawn on a terminal, plain aligned columns where output goes to a file or a program."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Table:
    """A titled table of text; each row has as many cells as there are columns.

    `pointers` has for each row where in the statement stands what it shows, empty where that is no
    one place; it is empty as a whole where no row has one.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    pointers: tuple[str, ...] = ()


def printable(text: str) -> str:
    """Escape everything outside printable ASCII, so that no document writes to a terminal."""
    return "".join(c if " " <= c <= "~" else f"\\u{{{ord(c):x}}}" for c in text)


def visible(text: str) -> str:
    """Show by its number what cannot be seen or turns the direction of writing, but for line ends.

    Letters of every script stay as they are, unlike in `printable`.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(c if c.isprintable() or c == "\n" else f"\\u{{{ord(c):x}}}" for c in text)


def show_table(table: Table) -> None:
    """Print a table on standard output, each cell escaped; under `--json` keep it as it is."""
    from lockstep.cli import json_output

    if json_output.took(table):
        return
    rows = [[printable(cell) for cell in row] for row in table.rows]
    if sys.stdout.isatty():
        _draw(table, rows)
    else:
        print(f"\n{table.title}")
        for line in _aligned([list(table.columns), *rows]) if rows else ():
            print(line)


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  "
        + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]


def _draw(table: Table, rows: Sequence[Sequence[str]]) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table as Drawn
    from rich.text import Text

    drawn = Drawn(title=table.title, title_justify="left", box=box.SIMPLE_HEAD)
    for column in table.columns:
        drawn.add_column(column, overflow="fold")
    for row in rows:
        # Text, not str: square brackets of a document are no markup.
        drawn.add_row(*map(Text, row))
    Console().print(drawn)
