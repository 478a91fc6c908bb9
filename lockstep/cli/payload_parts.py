"""What the tables of payloads are made of."""

from collections.abc import Iterable, Sequence
from typing import Any

from lockstep.cli.tables import Table

SHOWN_DIGITS = 16
"""Hex digits of a digest that a table shows; the certificate has all of them."""


def environment_rows(environment: dict[str, Any]) -> list[tuple[str, str]]:
    """Give the settings that bind, and what was asked for."""
    resolved = [one for one in environment["resolved"] if one["binds"]]
    return [
        ("requested", ", ".join(map(_setting, environment["requested"]))),
        ("bound to", ", ".join(map(_setting, resolved))),
    ]


def _setting(one: dict[str, Any]) -> str:
    digest = one["name"].endswith("_sha256")
    return f"{one['name']} {one['value'][:SHOWN_DIGITS] if digest else one['value']}"


def listed(value: Any) -> str:
    """Give a list as words, anything else as it is written."""
    return ", ".join(value) if isinstance(value, list) else str(value)


def about(*rows: tuple[Any, ...]) -> Table:
    """Give the table of what a certificate is about: what, value, and a pointer if there is one."""
    pointers = [row[2] if len(row) > 2 else "" for row in rows]
    return table("certificate", ("what", "value"), [row[:2] for row in rows], pointers)


def counts_table(predicate: dict[str, Any]) -> Table:
    """Give the table of a predicate's counts."""
    counts = [(name, listed(value)) for name, value in predicate["counts"].items()]
    pointers = [f"/predicate/counts/{name}" for name in predicate["counts"]]
    return table("counts", ("count", "value"), counts, pointers)


def table(
    title: str,
    columns: tuple[str, ...],
    rows: Iterable[Sequence[Any]],
    at: str | Iterable[str] = (),
) -> Table:
    """Give a table, whatever its cells are.

    Args:
        title: of the table.
        columns: their heads.
        rows: one cell a column.
        at: the pointer of each row; or that of the list whose entries the rows are, all of them and
            in order.
    """
    written = tuple(tuple(str(cell) for cell in row) for row in rows)
    if isinstance(at, str):
        at = [f"{at}/{number}" for number in range(len(written))]
    return Table(title, columns, written, tuple(at))
