"""A run over a small set: what it keeps, and what stops it."""

from __future__ import annotations

import dataclasses

import pytest

from lockstep.claims.smt import predicate, scripts
from lockstep.errors import LockstepError
from lockstep.proofs.layout_queries import Planted
from lockstep.proofs.replay import Counterexample, breaks, replay
from lockstep.proofs.run import prove
from lockstep.proofs.solvers import Reply, Solver


def test_every_query_was_answered_by_both(seen) -> None:
    assert [name for name, _ in seen.solvers] == ["z3", "cvc5"]
    assert {entry.case.mode for entry in seen.cases} == {"fixed", "any"}
    for entry in seen.cases:
        assert {tuple(said.answers.values()) for said in entry.proofs.values()} == {
            ("unsat", "unsat")
        }
        assert {tuple(said.answered.answers.values()) for said in entry.guards} == {("sat", "sat")}
    names = [query.name for query in seen.queries]
    assert len(names) == len(set(names)) == 8 * len(seen.cases)


def test_counterexamples_break_only_with_their_planted_stride(seen) -> None:
    for entry in seen.cases:
        for guard in entry.guards:
            kind, planted, found = guard.guard.kind, guard.guard.planted, guard.counterexample
            assert breaks(entry.case, kind, planted, found)
            true = {axis.name: axis.stride for axis in entry.case.axes}[planted.axis]
            harmless = dataclasses.replace(planted, stride=true)
            assert not breaks(entry.case, kind, harmless, found)


def test_a_model_that_breaks_nothing_is_refused(seen) -> None:
    for entry in seen.cases[:4]:
        for guard in entry.guards:
            model = dict(guard.answered.models["z3"])
            # Where the planted stride leads, another element lies, and that is no padding.
            model["q.p"] = model["a.p"]
            model["a.p"] = int(model["a.p"]) + 1
            with pytest.raises(LockstepError) as caught:
                replay(entry.case, guard.guard, model)
            assert caught.value.code == "COUNTEREXAMPLE_NOT_REPLAYED"
            assert guard.guard.query.name in caught.value.pointer


def test_another_token_count_is_refused_where_it_is_fixed(seen) -> None:
    for entry in seen.cases:
        guard = entry.guards[0]
        moved = dataclasses.replace(guard.counterexample, tokens=guard.counterexample.tokens + 1)
        assert entry.case.mode == "any" or not breaks(
            entry.case, guard.guard.kind, guard.guard.planted, moved
        )


@pytest.mark.parametrize("said", ["sat", "unknown (timeout)"])
def test_a_run_stops_at_the_first_query_that_is_not_answered_so(small, both, said) -> None:
    asked = []

    def ask(text: str, constants: tuple[str, ...]) -> Reply:
        asked.append(text)
        return both[0].ask(text, constants) if len(asked) < 3 else Reply(said)

    with pytest.raises(LockstepError) as caught:
        prove(small, (both[0], Solver("cvc5", "0", ask)), lifecycle=False)
    assert caught.value.code == "QUERY_NOT_ANSWERED"
    assert caught.value.pointer == "query vllm-paged-x/k/llama-3.1-8b/fixed/round-trip"
    assert len(asked) == 3


def test_a_guard_whose_stride_is_the_true_one_stops_a_run(small, both, monkeypatch) -> None:
    def harmless(case, kind):
        return Planted(case.axes[0].name, case.axes[0].stride)

    monkeypatch.setattr("lockstep.proofs.layout_queries._planted", harmless)
    with pytest.raises(LockstepError) as caught:
        prove(small, both, lifecycle=False)
    assert caught.value.code == "QUERY_NOT_ANSWERED"
    assert caught.value.pointer.endswith("/in-bounds/planted")


def test_the_predicate_is_a_function_of_what_was_seen(seen) -> None:
    def fold() -> dict:
        producer = dict.fromkeys(
            ("name", "version", "python", "numpy", "machine", "command"), "test"
        )
        return predicate(seen, issued_at="2026-11-29T12:00:00Z", producer=producer)

    folded = fold()
    assert folded == fold()
    assert folded["lifecycle"] is None and folded["counts"]["lifecycle_proofs"] == 0
    assert (
        folded["counts"]["answers"]
        == 2 * folded["counts"]["queries"]
        == 4 * folded["counts"]["proofs"]
    )
    assert folded["counts"]["combinations"] == 4 * 4 * 2
    assert folded["coverage"]["lossy"] == 4 * 2
    assert set(scripts(seen)) == {
        "smt/layouts/vllm-paged-x.smt2",
        "smt/layouts/vllm-tp8-replicated.smt2",
        "smt/layouts/vllm-mla.smt2",
    }


def test_counterexamples_are_told_as_plain_lists() -> None:
    found = Counterexample(5, ((0, 1, 2, 3, 0, 4),), 9)
    assert found.as_json() == {"tokens": 5, "elements": [[0, 1, 2, 3, 0, 4]], "offset": 9}
