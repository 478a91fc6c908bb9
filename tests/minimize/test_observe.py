"""Findings under operators, reduced on the engine."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from lockstep import limits
from lockstep.certificate.statement import finding_subjects, statement
from lockstep.claims.finding import predicate
from lockstep.errors import LockstepError
from lockstep.fuzz.case import Case
from lockstep.fuzz.lineage import Lineage, case_of
from lockstep.lifecycle import Pool
from lockstep.minimize import benchmark, wedge
from lockstep.minimize.memo import Outcome
from lockstep.minimize.observe import FindingSeen, observe, origin_units, unmutated
from lockstep.minimize.reduce import Reduced
from lockstep.minimize.worker import Engine, Workers
from tests.minimize.conftest import PRODUCER, swarm_case
from tests.statements import judge

HELD = {"pool_blocks": "so", "block_size": "so"}
FINDING = next(
    one for one in benchmark.findings() if one.mutation == "freed_block_given_while_in_flight"
)


@pytest.fixture(scope="module")
def written_twice() -> FindingSeen:
    """A batch that writes one slot twice."""
    return observe(FINDING.case, Engine(FINDING.mutation), source="here", held=HELD)


def test_the_oversized_request_is_what_is_left(wedge_seen: FindingSeen) -> None:
    (request,) = wedge_seen.reduced.case.workload.requests
    assert (len(request.prompt), request.max_new, request.arrival) == (61, 4, 0)
    assert wedge_seen.reduced.case.pool == Pool(2, 32)
    assert wedge_seen.reduced.case.by == ()
    assert wedge_seen.unmutated == Outcome("illegal", "REQUEST_NEVER_FITS")
    assert wedge_seen.shown.signature == ("stuck", "POLICY_STUCK", "machine")
    assert len(wedge_seen.origin.workload.requests) > 1
    assert wedge_seen.reduced.checks < 40 < len(wedge_seen.reduced.outcomes)
    assert origin_units(wedge_seen) > 100


@pytest.mark.slow
def test_the_number_of_workers_changes_nothing(wedge_seen: FindingSeen) -> None:
    assert wedge.found(jobs=2) == wedge_seen


def test_a_finding_with_a_schedule_is_derived(written_twice: FindingSeen) -> None:
    folded = predicate(written_twice, issued_at="2026-01-01T00:00:00Z", producer=PRODUCER)
    assert folded["failure"]["code"] == "KERNEL_INPUT"
    assert folded["unmutated"] == {"outcome": "passes", "code": ""}
    assert folded["counts"]["illegal"] > 0
    assert {row["outcome"] for row in folded["removals"]} >= {"illegal", "passes"}
    assert {"admit", "decode"} <= {one["event"] for step in folded["case"]["steps"] for one in step}
    assert judge(statement("finding", finding_subjects(folded), folded)).verdict == "MINIMAL"


def test_a_policys_steps_are_recorded_with_those_of_the_last() -> None:
    case = case_of(Lineage("swarm", (0,)))
    with Workers(Engine("cursor_shifted_after_preemption")) as workers:
        shown = workers.show(case)
        recorded = shown.case
        assert recorded["policy"] is None
        assert recorded["steps"]
        from lockstep.fuzz.case import parse_case

        again = workers.show(parse_case(recorded))
    assert again.signature == shown.signature
    assert shown.signature is not None


def test_what_is_not_wrong_is_no_finding() -> None:
    with pytest.raises(LockstepError) as caught:
        observe(swarm_case(1), Engine(), source="here", held={})
    assert caught.value.code == "FINDING_NOT_REPRODUCED"


def test_an_unknown_dimension_is_no_dimension() -> None:
    with pytest.raises(LockstepError) as caught:
        observe(FINDING.case, Engine(FINDING.mutation), source="here", held={"requets": "so"})
    assert caught.value.code == "USAGE"


def test_what_shows_without_the_mutation_is_not_its(monkeypatch: pytest.MonkeyPatch) -> None:
    def reproduces(self: Workers, cases: Any, wanted: Any) -> list[Outcome]:
        return [Outcome("reproduces")]

    monkeypatch.setattr(Workers, "test", reproduces)
    with pytest.raises(LockstepError) as caught:
        unmutated(swarm_case(1), Engine("refcount_leak"), ("stuck", "", ""))
    assert caught.value.code == "FINDING_NOT_REPRODUCED"
    assert unmutated(swarm_case(1), Engine(), ("stuck", "", "")) is None


def test_what_is_left_to_remove_is_not_signed(written_twice: FindingSeen) -> None:
    removal, sha256, _ = written_twice.reduced.outcomes[0]
    spoilt = ((removal, sha256, Outcome("reproduces")), *written_twice.reduced.outcomes[1:])
    reduced = Reduced(written_twice.reduced.case, spoilt, 1, 1)
    many = Reduced(written_twice.reduced.case, written_twice.reduced.outcomes * 1000, 1, 1)
    for seen, code in (
        (replace(written_twice, reduced=reduced), "FINDING_NOT_MINIMAL"),
        (replace(written_twice, reduced=many), "LIMIT_SIZE"),
        (
            replace(written_twice, shown=replace(written_twice.shown, failure=None)),
            "FINDING_NOT_REPRODUCED",
        ),
    ):
        with pytest.raises(LockstepError) as caught:
            predicate(seen, issued_at="2026-01-01T00:00:00Z", producer=PRODUCER)
        assert caught.value.code == code


def test_a_worker_that_ends_is_told() -> None:
    with Workers(Engine()) as workers:
        workers._processes[0].kill()
        with pytest.raises(LockstepError) as caught:
            workers.show(swarm_case(1))
    assert caught.value.code == "WORKER_ENDED"


def test_a_worker_that_does_not_answer_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "CASE_SECONDS", 0.001)
    with Workers(Engine()) as workers, pytest.raises(LockstepError) as caught:
        workers.show(swarm_case(1))
    assert (caught.value.code, caught.value.got) == ("WORKER_ENDED", "none")


def test_a_workers_refusal_is_its_words() -> None:
    with Workers(Engine("no_such_operator")) as workers, pytest.raises(LockstepError) as caught:
        workers.show(swarm_case(1))
    assert caught.value.code == "MUTATION_UNKNOWN"
    long = swarm_case(1).workload.requests[0]
    case = Case(type(swarm_case(1).workload)((replace(long, max_new=5000),)), Pool(2000, 4), ())
    with Workers(Engine()) as workers, pytest.raises(LockstepError) as caught:
        workers.show(case)
    assert caught.value.code == "SEQUENCE_TOO_LONG"
