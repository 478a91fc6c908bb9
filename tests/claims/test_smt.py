"""The fold of proofs by SMT: its shape, and that it says of each query what was seen."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from lockstep import spec
from lockstep.claims.smt import predicate, scripts
from lockstep.layouts.catalogue import find
from lockstep.proofs.geometries import Case, Excluded, plan
from lockstep.proofs.layout_queries import guards, proofs
from lockstep.proofs.query import Query
from lockstep.proofs.replay import Counterexample
from lockstep.proofs.run import CaseSeen, GuardSeen, LifecycleSeen, SmtObservations
from lockstep.proofs.solvers import Answered

PRODUCER = dict.fromkeys(("name", "version", "python", "numpy", "machine", "command"), "test")
FOUND = Counterexample(1, ((0, 0, 0, 0, 0, 0),), 0)
LIFE = Query("lifecycle/test", "a test", "unsat", "(set-logic QF_LIA)\n(check-sat)\n")


def answered(query: Query) -> Answered:
    return Answered(query, {"z3": query.expected, "cvc5": query.expected}, {})


@pytest.fixture(scope="module")
def seen() -> SmtObservations:
    """What a run over two layouts would see; nothing is asked."""
    layouts = (find("vllm/vllm-lbnhc"), find("vllm/vllm-fp8"))
    planned = plan(layouts)
    return SmtObservations(
        set_name="two",
        layouts=layouts,
        solvers=(("z3", "1"), ("cvc5", "2")),
        cases=tuple(
            CaseSeen(
                case,
                {kind: answered(query) for kind, query in proofs(case).items()},
                tuple(GuardSeen(g, answered(g.query), FOUND) for g in guards(case).values()),
            )
            for case in planned
            if isinstance(case, Case)
        ),
        excluded=tuple(entry for entry in planned if isinstance(entry, Excluded)),
        lifecycle=None,
    )


def fold(seen: SmtObservations) -> dict[str, Any]:
    return predicate(seen, issued_at="2026-11-29T12:00:00Z", producer=PRODUCER)


def test_the_predicate_has_the_shape_of_the_schema(seen: SmtObservations) -> None:
    schema = spec.load("schemas/smt.schema.json")
    jsonschema.Draft202012Validator(schema).validate(fold(seen))
    with_lifecycle = dataclasses.replace(seen, lifecycle=LifecycleSeen((answered(LIFE),), ()))
    jsonschema.Draft202012Validator(schema).validate(fold(with_lifecycle))


def test_every_combination_is_a_case_or_has_a_reason(seen: SmtObservations) -> None:
    folded = fold(seen)
    data = spec.load("smt.json")
    wanted = 2 * len(data["geometries"]) * len(data["modes"])
    assert folded["counts"]["combinations"] == wanted
    assert len(folded["cases"]) + len(folded["not_applicable"]) == wanted
    assert {entry["reason"] for entry in folded["not_applicable"]} == {
        "lossy",
        "other_attention",
        "strides_hold_tokens",
    }
    listed = sum(folded["coverage"][reason] for reason in data["reasons"])
    assert listed == folded["counts"]["not_applicable"]


def test_declarations_say_nothing_of_their_sources(seen: SmtObservations) -> None:
    for entry in fold(seen)["layouts"]:
        assert not {"citation", "source", "derived"} & set(entry)
        assert {bits["bits"] for t in entry["tensors"] for bits in t["components"]} <= {8, 16}


def test_answers_are_told_as_they_were_given(seen: SmtObservations) -> None:
    case = seen.cases[0]
    kind, said = next(iter(case.proofs.items()))
    other = dataclasses.replace(said, answers={"z3": "unsat", "cvc5": "sat"})
    changed = dataclasses.replace(case, proofs={**case.proofs, kind: other})
    folded = fold(dataclasses.replace(seen, cases=(changed, *seen.cases[1:])))
    assert folded["cases"][0]["queries"][0]["answers"] == {"z3": "unsat", "cvc5": "sat"}


def test_a_lifecycle_that_was_not_asked_about_is_null(seen: SmtObservations) -> None:
    assert fold(seen)["lifecycle"] is None
    asked = fold(dataclasses.replace(seen, lifecycle=LifecycleSeen((answered(LIFE),), ())))
    assert asked["counts"]["lifecycle_proofs"] == 1
    assert asked["counts"]["queries"] == fold(seen)["counts"]["queries"] + 1
    assert asked["scripts"][-1]["name"] == "smt/lifecycle.smt2"


def test_scripts_hold_what_has_no_model(seen: SmtObservations) -> None:
    (name, text), *rest = scripts(seen).items()
    assert not rest and Path(name).name == "vllm-lbnhc.smt2"
    assert text.count("(check-sat)\n") == sum(len(case.proofs) for case in seen.cases)
    assert "planted" not in text
