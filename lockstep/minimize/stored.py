"""Failing cases out of the records of a campaign [FUZZ-9]."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any, NamedTuple

from lockstep.errors import LockstepError
from lockstep.fuzz.case import Case
from lockstep.fuzz.lineage import Lineage, case_of


class Stored(NamedTuple):
    """A case, where it came from in words, and the mutation that it was run under."""

    case: Case
    source: str
    mutation: str | None


def failing_case(path: Path, chosen: str | None = None) -> Stored:
    """Give the case of a seed that failed.

    Args:
        path: a campaign's store.
        chosen: POPULATION:SEED; None for the first that failed, populations in alphabetical order.

    Raises:
        LockstepError: FILE_UNREADABLE, it is no store; BAD_VALUE, no such seed, or none that
            failed.
    """
    records, subject = _read(path)
    failed = sorted(key for key, record in records.items() if record["failure"] is not None)
    if chosen is not None:
        failed = [key for key in failed if f"{key[0]}:{key[1]}" == chosen]
    if not failed:
        expected = chosen or "a seed whose case failed"
        raise LockstepError("BAD_VALUE", str(path), expected, f"none of {len(records)} records")
    population, seed = failed[0]
    seeds = [seed]
    while (before := records[population, seeds[0]]["parent"]) is not None:
        seeds.insert(0, before)
    case = case_of(Lineage(population, tuple(seeds)))
    if case.sha256 != records[population, seed]["case_sha256"]:
        got = "another case; its sources are other ones"
        where = f"{path}: {population} {seed}"
        expected = records[population, seed]["case_sha256"]
        raise LockstepError("NOT_COMPARABLE", where, expected, got)
    mutation = subject.get("mutation", "none")
    told = f"population {population}, seed {seed}"
    return Stored(case, told, None if mutation == "none" else mutation)


def _read(path: Path) -> tuple[dict[tuple[str, int], dict[str, Any]], dict[str, str]]:
    try:
        database = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)
        try:
            rows = database.execute("SELECT population, seed, record FROM records").fetchall()
            subject = dict(database.execute("SELECT name, value FROM subject").fetchall())
        finally:
            database.close()
    except sqlite3.Error as fault:
        expected = "records of a campaign"
        raise LockstepError("FILE_UNREADABLE", str(path), expected, str(fault)) from None
    return {(name, seed): json.loads(text) for name, seed, text in rows}, subject
