"""What `lockstep show` prints of each kind, from the committed certificates."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lockstep.certificate.statement import KINDS
from lockstep.cli import payload_tables
from lockstep.cli.evidence import certificates
from lockstep.evidence.index import at_pointer, kind_of, statement_of

EVIDENCE = Path(__file__).resolve().parents[2] / "evidence"
FILES = certificates(EVIDENCE)


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
            assert len(table.pointers) in (0, len(table.rows))
            for pointer in filter(None, table.pointers):
                at_pointer(statement, pointer)


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


def test_runs_that_do_not_hold_say_why(records: Any) -> None:
    records.change("MR3", 32, outcome="violated", differences=4, first=True)
    records.change("MR5", 8, outcome="not_run", reason="no time")
    folded = records.fold()
    stated = {"predicateType": "urn:lockstep:certificate:invariance:v1", "predicate": folded}
    tables = {table.title: table for table in payload_tables.describe(stated, True)}
    shown = {row[1:3]: (row[0], row[4]) for row in tables["runs"].rows}
    assert shown["MR3", "32"] == ("violated", "4 differ, first keys in an execution, position 3")
    assert shown["MR5", "8"] == ("not_run", "no time")
    assert shown["MR1", "8"] == ("holds", "")
    assert len(shown) == folded["counts"]["demanded"]
    assert ("PATH-EQ", "HOLDS", "5 of 5") in tables["claims"].rows
    assert tables["controls"].rows[0][:2] == ("fast", "shown")
    assert {len(row) for table in tables.values() for row in table.rows} <= {1, 2, 3, 5, 6}
    assert "runs" not in {table.title for table in payload_tables.describe(stated, False)}
