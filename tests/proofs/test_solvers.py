"""Both solvers answer, and whatever is not the expected answer of both is refused."""

import sys

import pytest

from lockstep import limits
from lockstep.errors import LockstepError
from lockstep.proofs.query import Query, script
from lockstep.proofs.solvers import Reply, Solver, decide, solvers

HEAD = "(set-logic QF_LIA)\n(declare-const x Int)\n(declare-fun b () Bool)\n"
SAT = Query("t/sat", "x is below -3", "sat", HEAD + "(assert (and b (= x (- 4))))\n(check-sat)\n")
UNSAT = Query("t/unsat", "none", "unsat", HEAD + "(assert (< x x))\n(check-sat)\n")
HARD = Query(
    "t/hard",
    "a sum of three cubes that is none",
    "unsat",
    "(set-logic QF_NIA)\n(declare-const x Int)\n(declare-const y Int)\n(declare-const z Int)\n"
    "(assert (= (+ (* x x x) (* y y y) (* z z z)) 114))\n(check-sat)\n",
)


@pytest.fixture(scope="module")
def both() -> tuple[Solver, ...]:
    return solvers()


def fake(name: str, *replies: Reply) -> Solver:
    left = list(replies)
    return Solver(name, "0", lambda text, constants: left.pop(0))


def refused(query: Query, by: tuple[Solver, ...]) -> LockstepError:
    with pytest.raises(LockstepError) as caught:
        decide(query, by)
    assert caught.value.code == "QUERY_NOT_ANSWERED"
    assert query.name in caught.value.pointer
    return caught.value


def test_both_answer_and_give_models(both):
    assert [solver.name for solver in both] == ["z3", "cvc5"]
    assert all(solver.version[0].isdigit() for solver in both)
    found = decide(SAT, both)
    assert found.answers == {"z3": "sat", "cvc5": "sat"}
    assert found.models == {name: {"x": -4, "b": True} for name in ("z3", "cvc5")}
    none = decide(UNSAT, both)
    assert (none.answers, none.models) == ({"z3": "unsat", "cvc5": "unsat"}, {})


def test_an_unexpected_answer_is_refused(both):
    for query, other in ((SAT, "unsat"), (UNSAT, "sat")):
        flipped = Query(query.name, query.shows, other, query.text)
        assert f"z3: {query.expected}, cvc5: {query.expected}" in str(refused(flipped, both))


@pytest.mark.parametrize("said", ["sat", "unknown timeout", "", "error: x"])
def test_one_solver_alone_is_not_enough(said):
    fault = refused(UNSAT, (fake("one", Reply("unsat")), fake("other", Reply(said))))
    assert f"other: {said}" in fault.got
    assert refused(UNSAT, ()).got == "no solver"


def test_a_model_must_name_every_constant():
    refused(SAT, (fake("one", Reply("sat", "((x (- 4)) (b true))")), fake("o", Reply("sat", ""))))
    refused(SAT, (fake("one", Reply("sat", "((x (- 4)) (b (/ 1 2)))")),))


def test_giving_up_is_refused_by_both(both, monkeypatch):
    monkeypatch.setattr(limits, "SOLVER_MILLISECONDS", 200)
    for solver in both:
        assert "unknown" in refused(HARD, (solver,)).got


def test_a_text_that_is_no_script_is_refused_by_both(both):
    wrong = Query("t/wrong", "", "sat", "(set-logic QF_LIA)\n(assert (= y 1))\n(check-sat)\n")
    for solver in both:
        refused(wrong, (solver,))


def test_a_missing_solver_is_said_so(monkeypatch):
    monkeypatch.setitem(sys.modules, "cvc5", None)
    with pytest.raises(LockstepError, match="proofs") as caught:
        solvers()
    assert (caught.value.code, caught.value.pointer) == ("SOLVER_MISSING", "cvc5")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Upper", SAT.text),
        ("a", SAT.text + "\n"),
        ("a", "; é\n" + SAT.text),
        ("a", SAT.text + "(check-sat)\n"),
        ("a", "; first\n" + SAT.text),
    ],
)
def test_a_query_has_one_form(name, text):
    with pytest.raises(LockstepError) as caught:
        Query(name, "", "sat", text)
    assert caught.value.code == "BAD_VALUE"


def test_a_script_is_answered_query_by_query(both):
    import z3

    context = z3.Context()
    said = z3.Z3_eval_smtlib2_string(context.ref(), script((SAT, UNSAT, SAT)))
    assert said.split() == ["sat", "unsat", "sat"]
    assert len(SAT.sha256) == 64 and SAT.constants == ("x", "b")
