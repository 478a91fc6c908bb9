"""Which declared layouts were observed, by the committed certificates: a table for people."""

from __future__ import annotations

import re
from pathlib import Path

from lockstep.evidence.index import statement_of

HEAD = "| layout | written by | verdict | certificate |\n|---|---|---|---|\n"
TABLE = re.compile(re.escape(HEAD) + r"(\|.*\n)*")
TOLD = {"MATCHES": "as declared", "DIFFERS": "otherwise", "NOT_REPRESENTABLE": "other buffers"}


def observed_table(folder: Path) -> str:
    """Give the table of the observations in a folder of certificates.

    A layout stands in it once for each observation; one that is not in it is cited alone.
    """
    rows = []
    for path in sorted(folder.glob("layout-observation*.cert.json")):
        predicate = statement_of(path.read_bytes())["predicate"]
        engine = f"{predicate['engine']['name']} {predicate['engine']['version']}"
        for declared, one in zip(predicate["layouts"], predicate["observations"], strict=True):
            kinds = ", ".join(run["dtype"] for run in one["runs"])
            told = f"{TOLD[one['verdict']]} ({kinds})"
            rows.append(f"| `{declared['name']}` | {engine} | {told} | `{path.name}` |\n")
    return HEAD + "".join(rows)


def with_table(text: str, table: str) -> str:
    """Give a text with the table in the place of the one that it has.

    Raises:
        ValueError: it has none.
    """
    if TABLE.search(text) is None:
        raise ValueError("the text has no table of observed layouts")
    return TABLE.sub(lambda _: table, text, count=1)
