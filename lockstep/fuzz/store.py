"""The records of a campaign, kept so that it can be killed at any moment [FUZZ-10].

One SQLite file in WAL mode, one transaction a seed: a record is in it whole or not at all, and a
seed that has one is not run again.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from lockstep.errors import LockstepError

_TABLES = """
CREATE TABLE IF NOT EXISTS subject (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS records (
  population TEXT NOT NULL,
  seed INTEGER NOT NULL,
  record TEXT NOT NULL,
  PRIMARY KEY (population, seed)
) STRICT;
"""
_WAIT_SECONDS = 30.0
"""Time that another process gets to end its transaction."""


class Store:
    """The records of one campaign.

    Args:
        path: the file; made where there is none.
        subject: what the campaign runs on, by digest and name; a file of another is refused.

    Raises:
        LockstepError: NOT_COMPARABLE, the file's campaign is of another subject; FILE_UNREADABLE,
            it is no such file, or cannot be written.
    """

    def __init__(self, path: Path, subject: Mapping[str, str]) -> None:
        self._path = path
        try:
            self._database = sqlite3.connect(path, timeout=_WAIT_SECONDS, isolation_level=None)
            self._database.execute("PRAGMA journal_mode = WAL")
            self._database.execute("PRAGMA synchronous = FULL")
            self._database.executescript(_TABLES)
            self._require_subject(subject)
        except sqlite3.Error as fault:
            expected = "records of a campaign"
            raise LockstepError("FILE_UNREADABLE", str(path), expected, fault) from None

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._database.close()

    def records(self, population: str) -> dict[int, dict[str, Any]]:
        """Give the records of a population by seed, ascending."""
        rows = self._database.execute(
            "SELECT seed, record FROM records WHERE population = ? ORDER BY seed", (population,)
        )
        return {seed: json.loads(text) for seed, text in rows}

    def add(self, record: Mapping[str, Any]) -> None:
        """Keep a record, in a transaction of its own.

        Raises:
            LockstepError: REPLAY_DIFFERS, the seed has another record already; FILE_UNREADABLE,
                it cannot be written.
        """
        text = json.dumps(record, sort_keys=True, separators=(",", ":"))
        key = (record["population"], record["seed"])
        try:
            self._database.execute(
                "INSERT INTO records VALUES (?, ?, ?) ON CONFLICT DO NOTHING", (*key, text)
            )
            (kept,) = self._database.execute(
                "SELECT record FROM records WHERE population = ? AND seed = ?", key
            ).fetchone()
        except sqlite3.Error as fault:
            expected = "a file that can be written"
            raise LockstepError("FILE_UNREADABLE", str(self._path), expected, fault) from None
        if kept != text:
            where = f"{self._path}: {key[0]} {key[1]}"
            raise LockstepError("REPLAY_DIFFERS", where, kept[:200], text[:200])

    def _require_subject(self, subject: Mapping[str, str]) -> None:
        with self._database:
            self._database.execute("BEGIN IMMEDIATE")
            kept = dict(self._database.execute("SELECT name, value FROM subject"))
            if not kept:
                self._database.executemany(
                    "INSERT INTO subject VALUES (?, ?)", sorted(subject.items())
                )
                kept = dict(subject)
        for name, value in sorted(subject.items()):
            if kept.get(name) != value:
                hint = "Forget them with --fresh, or name another folder with --corpus."
                where = f"{self._path}: {name}"
                raise LockstepError("NOT_COMPARABLE", where, kept.get(name), value, hint)
