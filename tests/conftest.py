"""What all tests share: one Hypothesis profile, and a word on what a run left out."""

from __future__ import annotations

import importlib.util
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

# Same examples on every machine and in every run; no deadline, since machines differ.
settings.register_profile(
    "repeatable",
    derandomize=True,
    deadline=None,
    database=None,
    max_examples=50,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("repeatable")

LEFT_OUT = pytest.StashKey[Counter[str]]()


def pytest_configure(config: pytest.Config) -> None:
    config.stash[LEFT_OUT] = Counter()


def pytest_deselected(items: Sequence[pytest.Item]) -> None:
    for item in items:
        if item.get_closest_marker("slow"):
            item.config.stash[LEFT_OUT][item.location[0]] += 1


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Hand what a worker process left out to the one that reports."""
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output["left_out"] = dict(session.config.stash[LEFT_OUT])


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take over what a worker left out; each of them collects, and leaves out, the same."""
    left_out = getattr(node, "workeroutput", {}).get("left_out")
    if left_out is not None:
        node.config.stash[LEFT_OUT] = Counter(left_out)


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    left_out = config.stash[LEFT_OUT]
    if left_out:
        terminalreporter.section("left out: tests marked slow (make test-all runs them)")
        for path, count in sorted(left_out.items()):
            terminalreporter.write_line(f"{path}: {count}")


@pytest.fixture
def records() -> Any:
    """Records of relations that all hold, and what folds them: `invariance_records.py`."""
    path = Path(__file__).with_name("invariance_records.py")
    found = importlib.util.spec_from_file_location(path.stem, path)
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module.Records()
