"""What `lockstep show` prints of each kind, from the committed certificates."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lockstep.certificate.statement import KINDS
from lockstep.cli import payload_tables
from lockstep.evidence.index import kind_of, statement_of

EVIDENCE = Path(__file__).resolve().parents[2] / "evidence"
FILES = sorted(EVIDENCE.glob("*.cert.json"))


def test_each_kind_that_is_made_can_be_shown() -> None:
    assert set(payload_tables._KINDS) == set(KINDS)
    assert {kind_of(file.read_bytes()) for file in FILES} == set(KINDS)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_counts_are_shown_as_they_stand(file: Path) -> None:
    statement = statement_of(file.read_bytes())
    for rows in (True, False):
        tables = {table.title: table for table in payload_tables.describe(statement, rows)}
        shown: dict[str, Any] = dict(tables["counts"].rows)  # type: ignore[arg-type]
        assert set(shown) == set(statement["predicate"]["counts"])
        assert tables["certificate"].rows[0] == ("kind", statement["predicateType"])
        for table in tables.values():
            assert {len(row) for row in table.rows} == {len(table.columns)}


def test_long_lists_are_shown_on_demand() -> None:
    statement = statement_of((EVIDENCE / "lean.cert.json").read_bytes())
    tables = {table.title: table for table in payload_tables.describe(statement, True)}
    assert len(tables["theorems"].rows) == statement["predicate"]["counts"]["theorems"]
    without = {table.title for table in payload_tables.describe(statement, False)}
    assert "theorems" not in without


def test_what_was_not_seen_is_said() -> None:
    statement = statement_of((EVIDENCE / "lean.cert.json").read_bytes())
    seen = statement["predicate"]["observations"]
    seen |= {"kernel_accepted": None, "gates_passed": False, "official_toolchain_agrees": True}
    tables = {table.title: table for table in payload_tables.describe(statement, False)}
    assert dict(tables["observations"].rows) == {
        "kernel_accepted": "not made",
        "gates_passed": "false",
        "official_toolchain_agrees": "true",
    }


def test_a_kind_that_nobody_knows_has_no_tables() -> None:
    statement = statement_of(FILES[0].read_bytes())
    statement["predicateType"] = "urn:lockstep:certificate:unheard-of:v1"
    with pytest.raises(KeyError):
        payload_tables.describe(statement, True)
