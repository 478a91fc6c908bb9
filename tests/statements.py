"""What tests of re-derivation share: a statement judged whole, and edits of its members."""

from __future__ import annotations

from typing import Any

import pytest

from lockstep_verify import derive
from lockstep_verify.derive import Options
from lockstep_verify.errors import Refusal
from lockstep_verify.statement import check_statement, check_subjects


def judge(statement: dict[str, Any], **options: Any) -> derive.Derivation:
    """Judge a statement's form, and derive it."""
    check_statement(statement)
    check_subjects(statement, None)
    return derive.derive(statement, Options(**options))


def refusal(statement: dict[str, Any], **options: Any) -> tuple[str, str]:
    """Give code and pointer with which a statement is refused."""
    with pytest.raises(Refusal) as caught:
        judge(statement, **options)
    return caught.value.code, caught.value.pointer


def get(statement: dict[str, Any], pointer: str) -> Any:
    """Give what a pointer leads to."""
    target: Any = statement
    for step in pointer.split("/")[1:]:
        target = target[int(step) if isinstance(target, list) else step]
    return target


def put(statement: dict[str, Any], pointer: str, value: object) -> None:
    """Put another value where a pointer leads to."""
    way, _, last = pointer.rpartition("/")
    target = get(statement, way)
    target[int(last) if isinstance(target, list) else last] = value
