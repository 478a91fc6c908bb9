"""Statements of relations between executions, to be broken and judged: for `conftest.py`."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from lockstep.certificate.statement import model_subjects, statement
from lockstep_verify import derive
from lockstep_verify.derive import Options
from lockstep_verify.errors import Refusal
from lockstep_verify.statement import check_statement, check_subjects

COVERAGE = "COVERAGE_DENOMINATOR_NOT_DERIVED"
OUTCOME = "OUTCOME_NOT_DERIVED"
H10 = "H10_COUNTS_DO_NOT_RECOMPUTE"
BAD = "BAD_VALUE"
CONTRADICT = "COUNTERS_CONTRADICT"
HEX = "0" * 64


def fold(records: Any) -> dict[str, Any]:
    """Give the statement of records, no part of it shared with anything."""
    folded = records.fold()
    found: dict[str, Any] = pickle.loads(
        pickle.dumps(statement("invariance", model_subjects("invariance", folded), folded))
    )
    return found


def judge(stated: dict[str, Any], shape: bool = True) -> derive.Derivation:
    """Derive a statement; without its shape it is a matter of milliseconds."""
    if shape:
        check_statement(stated)
        check_subjects(stated, None)
    return derive.derive(stated, Options())


def refusal(stated: dict[str, Any], shape: bool = False) -> tuple[str, str]:
    """Give code and pointer of the refusal of a statement."""
    with pytest.raises(Refusal) as caught:
        judge(stated, shape)
    return caught.value.code, caught.value.pointer


def put(document: Any, pointer: str, value: Any) -> None:
    """Put a value where a pointer points."""
    *way, last = pointer.split("/")[1:]
    for step in way:
        document = document[int(step) if isinstance(document, list) else step]
    document[int(last) if isinstance(document, list) else last] = value
