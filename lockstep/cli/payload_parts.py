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


def about(*rows: tuple[str, Any]) -> Table:
    """Give the table of what a certificate is about."""
    return table("certificate", ("what", "value"), rows)


def counts_table(predicate: dict[str, Any]) -> Table:
    """Give the table of a predicate's counts."""
    counts = [(name, listed(value)) for name, value in predicate["counts"].items()]
    return table("counts", ("count", "value"), counts)


def table(title: str, columns: tuple[str, ...], rows: Iterable[Sequence[Any]]) -> Table:
    """Give a table, whatever its cells are."""
    return Table(title, columns, tuple(tuple(str(cell) for cell in row) for row in rows))
