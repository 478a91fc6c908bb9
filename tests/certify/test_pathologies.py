"""What endpoints do wrong gets its verdict, and a certificate that the verifier derives."""

from __future__ import annotations

import asyncio
import socket
from dataclasses import replace
from typing import Any, NamedTuple

import pytest

from lockstep.certificate.statement import certification_subjects, statement
from lockstep.certify import client, run
from lockstep.certify.config import Config
from lockstep.certify.results import Records
from lockstep.claims.certification import predicate
from lockstep.cli.certify_watch import Progress
from lockstep.errors import LockstepError
from tests import certification_records as made
from tests.certify import pathologies as does
from tests.certify.fake_endpoint import MODEL, Behaviour, FakeEndpoint
from tests.statements import judge

PLAN = {
    "cases": ["prefix_equal"],
    "cache": ["warm"],
    "filler": ["none"],
    "order": ["fixed"],
    "repeats": 4,
    "max_new": 4,
    "top": 2,
}


class Expected(NamedTuple):
    """What is to come out: the run's verdict, the first cell's, and what else there is to see."""

    verdict: str
    cell: str
    kinds: tuple[str, ...] = ()
    sequential: str = "shown"
    sensitivity: str = "shown"
    failure: str = ""
    limit: str = "black_box"


CLEAN = Expected("CLEAN", "clean")
EXPECTED: dict[type[Behaviour], Expected] = {
    Behaviour: CLEAN,
    does.Slow: CLEAN,
    does.OtherText: CLEAN,
    does.NoCachedTokens: CLEAN._replace(limit="cache_not_reported"),
    does.NoLogprobs: CLEAN._replace(limit="weak_observable"),
    does.FirstRunOnly: Expected("DIVERGENT", "first_run_only", ("tokens",)),
    does.OneInThree: Expected("DIVERGENT", "divergent", ("tokens",), "not_shown"),
    does.NeighbourDependent: Expected("DIVERGENT", "divergent", ("logprobs",)),
    does.LogprobsOnly: Expected("DIVERGENT", "divergent", ("logprobs",), "not_shown"),
    does.LogprobsNowAndThen: Expected("DIVERGENT", "divergent", ("shape",), "not_shown"),
    does.TextMoves: Expected("DIVERGENT", "divergent", ("tokens",), "not_shown"),
    does.OneLogprobShort: Expected("INCONCLUSIVE", "malformed", (), "not_run"),
    does.TooLong: Expected("INCONCLUSIVE", "malformed", (), "not_run"),
    does.NotANumber: Expected("INCONCLUSIVE", "malformed", (), "not_run"),
    does.Drops: Expected("INCONCLUSIVE", "error", (), "not_run", failure="dropped"),
    does.Truncates: Expected(
        "INCONCLUSIVE", "error", (), "not_run", "not_run", failure="before it had a finish_reason"
    ),
    does.NoChoice: Expected("INCONCLUSIVE", "error", (), "not_run", "not_run", failure="dropped"),
    does.TwoChoices: Expected("INCONCLUSIVE", "error", (), "not_run", "not_run", failure="dropped"),
    does.NoUtf8: Expected("INCONCLUSIVE", "error", (), "not_run", "not_run", failure="dropped"),
    does.Huge: Expected(
        "INCONCLUSIVE", "error", (), "not_run", "not_run", failure="stream of more than"
    ),
    does.Fails: Expected("INCONCLUSIVE", "error", (), "not_run", failure="http"),
    does.AnswersAsOther: Expected("INCONCLUSIVE", "error", (), "not_run", failure="model"),
    does.Redirects: Expected("INCONCLUSIVE", "error", (), "not_run", "not_run", failure="307"),
    does.GaugeLies: Expected("INCONCLUSIVE", "not_batched", (), "not_run"),
    does.GaugeBoasts: Expected("INCONCLUSIVE", "not_batched", (), "not_run"),
    does.GaugeFrozen: Expected("INCONCLUSIVE", "not_batched"),
    does.MetricsReset: Expected("INCONCLUSIVE", "not_batched", (), "not_run"),
    does.Canned: Expected("INCONCLUSIVE", "clean", sensitivity="not_shown"),
}
"""Failures of controls follow from a server that fails as often alone; where a failing server may
or may not answer the altered requests, the expectation leaves the control out."""
EITHER = {does.Drops, does.Fails, does.AnswersAsOther}


def certified(behaviour: Behaviour, **changes: Any) -> dict[str, Any]:
    """Certify a behaviour; gives the predicate, once the verifier has derived it."""
    with FakeEndpoint(behaviour) as fake:
        config = Config(
            endpoint=fake.url, controlled=True, adapter="vllm", model=MODEL, plan=PLAN, timeout=30
        )
        config = replace(config, **changes)
        seen = asyncio.run(run.observe(config, Records(None, ""), Progress(quiet=True)))
    folded = predicate(seen, issued_at=made.ISSUED_AT, producer=made.PRODUCER)
    derived = judge(statement("certification", certification_subjects(folded), folded))
    assert derived.verdict == folded["verdict"]
    return folded


def failures(folded: dict[str, Any]) -> str:
    told = [one for cell in folded["cells"] for seen in cell["rounds"] for one in seen["failures"]]
    return " ".join(f"{one['kind']} {one['status']} {one['detail']}" for one in told)


@pytest.mark.parametrize("behaviour", EXPECTED, ids=lambda one: one.__name__)
def test_it_gets_its_verdict(behaviour: type[Behaviour], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "CERTIFIED_LINE_BYTES", 1 << 18)
    expected = EXPECTED[behaviour]
    folded = certified(behaviour())
    controls = {one["name"]: one["status"] for one in folded["controls"]}
    first = folded["cells"][0]
    assert (folded["verdict"], first["verdict"]) == (expected.verdict, expected.cell)
    assert set(expected.kinds) <= set(first["kinds"])
    assert bool(first["kinds"]) == bool(expected.kinds)
    assert expected.limit in folded["limits"]
    assert expected.failure in failures(folded)
    if behaviour not in EITHER:
        assert controls["sequential"] == expected.sequential
        assert controls["sensitivity"] == expected.sensitivity


def test_a_neighbour_is_blamed_where_the_alone_agree() -> None:
    first = certified(does.NeighbourDependent())["cells"][0]["first"]
    assert (first["kind"], first["position"], first["scope"]) in {
        ("logprobs", 1, "alone"),
        ("logprobs", 1, "repeats"),
    }


def test_what_hangs_is_named() -> None:
    folded = certified(does.Hangs(), timeout=3.0)
    assert (folded["verdict"], folded["cells"][0]["verdict"]) == ("INCONCLUSIVE", "hang")
    assert "timeout" in failures(folded)


def test_a_cold_cache_that_is_warm_is_named() -> None:
    folded = certified(does.ColdIsWarm(), plan={**PLAN, "cache": ["cold"]})
    assert folded["cells"][0]["verdict"] == "not_cached"
    assert folded["verdict"] == "INCONCLUSIVE"


def test_a_model_that_is_not_the_recorded_one_is_named() -> None:
    folded = certified(does.OtherModel(), recorded={"model": MODEL})
    assert folded["verdict"] == "INCONCLUSIVE"
    assert "identity_not_read" in folded["limits"]
    model = next(one for one in folded["subject"]["identity"] if one["name"] == "model")
    assert (model["recorded"], model["observed"]) == (MODEL, None)


def test_a_server_that_answers_nothing_is_refused_before_the_plan() -> None:
    with pytest.raises(LockstepError) as caught:
        certified(does.FailsAlways())
    assert caught.value.code == "ENDPOINT_REFUSES"
    assert "http 500" in str(caught.value)


def test_a_server_that_is_not_there_is_down() -> None:
    # Bound, so that no other test gets the port, and not listening.
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        with pytest.raises(LockstepError) as caught:
            certified(Behaviour(), endpoint=f"http://127.0.0.1:{bound.getsockname()[1]}")
    assert caught.value.code == "ENDPOINT_DOWN"
