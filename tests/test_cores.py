"""Cores are counted on every system."""

from __future__ import annotations

import os

import pytest

from lockstep.cores import cores


def test_cores_are_those_that_the_process_may_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {3, 5, 7}, raising=False)
    assert cores() == 3


@pytest.mark.parametrize(("told", "count"), [(6, 6), (None, 1)])
def test_a_system_that_does_not_tell_them_has_all(
    told: int | None, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: told)
    assert cores() == count
