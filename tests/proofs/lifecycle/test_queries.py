"""Both solvers answer the lifecycle's queries as expected, and no unsat is empty."""

from __future__ import annotations

import pytest

from lockstep import spec
from lockstep.errors import LockstepError
from lockstep.proofs.lifecycle.transition_system import foils, inductive, queries, witnesses
from lockstep.proofs.query import Query
from lockstep.proofs.solvers import decide, solvers

BY = solvers()
INDUCTIVE = {query.name: query for query in inductive()}
WEAKENINGS = {entry["name"]: entry for entry in spec.load("lifecycle.json")["weakenings"]}


def without(query: Query, *asserted: str) -> Query:
    """The query without some of its assertions, whose answer shows whether they matter."""
    text = query.text
    for assertion in asserted:
        line = f"(assert {assertion})\n"
        assert text.count(line) == 1
        text = text.replace(line, "")
    return Query(query.name, query.shows, "sat", text)


def test_all_queries_are_those_of_the_three_groups() -> None:
    runs = (*witnesses(), *foils())
    assert queries() == (*INDUCTIVE.values(), *(run.query for run in runs))
    assert {query.expected for query in INDUCTIVE.values()} == {"unsat"}
    assert {run.query.expected for run in runs} == {"sat"}
    cells = [(c["state"], c["event"]) for c in spec.load("lifecycle.json")["cells"]]
    named = [f"lifecycle/witness/{state}/{event}".lower() for state, event in cells]
    assert [run.query.name for run in witnesses()] == named


@pytest.mark.slow  # `make smt` asks both solvers
@pytest.mark.parametrize("name", INDUCTIVE)
def test_no_counterexample_by_either_solver(name: str) -> None:
    answered = decide(INDUCTIVE[name], BY)
    assert answered.answers == {"z3": "unsat", "cvc5": "unsat"}


@pytest.mark.parametrize("event", spec.load("lifecycle.json")["events"])
def test_each_event_can_take_place_under_the_invariant(event: str) -> None:
    query = INDUCTIVE[f"lifecycle/consecution/{event}"]
    assert decide(without(query, "(not invariant_1)"), BY).answers["cvc5"] == "sat"


@pytest.mark.parametrize(
    ("name", "left_out"),
    [
        ("initiation", "(not invariant_0)"),
        ("unreachable/admitted/preempt_rc", "invariant_0"),
        ("unreachable/decoding/evict", "invariant_0"),
        ("only_cells/chunk", "invariant_0"),
        ("only_cells/decode", "(not (cell actor_state_0 event_0))"),
        ("exclusive_write", "invariant_0"),
        ("exclusive_write", "(not exclusive_write_0)"),
        ("no_deadlock", "invariant_0"),
        ("no_deadlock", "stuck_0"),
        ("progress", "(distinct event_0 preempt_rc)"),
    ],
)
def test_an_assertion_left_out_makes_it_satisfiable(name: str, left_out: str) -> None:
    decide(without(INDUCTIVE[f"lifecycle/{name}"], left_out), BY)


@pytest.mark.parametrize("weakening", WEAKENINGS)
def test_weakened_rules_fail_exactly_the_declared_queries(weakening: str) -> None:
    """Texts that the weakening leaves as they are have been answered; the others are asked."""
    failing = {f"lifecycle/{name}" for name in WEAKENINGS[weakening]["fails"]}
    for query in inductive(weakening):
        if query.name in failing:
            assert query.sha256 != INDUCTIVE[query.name].sha256
            decide(Query(query.name, query.shows, "sat", query.text), BY)
        elif query.sha256 != INDUCTIVE[query.name].sha256:
            decide(query, BY[:1])


@pytest.mark.slow
@pytest.mark.parametrize("weakening", WEAKENINGS)
def test_both_solvers_agree_on_what_weakened_rules_leave_standing(weakening: str) -> None:
    failing = {f"lifecycle/{name}" for name in WEAKENINGS[weakening]["fails"]}
    for query in inductive(weakening):
        if query.name not in failing and query.sha256 != INDUCTIVE[query.name].sha256:
            decide(query, BY)


def test_a_satisfiable_counterexample_is_refused() -> None:
    query = next(q for q in inductive("lazy_reservation") if q.name.endswith("consecution/decode"))
    with pytest.raises(LockstepError) as caught:
        decide(query, BY)
    assert caught.value.code == "QUERY_NOT_ANSWERED"
    assert caught.value.got == "z3: sat, cvc5: sat"
