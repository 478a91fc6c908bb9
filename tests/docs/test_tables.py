"""The README's tables are those of the spec and of the code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from lockstep import spec
from lockstep.certificate.statement import KINDS, predicate_type
from lockstep.cli import STATUSES
from lockstep.cli.certify_result import DOWN
from lockstep.evidence.index import statement_of
from tests.docs.documents import ROOT, command_line, rows
from tools.reference import members

README = (ROOT / "README.md").read_text("utf-8")


def quoted(cell: str) -> list[str]:
    """Give a cell's places of a certificate; commands and options are none."""
    return [text for text in re.findall(r"`([^`]+)`", cell) if " " not in text]


def test_each_kind_has_a_row() -> None:
    assert sorted(row[0].strip("`") for row in rows(README, "kind")) == sorted(KINDS)


@pytest.mark.parametrize("row", rows(README, "kind"), ids=lambda row: row[0])
def test_what_a_row_names_is_of_its_columns_class(row: list[str]) -> None:
    kind, _, derived, attested = (row[0].strip("`"), *row[1:])
    classes = {place.removeprefix("/"): sort for place, sort in members(kind)}
    for cell, due in ((derived, "derived"), (attested, "attested")):
        assert quoted(cell), cell
        assert {place: classes.get(place) for place in quoted(cell)} == dict.fromkeys(
            quoted(cell), due
        )


@pytest.mark.parametrize("row", rows(README, "kind"), ids=lambda row: row[0])
def test_what_a_row_names_makes_the_kind(row: list[str]) -> None:
    command = command_line()
    for word in row[1].strip("`").split()[1:]:
        command = command.commands[word]


def test_kinds_with_evidence_are_of_the_table() -> None:
    found = {
        statement_of(path.read_bytes())["predicateType"]
        for path in (ROOT / "evidence").rglob("*.cert.json")
    }
    assert found <= {predicate_type(row[0].strip("`")) for row in rows(README, "kind")}


def test_exit_codes_are_those_of_the_registry_and_of_the_code() -> None:
    table = {int(row[0]): row[1:] for row in rows(README, "exit")}
    registry = {int(code): says for code, says in spec.load("errors.json")["exit"].items()}
    assert set(table) == set(registry)
    verifier = {exit for exit, (said, _) in table.items() if said}
    assert verifier == {code for code, says in registry.items() if "(lockstep " not in says}
    producer = {exit for exit, (_, said) in table.items() if said}
    thrown = {0, *STATUSES.values(), DOWN}
    thrown |= {one["exit"] for one in spec.load("certification.json")["exits"]}
    for path in (ROOT / "lockstep" / "cli").glob("*.py"):
        text = path.read_text("utf-8")
        thrown |= {int(number) for number in re.findall(r"typer\.Exit\((\d+)\)", text)}
    assert producer == thrown


def test_links_lead_somewhere() -> None:
    for document in (ROOT / "README.md", *(ROOT / "docs").rglob("*.md")):
        text = re.sub(r"(?ms)^```.*?^```", "", document.read_text("utf-8"))
        for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text):
            if "://" not in target:
                assert Path(document.parent, target).exists(), f"{document}: {target}"
