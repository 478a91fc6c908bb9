"""A budget ends a run: what would not end in time is not begun, and what does not end is ended."""

from __future__ import annotations

import asyncio
import sys
import time
from typing import Any

import pytest

from lockstep.certificate.statement import certification_subjects, statement
from lockstep.certify import budget as module
from lockstep.certify import probe
from lockstep.certify.budget import Budget
from lockstep.certify.config import Command, Config
from lockstep.certify.results import Records
from lockstep.certify.run import observe
from lockstep.claims.certification import predicate
from lockstep.cli.certify_watch import Progress
from lockstep.errors import LockstepError
from tests import certification_records as made
from tests.certify.fake_endpoint import MODEL, Asked, Behaviour, FakeEndpoint
from tests.statements import judge

SECONDS = 5
"""Of a budget: enough for probing on a machine under load."""
MARGIN = 15.0
"""Seconds that a machine under load may take over a budget."""
PLAN = {"cases": ["prefix_equal"], "cache": ["warm"], "filler": ["none"], "order": ["fixed"]}


class HangsLater(Behaviour):
    """Answers each prompt once."""

    def hangs(self, asked: Asked) -> bool:
        """Whether this prompt was answered before, and is none of the probes'."""
        return asked.prompt != probe.PROBED and asked.seen > 0


class SlowLater(Behaviour):
    """Answers at once as long as it is probed, and then in a while."""

    def status(self, asked: Asked) -> int:
        """Take a while."""
        time.sleep(0 if asked.prompt == probe.PROBED else 0.6)
        return 200


def certified(behaviour: Behaviour) -> tuple[dict[str, Any], float, FakeEndpoint]:
    """Certify within a budget; gives the predicate, the seconds that it took, and the server."""
    with FakeEndpoint(behaviour) as fake:
        config = Config(
            endpoint=fake.url, controlled=True, adapter="vllm", model=MODEL, plan=PLAN,
            timeout=60, budget=SECONDS,
        )  # fmt: skip
        began = time.monotonic()
        seen = asyncio.run(observe(config, Records(None, ""), Progress(quiet=True)))
        took = time.monotonic() - began
        deadline = time.monotonic() + MARGIN
        while fake.state.running and time.monotonic() < deadline:
            time.sleep(0.01)
    folded = predicate(seen, issued_at=made.ISSUED_AT, producer=made.PRODUCER)
    judge(statement("certification", certification_subjects(folded), folded))
    return folded, took, fake


def test_a_round_in_flight_is_ended() -> None:
    folded, took, fake = certified(HangsLater())
    assert took < SECONDS + MARGIN
    lacking = [one for one in folded["cells"] if one["verdict"] == "not_run"]
    assert {one["reason"] for one in lacking} == {"budget"}
    assert folded["verdict"] == "INCONCLUSIVE"
    assert folded["counts"]["failures"] == 0, "what a budget ends is no failure of the server"
    assert fake.state.running == 0, "its requests were not cancelled"


def test_a_round_that_would_not_end_in_time_is_not_begun() -> None:
    folded, took, fake = certified(SlowLater())
    assert took < SECONDS + MARGIN
    reasons = {one["reason"] for one in folded["cells"]}
    assert "budget" in reasons and folded["verdict"] == "INCONCLUSIVE"
    assert fake.state.running == 0


def test_an_estimate_is_corrected_by_what_rounds_took(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr(module.time, "monotonic", lambda: now)
    told = Budget(10)
    assert told.left == 10 and told.allows(10) and not told.allows(10.1)
    told.learn(expected=1, took=2)
    assert told.allows(5) and not told.allows(5.1)
    told.learn(expected=0, took=100)
    assert told.allows(2.5) and not told.allows(2.6), "one slow round says little of others"
    now = 110.0
    assert told.left == 0 and not told.allows(0)
    assert Budget(None).allows(10**9) and Budget(None).left is None


def test_a_server_that_is_not_ready_in_time_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    launch = Command(f"{sys.executable} -c 'import time; time.sleep(60)' {{port}}")
    config = Config(launch=launch, adapter="vllm", model=MODEL, budget=1)
    began = time.monotonic()
    with pytest.raises(LockstepError) as refusal:
        asyncio.run(observe(config, Records(None, ""), Progress(quiet=True)))
    assert (refusal.value.code, refusal.value.pointer) == ("USAGE", "--budget")
    assert time.monotonic() - began < 1 + MARGIN
