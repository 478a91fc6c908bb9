"""What `lockstep certify-faults` says of trials, and when it says that they are not so."""

from __future__ import annotations

import pytest

from lockstep.certify.trials import trials
from lockstep.claims.detection import rows
from lockstep.cli import certify_faults
from tests import detection_records as made


def test_a_trial_that_is_not_as_expected_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    every = {one.name: one for one in trials()}
    caught = made.record(every["refcount_leak"], "difference")
    blind = made.record(every["exp_cut_short"], None)
    assert certify_faults._conclude(rows([caught, blind]))
    assert "caught: 1 of 1 visible faults" in capsys.readouterr().out
    missed = {**caught, "shown": None}
    missed["certificate"] = made.certificate(every["refcount_leak"], "INCONCLUSIVE")
    told = rows([missed, blind])
    assert not certify_faults._conclude(told)
    out = capsys.readouterr().out
    assert "caught: 0 of 1 visible faults" in out
    assert "blind, as declared: exp_cut_short" in out
    assert "not as expected: refcount_leak" in out
    lines = {row["name"]: certify_faults.line(row) for row in told}
    assert lines["refcount_leak"].endswith("quiet, 5 s; NOT AS EXPECTED, caught")
    assert lines["exp_cut_short"] == "exp_cut_short: clean, 5 s"
