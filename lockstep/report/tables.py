"""Any certificate as tables: those that `lockstep show` prints, each row bound to its pointer."""

from __future__ import annotations

from collections.abc import Sequence

from lockstep.cli.payload_tables import describe
from lockstep.cli.tables import Table
from lockstep.limits import REPORT_TABLE_ROWS
from lockstep.report.figures import Judged, figure
from lockstep.report.markup import Content, Markup, element
from lockstep.report.parts import table


def draw(judged: Judged, rows: bool = True, without: Sequence[str] = ()) -> Markup:
    """Give a certificate's tables.

    Args:
        judged: the certificate.
        rows: whether the long lists are shown as well.
        without: titles of tables that are left out.
    """
    stated = describe(dict(judged.statement or {}), rows)
    return element("div", [_table(judged, one) for one in stated if one.title not in without])


def _table(judged: Judged, one: Table) -> Markup:
    """Give a table; of one that is long the first rows, and how many there are."""
    shown = one.rows[:REPORT_TABLE_ROWS]
    whole = table(one.title, one.columns, [_row(judged, one, n) for n in range(len(shown))])
    left = len(one.rows) - len(shown)
    if not left:
        return whole
    note = f"{left:,} more rows are in the certificate; lockstep show prints them."
    return element("div", whole, element("p", note, class_="hint"))


def _row(judged: Judged, one: Table, number: int) -> list[Content]:
    first, *rest = one.rows[number]
    pointer = one.pointers[number] if one.pointers else ""
    return [figure(judged, pointer, first) if pointer else first, *rest]
