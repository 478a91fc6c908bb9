"""Configurations that were tested, each once; several at a time where there are workers [FIND-9].

A search asks for candidates in an order of its own and takes the first that reproduces. Workers
look ahead in this order, so that neither what is taken nor what is counted depends on them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from lockstep.certificate.write import write_file
from lockstep.errors import LockstepError
from lockstep.fuzz.case import Case
from lockstep.limits import DOCUMENT_BYTES


class Outcome(NamedTuple):
    """What testing a case gave.

    Attributes:
        name: of spec/finding.json: `illegal`, `passes`, `fails_otherwise` or `reproduces`.
        code: of the refusal of an illegal case, and of a failure of another kind its kind.
    """

    name: str
    code: str = ""

    @property
    def reproduces(self) -> bool:
        """Whether the case shows the failure."""
        return self.name == "reproduces"


Test = Callable[[Sequence[Case]], Sequence[Outcome]]
"""Tests legal cases, each with the same outcome whenever it is tested."""


class Memo:
    """The memo of a search.

    Args:
        refusal: gives the code by which a case is illegal, which is never tested; empty for one
            that is legal.
        test: tests legal cases.
        ahead: how many are tested at a time.
        known: outcomes by digest, of an earlier search for the same failure.

    Attributes:
        checks: cases that the search had tested; those looked ahead at in vain, and
            those known before, are none.
        refused: cases that the search came to and that are illegal.
    """

    def __init__(
        self,
        refusal: Callable[[Case], str],
        test: Test,
        ahead: int = 1,
        known: dict[str, Outcome] | None = None,
    ) -> None:
        self.checks = 0
        self.refused = 0
        self._test_legal = test
        self._refusal = refusal
        self._ahead = ahead
        self._outcomes: dict[str, Outcome] = dict(known or {})
        self._asked: set[str] = set(self._outcomes)

    @property
    def outcomes(self) -> dict[str, Outcome]:
        """The outcomes so far, by digest."""
        return dict(self._outcomes)

    def outcome(self, case: Case) -> Outcome:
        """Give the outcome of a case, testing it where it is not known."""
        self._look(case)
        self._test([case])
        return self._ask(case)

    def first(self, candidates: Iterable[Case]) -> Case | None:
        """Give the first candidate that reproduces; None where none does."""
        rest = iter(candidates)
        while batch := list(islice(rest, self._ahead)):
            self._test(batch)
            for case in batch:
                if self._ask(case).reproduces:
                    return case
        return None

    def all(self, cases: Sequence[Case]) -> Iterator[tuple[Case, Outcome]]:
        """Give the outcome of each case, in order."""
        for begin in range(0, len(cases), self._ahead):
            batch = cases[begin : begin + self._ahead]
            self._test(batch)
            for case in batch:
                yield case, self._ask(case)

    def _look(self, case: Case) -> None:
        """Find out whether a case is illegal."""
        if case.sha256 not in self._outcomes and (code := self._refusal(case)):
            self._outcomes[case.sha256] = Outcome("illegal", code)

    def _test(self, cases: Sequence[Case]) -> None:
        for case in cases:
            self._look(case)
        new = {c.sha256: c for c in cases if c.sha256 not in self._outcomes}
        if new:
            found = self._test_legal(tuple(new.values()))
            self._outcomes.update(zip(new, found, strict=True))

    def _ask(self, case: Case) -> Outcome:
        outcome = self._outcomes[case.sha256]
        if case.sha256 not in self._asked:
            self._asked.add(case.sha256)
            self.refused += outcome.name == "illegal"
            self.checks += outcome.name != "illegal"
        return outcome


def read_outcomes(path: Path, subject: str) -> dict[str, Outcome]:
    """Read the outcomes that `write_outcomes` kept; none where there is no file.

    Args:
        path: of the file.
        subject: what they were found for; those of another subject are left.

    Raises:
        LockstepError: BAD_VALUE, a file of another form.
    """
    if not path.exists():
        return {}
    try:
        if path.stat().st_size > DOCUMENT_BYTES:
            raise ValueError("too large")
        kept = json.loads(path.read_bytes())
        rows = kept["outcomes"] if kept["subject"] == subject else {}
        return {digest: Outcome(*map(str, row)) for digest, row in rows.items()}
    except (ValueError, KeyError, TypeError, AttributeError) as fault:
        raise LockstepError("BAD_VALUE", str(path), "outcomes by digest", repr(fault)) from None


def write_outcomes(path: Path, subject: str, outcomes: dict[str, Outcome]) -> None:
    """Keep outcomes for another search; the file is written whole or not at all."""
    kept = {"subject": subject, "outcomes": {name: list(one) for name, one in outcomes.items()}}
    write_file(path, json.dumps(kept, sort_keys=True).encode("ascii"))
