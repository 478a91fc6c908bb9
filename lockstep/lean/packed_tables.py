"""Tables of numbers as lean/Lockstep/Reflect.lean reads them: rows of digits to a power of ten.

A row is one numeral, its entries apart by `_`, so that people read the entries and the kernel
reads the row at once.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby

_COLUMNS = 96
"""The columns that a row may fill, ` ::` apart."""
_TABLE_ENTRIES = 2048
"""The most entries of one table, which is one number to the kernel: each entry costs a division
of that number, each table a step on the way to those behind it."""
_PADDING = -1

Row = tuple[int, int, tuple[int, ...]]
"""Filled places, all places, and the entries of the filled ones."""


def segments(entries: Sequence[int], indentation: str) -> str:
    """Give a term of type `List Segment`; an entry of -1 is padding.

    Equal rows of filled places and padding are one segment, however long the padding.
    """
    parts = _segments(entries, indentation)
    return "".join(f"{indentation}{part} ::\n" for part in parts) + f"{indentation}[]"


def _segments(entries: Sequence[int], indentation: str) -> Iterator[str]:
    for (filled, pitch), group in groupby(_rows(entries), key=lambda row: row[:2]):
        rows = [row[2] for row in group]
        if filled == 0:
            yield from (f".padding {pitch}" for _ in rows)
            continue
        most = _TABLE_ENTRIES // filled
        for start in range(0, len(rows), most):
            held = [entry for row in rows[start : start + most] for entry in row]
            count = len(held) // filled
            yield f".rows {count} {filled} {pitch} {_table(held, indentation)}"


def _rows(entries: Sequence[int]) -> Iterator[Row]:
    """Cut the entries into runs of filled places, each with the padding that follows it."""
    runs = [tuple(run) for _, run in groupby(entries, key=lambda entry: entry == _PADDING)]
    if runs[0][0] == _PADDING:
        yield 0, len(runs[0]), ()
        del runs[0]
    for number in range(0, len(runs), 2):
        held = runs[number]
        padding = len(runs[number + 1]) if number + 1 < len(runs) else 0
        while len(held) > _TABLE_ENTRIES:
            yield _TABLE_ENTRIES, _TABLE_ENTRIES, held[:_TABLE_ENTRIES]
            held = held[_TABLE_ENTRIES:]
        yield len(held), len(held) + padding, held


def _table(entries: Sequence[int], indentation: str) -> str:
    """Give a term of type `Table`; the first row is shorter where the entries do not fill it."""
    # Lean reads no numeral that begins with `0_`.
    digits = max(2, len(str(max(entries))))
    width = (_COLUMNS - len(indentation)) // (digits + 1)
    stops = range(len(entries) % width or width, len(entries) + 1, width)
    rows = [
        "_".join(f"{entry:0{digits}}" for entry in entries[max(0, stop - width) : stop])
        for stop in stops
    ]
    listed = "".join(f"{indentation}  {row} ::\n" for row in rows)
    return f"⟨{10**digits}, {width}, {len(entries)},\n{listed}{indentation}  []⟩"
