"""Expansion of the template, and its text by two implementations."""

from __future__ import annotations

import pytest

from lockstep import spec
from lockstep.lifecycle.relation import relation
from lockstep.proofs.lifecycle import template
from lockstep.proofs.lifecycle import transition_system as producer
from lockstep.proofs.lifecycle.template import Model, Template
from lockstep_verify.derive import lifecycle_queries as verifier

SMALL = Template(Model(2, 3, 4), relation())


@pytest.mark.parametrize(
    ("text", "expanded"),
    [
        ("(+ 0 {r: x_$r})", "(+ 0 x_0 x_1)"),
        ("{r: {b: y_$r_$b}}", "y_0_0 y_0_1 y_0_2 y_1_0 y_1_1 y_1_2"),
        ("{q: a_$q} {c: b_$c}", "a_0 a_1 b_0 b_1 b_2"),
        ("{r: $r {q: (= $r $q)} end}", "0 (= 0 0) (= 0 1) end 1 (= 1 0) (= 1 1) end"),
        ("%R %B %S @ ^", "2 3 4 7 8"),
        ("{s: $s=#s}", " ".join(f"{name}={i}" for i, name in enumerate(relation().states))),
        ("{e: $e=#e}", " ".join(f"{name}={i}" for i, name in enumerate(relation().events))),
        ("{k: $k.state/$k.event/$k.next}", " ".join("/".join(c) for c in relation().cells)),
    ],
)
def test_loops_and_marks(text: str, expanded: str) -> None:
    assert SMALL.expand(text, 7) == expanded


def test_unknown_loop_is_a_fault_of_the_template() -> None:
    with pytest.raises(ValueError, match="no loop over z"):
        SMALL.expand("{z: $z}")


def test_lines_are_repeated_and_kept_by_condition(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = (
        "for r b: c_$r_$b_@",
        "if lazy_reservation: lazy",
        "unless lazy_reservation: for r: strict_$r",
    )
    monkeypatch.setattr(template, "sections", lambda: {"sample": lines})
    pairs = [f"c_{r}_{b}_5" for r in range(2) for b in range(3)]
    assert SMALL.section("sample", 5).splitlines() == [*pairs, "strict_0", "strict_1"]
    weakened = Template(SMALL.model, relation(), "lazy_reservation")
    assert weakened.section("sample", 5).splitlines() == [*pairs, "lazy"]


def test_every_condition_names_a_weakening_and_each_has_one() -> None:
    text = spec.read("lifecycle.smt2.template").decode("ascii")
    heads = [line.partition(": ")[0].split(" ") for line in text.splitlines()]
    named = {head[1] for head in heads if head[0] in ("if", "unless")}
    assert named == {entry["name"] for entry in spec.load("lifecycle.json")["weakenings"]}


def test_verifier_makes_the_same_texts() -> None:
    made = [(query.name, query.expected, query.text) for query in producer.queries()]
    assert [tuple(query) for query in verifier.queries()] == made
    assert len({name for name, _, _ in made}) == len(made)


def test_a_changed_relation_changes_every_text(monkeypatch: pytest.MonkeyPatch) -> None:
    before = {query.name: query.sha256 for query in producer.queries()}
    data = dict(spec.load("lifecycle.json"))
    data["cells"] = [
        {**cell, "next": "PREFILLING"} if cell["next"] == "PREEMPTED" else cell
        for cell in data["cells"]
    ]
    monkeypatch.setattr(spec, "load", lambda path: data)
    after = {query.name: query.sha256 for query in producer.queries()}
    assert set(after) == set(before)
    assert all(after[name] != before[name] for name in before)
