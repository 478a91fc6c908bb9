"""A fuzzing campaign: many mutants of one certificate, judged by verifiers side by side."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lockstep import limits
from lockstep.certificate.lcj import encode
from lockstep.errors import LockstepError
from lockstep.falsify.forge import Forge
from lockstep.fuzz_verify.fields import Field, Place, fields
from lockstep.fuzz_verify.mutants import BYTES, Mutant, Source
from lockstep.fuzz_verify.operators import operators_of
from lockstep.fuzz_verify.oracle import judge, supplies
from lockstep.fuzz_verify.process import Answer, Verifier

Cell = tuple[str, str, str]
"""Class, field path and operator."""
Report = Callable[[int, int], None]


@dataclass(frozen=True)
class Failure:
    """A mutant whose answer was wrong; it is one mutation away from a verified certificate."""

    mutant: Mutant
    answer: Answer
    wrong: str


@dataclass
class Tally:
    """What a campaign counted.

    Attributes:
        outcomes: mutants by class of field, operator and code.
        cells: those that had a mutant.
        derived: places of derived leaves that were mutated themselves.
        slowest: the longest answer in seconds.
        failures: the first of them.
        failed: how many there were.
    """

    outcomes: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    cells: set[Cell] = field(default_factory=set)
    derived: set[Place] = field(default_factory=set)
    slowest: float = 0.0
    failures: list[Failure] = field(default_factory=list)
    failed: int = 0

    def add(self, mutant: Mutant, answer: Answer, outcome: str, wrong: str | None) -> None:
        """Count one mutant."""
        self.outcomes[mutant.kind, mutant.operator, outcome] += 1
        self.slowest = max(self.slowest, answer.seconds)
        if mutant.kind != BYTES:
            self.cells.add((mutant.kind, mutant.path, mutant.operator))
            if mutant.kind == "derived":
                self.derived.add(mutant.place)
        if wrong is not None:
            self.failed += 1
            if len(self.failures) < limits.FUZZ_FAILURES:
                self.failures.append(Failure(mutant, answer, wrong))

    def merge(self, other: "Tally") -> None:
        """Take another tally in."""
        self.outcomes += other.outcomes
        self.cells |= other.cells
        self.derived |= other.derived
        self.slowest = max(self.slowest, other.slowest)
        self.failures = (self.failures + other.failures)[: limits.FUZZ_FAILURES]
        self.failed += other.failed


@dataclass(frozen=True)
class Outcome:
    """A campaign's tally beside its denominators.

    Attributes:
        mutants: how many were judged.
        seed: which ones.
        tally: what was counted.
        cells_of_schema: every cell, enumerated from the schema and the operators.
        cells_of_document: those for which the document holds a value.
        derived_leaves: leaves of the document whose class is derived.
    """

    mutants: int
    seed: int
    tally: Tally
    cells_of_schema: frozenset[Cell]
    cells_of_document: frozenset[Cell]
    derived_leaves: frozenset[Place]

    @property
    def derived_leaves_hit(self) -> int:
        """How many derived leaves were mutated themselves."""
        return len(self.derived_leaves & self.tally.derived)


def run(
    forge: Forge,
    evidence: dict[str, bytes],
    mutants: int,
    seed: int,
    jobs: int = 1,
    report: Report = lambda done, whole: None,
    against: Sequence[str] = (),
) -> Outcome:
    """Judge mutants 0 to `mutants` − 1 of a statement.

    Args:
        forge: the statement, whole and true, and the keys.
        evidence: the files that it binds by their paths, supplied with `oracle.supplies`; empty
            for none.
        mutants: how many.
        seed: of all of them; the same seed and statement give the same mutants.
        jobs: verifier processes.
        report: told how many are done.
        against: the command of a second verifier that speaks the protocol; what it answers
            otherwise than the first is a failure. Empty for none.

    Raises:
        LockstepError: H9_GUARD_FAILED_OPEN, the verifier refuses the parent itself.
    """
    source = Source(forge, seed)
    policy = encode(_policy(forge))
    # Computed once, before threads share them.
    known, leaves = source.cells, source.leaves
    done = [0] * jobs

    def work(job: int) -> Tally:
        tally = Tally()
        with ExitStack() as stack:
            verifier = stack.enter_context(Verifier(policy, forge.issued_at))
            second = None
            if against:
                second = stack.enter_context(Verifier(policy, forge.issued_at, against, False))
            parent = verifier.judge(source.parent, evidence or None)
            if parent.code != "OK":
                hint = f"The parent is refused at {parent.pointer or 'the document'}."
                raise LockstepError("H9_GUARD_FAILED_OPEN", "", "OK", parent.code, hint)
            for number in range(job, mutants, jobs):
                mutant = source.mutant(number)
                supplied = evidence if evidence and supplies(mutant) else None
                answer = verifier.judge(mutant.certificate, supplied)
                outcome, wrong = judge(mutant, answer, parent, source.kind, bool(evidence))
                if second is not None and wrong is None:
                    wrong = _differing(answer, second.judge(mutant.certificate, supplied))
                tally.add(mutant, answer, outcome, wrong)
                done[job] += 1
                if job == 0:
                    report(sum(done), mutants)
        return tally

    whole = Tally()
    with ThreadPoolExecutor(jobs) as pool:
        for tally in pool.map(work, range(jobs)):
            whole.merge(tally)
    whole.failures.sort(key=lambda failure: failure.mutant.number)
    derived = frozenset(leaf.place for leaf in leaves if leaf.field.kind == "derived")
    cells = [(entry, name) for entry in fields(source.schema) for name in operators_of(entry)]
    return Outcome(mutants, seed, whole, _cells(cells), _cells(known), derived)


def _policy(forge: Forge) -> dict[str, Any]:
    """Give a policy that admits the statement's kind."""
    policy = forge.policy()
    rule, wanted = policy["rules"][0], forge.statement["predicateType"]
    others = [one for one in policy["rules"] if one["predicateType"] != wanted]
    return {**policy, "rules": [{**rule, "predicateType": wanted}, *others]}


def _differing(one: Answer, other: Answer) -> str | None:
    """Say what a second verifier answers otherwise, if it does."""
    answers = [(a.code, a.pointer, a.verdict, a.counts) for a in (one, other)]
    if answers[0] == answers[1]:
        return None
    return (
        f"{one.code} at {one.pointer!r}, and the second verifier {other.code} at {other.pointer!r}"
    )


def _cells(found: Iterable[tuple[Field, str]]) -> frozenset[Cell]:
    return frozenset((entry.kind, entry.path, operator) for entry, operator in found)


def lines(outcome: Outcome) -> Iterator[str]:
    """Sum a campaign up for people."""
    tally = outcome.tally
    yield f"{outcome.mutants:,} mutants from seed {outcome.seed}: {tally.failed} failures"
    yield (
        f"cells (class × field × operator) with a mutant: {len(tally.cells):,} of "
        f"{len(outcome.cells_of_document):,} that the certificate has values for, "
        f"{len(outcome.cells_of_schema):,} in the schema"
    )
    leaves = len(outcome.derived_leaves)
    yield f"derived leaves mutated: {outcome.derived_leaves_hit:,} of {leaves:,}"
    yield f"slowest answer: {tally.slowest:.2f} s"
    codes: Counter[tuple[str, str]] = Counter()
    for (kind, _, code), count in tally.outcomes.items():
        codes[kind, code] += count
    for (kind, code), count in sorted(codes.items()):
        yield f"  {kind:<9} {code:<34} {count:,}"


def as_json(outcome: Outcome) -> dict[str, Any]:
    """Give a campaign's numbers as a value for a file."""
    tally = outcome.tally
    return {
        "mutants": outcome.mutants,
        "seed": outcome.seed,
        "failed": tally.failed,
        "cells": {
            "hit": len(tally.cells),
            "document": len(outcome.cells_of_document),
            "schema": len(outcome.cells_of_schema),
            "missed": [list(cell) for cell in sorted(outcome.cells_of_schema - tally.cells)],
        },
        "derived_leaves": {"hit": outcome.derived_leaves_hit, "all": len(outcome.derived_leaves)},
        "slowest_seconds": f"{tally.slowest:.3f}",
        "outcomes": [
            {"class": kind, "operator": operator, "code": code, "count": count}
            for (kind, operator, code), count in sorted(tally.outcomes.items())
        ],
    }


def write(outcome: Outcome, folder: Path) -> None:
    """Write a campaign's numbers, and each kept failure with its certificate, below a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "summary.json").write_text(json.dumps(as_json(outcome), indent=1) + "\n", "utf-8")
    for failure in outcome.tally.failures:
        mutant, name = failure.mutant, f"failure-{failure.mutant.number}"
        told = {
            "number": mutant.number,
            "seed": outcome.seed,
            "pointer": mutant.where,
            "operator": mutant.operator,
            "class": mutant.kind,
            "changed": sorted(mutant.changed),
            "before": mutant.before,
            "after": mutant.after,
            "code": failure.answer.code,
            "wrong": failure.wrong,
        }
        (folder / f"{name}.json").write_text(json.dumps(told, indent=1) + "\n", "utf-8")
        (folder / f"{name}.cert.json").write_bytes(mutant.certificate)
