"""The file of a run: a record a line as it comes, so that an interrupted run goes on.

A line is `{"record": R, "sha256": D}`, D the SHA-256 of the LCJ of `{"after": E, "record": R}`, E
being that of the line before. So a line that was edited, removed or moved is not taken for what
was seen, and one that was cut off is not taken for a whole one. The first record says what was
asked and by which plan; outputs stand in the record of the round that had them first.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Container, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from lockstep.certificate import lcj
from lockstep.certify.observation import CellSeen, Output, Round, parse_output, parse_round
from lockstep.errors import LockstepError
from lockstep.limits import CERTIFIED_RECORDS_BYTES

_HINT = "Run with --fresh, or remove the file: it is then begun anew."
Key = tuple[int, int, int]
"""Of a round: place of the cell, lifetime, number."""


class Records:
    """The rounds of a run, in memory and, where there is a path, in a file.

    Args:
        path: the file; None to keep nothing.
        asked: digest of what the user asks; a file of anything else is refused.
        fresh: whether to begin anew whatever there is.

    Attributes:
        plan: of the run that the file is of; None for a new one.

    Raises:
        LockstepError: FILE_UNREADABLE, LIMIT_SIZE, MALFORMED_JSON, RECORD_ALTERED; USAGE, the
            file is of another run.
    """

    def __init__(self, path: Path | None, asked: str, fresh: bool = False) -> None:
        self._path = path
        self._asked = asked
        self._places: dict[Output, int] = {}
        self._new: list[Output] = []
        self.rounds: dict[Key, Round] = {}
        self.plan: dict[str, Any] | None = None
        self._last = ""
        if path is None or not path.exists():
            return
        records = [] if fresh else self._read(path)
        if not records or records[-1]["kind"] == "end":
            path.unlink()
            self.rounds, self._places, self.plan, self._last = {}, {}, None, ""

    def begin(self, plan: Mapping[str, Any]) -> None:
        """Note the plan, unless the file has it."""
        if self.plan is None:
            self.plan = dict(plan)
            self._write({"kind": "begin", "asked": self._asked, "plan": dict(plan)})

    def place(self, output: Output) -> int:
        """Give the place of an output among all of this run."""
        if output not in self._places:
            self._places[output] = len(self._places)
            self._new.append(output)
        return self._places[output]

    def add(self, cell: int, one: Round) -> None:
        """Keep a round, with the outputs that it had first."""
        self.rounds[cell, one.lifetime, one.number] = one
        new = [output.document() for output in self._new]
        self._new.clear()
        self._write({"kind": "round", "cell": cell, "new": new, "round": one.document()})

    def forget_lifetimes(self, first: int, cells: Container[int]) -> None:
        """Drop rounds of lifetimes from this one on: the server that they were of is gone.

        They stay in the file, and are passed over by what is written now in their stead.
        """
        for key in [key for key in self.rounds if key[0] in cells and key[1] >= first]:
            del self.rounds[key]

    def end(self) -> None:
        """Note that the run is over; the next one begins anew."""
        self._write({"kind": "end"})

    def seen(self, reasons: Mapping[int, str]) -> tuple[tuple[CellSeen, ...], tuple[Output, ...]]:
        """Give cells, those of the user's prompts last, and outputs.

        Outputs are in the order of first use [CERT-9], and what rounds say of places follows it.

        Args:
            reasons: by the place of each cell, why rounds of it are lacking; else empty.
        """
        outputs, order = list(self._places), dict[int, int]()
        rounds: dict[int, list[Round]] = {}
        for key in sorted(self.rounds):
            one = self.rounds[key]
            placed = tuple(
                None if at is None else order.setdefault(at, len(order)) for at in one.outputs
            )
            rounds.setdefault(key[0], []).append(replace(one, outputs=placed))
        cells = (CellSeen(tuple(rounds.get(at, ())), why) for at, why in reasons.items())
        return tuple(cells), tuple(outputs[at] for at in order)

    def _write(self, record: dict[str, Any]) -> None:
        if self._path is None:
            return
        self._last = _digest(self._last, record)
        line = lcj.encode({"record": record, "sha256": self._last}) + b"\n"
        with open(self._path, "ab") as file:
            file.write(line)
            file.flush()
            os.fsync(file.fileno())

    def _read(self, path: Path) -> list[dict[str, Any]]:
        try:
            data = path.read_bytes()
        except OSError as fault:
            raise LockstepError("FILE_UNREADABLE", str(path), "a file", fault.strerror) from None
        if len(data) > CERTIFIED_RECORDS_BYTES:
            expected = f"at most {CERTIFIED_RECORDS_BYTES} bytes"
            raise LockstepError("LIMIT_SIZE", str(path), expected, len(data), _HINT)
        *lines, rest = data.split(b"\n")
        records = [self._record(line, f"{path}, line {at}") for at, line in enumerate(lines, 1)]
        if rest:
            # The last line was cut off; its round is made anew, and the file ends before it.
            os.truncate(path, len(data) - len(rest))
        if records and records[-1].get("kind") == "end":
            # Of a run that is over, whatever it asked: the next one begins anew.
            return records
        for at, record in enumerate(records, 1):
            self._take(record, f"{path}, line {at}")
        return records

    def _record(self, line: bytes, source: str) -> dict[str, Any]:
        try:
            entry = json.loads(line)
            told = entry["record"]
            record: dict[str, Any] = told if isinstance(told, dict) else {}
            digest = _digest(self._last, record)
        except (ValueError, KeyError, TypeError, RecursionError, LockstepError):
            raise LockstepError("MALFORMED_JSON", source, "one record", hint=_HINT) from None
        if digest != entry.get("sha256"):
            raise LockstepError("RECORD_ALTERED", source, entry.get("sha256"), digest, _HINT)
        self._last = digest
        return record

    def _take(self, record: dict[str, Any], source: str) -> None:
        try:
            if record["kind"] == "begin":
                self.plan = record["plan"]
                if record["asked"] != self._asked:
                    told = "records of a run that asked for something else, or served it otherwise"
                    raise LockstepError("USAGE", source, "records of this run", told, _HINT)
            elif record["kind"] == "round":
                for document in record["new"]:
                    self.place(parse_output(document))
                self._new.clear()
                one = parse_round(record["round"])
                self.rounds[record["cell"], one.lifetime, one.number] = one
        except (KeyError, TypeError, AttributeError):
            raise LockstepError("MALFORMED_JSON", source, "one record", hint=_HINT) from None


def _digest(after: str, record: object) -> str:
    return hashlib.sha256(lcj.encode({"after": after, "record": record})).hexdigest()
