"""An export is read strictly: lines, members, references, order, limits."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from lockstep_verify import limits
from lockstep_verify.errors import Refusal
from lockstep_verify.kernel.export_declarations import read
from lockstep_verify.kernel.statement_digests import theorems

from .assembler import SAMPLE, Assembler, sample

Change = Callable[[Assembler], None]


def code_of(data: bytes) -> tuple[str, str]:
    with pytest.raises(Refusal) as refused:
        read(data)
    return refused.value.code, refused.value.pointer


def test_sample_is_read() -> None:
    export = read(SAMPLE.read_bytes())
    assert len(export.declarations) == 35
    assert {"Nat", "Nat.succ", "Nat.rec", "propext"} <= set(map(str, export.by_name))


def last(**members: Any) -> Change:
    return lambda a: a.lines.append(members)


def declaration(text: str, **members: Any) -> Change:
    return lambda a: a.find(text).update(members)


def member_of(text: str, part: str, **members: Any) -> Change:
    return lambda a: a.find(text)[part][0].update(members)


def without(text: str, member: str) -> Change:
    return lambda a: a.find(text).pop(member)


def twice(a: Assembler) -> None:
    a.lines.append(a.lines[-1])


def forward(a: Assembler) -> None:
    a.define("First", a.const("Nat"), a.const("Second"))
    a.define("Second", a.const("Nat"), a.nat(0))


def cycle(a: Assembler) -> None:
    a.theorem("Itself", a.const("False"), a.const("Itself"))


def unknown(a: Assembler) -> None:
    a.define("Bad", a.const("Nowhere"), a.nat(0))


def undeclared_universe(a: Assembler) -> None:
    u = a.param("stranger")
    a.define("Bad", a.sort(a.succ(u)), a.sort(u))


def undeclared_universe_of_a_recursor(a: Assembler) -> None:
    a.find("PUnit")["recs"][0]["levelParams"] = []


def rule_of_a_later_constant(a: Assembler) -> None:
    a.find("Nat")["recs"][0]["rules"][0]["rhs"] = a.const("Nat.add")


def swapped_lines(a: Assembler) -> None:
    a.lines[10], a.lines[11] = a.lines[11], a.lines[10]


MALFORMED: dict[str, Change] = {
    "duplicate_constant": twice,
    "forward_reference": forward,
    "cyclic_declaration": cycle,
    "unknown_constant": unknown,
    "undeclared_universe": undeclared_universe,
    "undeclared_universe_of_a_recursor": undeclared_universe_of_a_recursor,
    "rule_of_a_later_constant": rule_of_a_later_constant,
    "lines_swapped": swapped_lines,
    "unknown_kind_of_line": last(remark="hello"),
    "unknown_kind_of_term": lambda a: last(ie=a._counts["ie"], fvar=0)(a),
    "metadata": lambda a: last(ie=a._counts["ie"], mdata={"expr": 0, "data": {}})(a),
    "term_given_twice": lambda a: last(ie=a._counts["ie"], sort=0)(a),
    "name_given_twice": lambda a: last(**{"in": a._counts["in"]}, str={"pre": 0, "str": "Nat"})(a),
    "number_left_out": lambda a: last(ie=a._counts["ie"] + 1, bvar=9)(a),
    "reference_to_a_later_term": lambda a: last(
        ie=a._counts["ie"], app={"fn": a._counts["ie"], "arg": 0}
    )(a),
    "negative_reference": lambda a: last(ie=a._counts["ie"], app={"fn": -1, "arg": 0})(a),
    "truth_as_a_number": lambda a: last(ie=a._counts["ie"], bvar=True)(a),
    "fraction": lambda a: last(ie=a._counts["ie"], bvar=9.0)(a),
    "numeral_with_leading_zero": lambda a: last(ie=a._counts["ie"], natVal="07")(a),
    "numeral_with_sign": lambda a: last(ie=a._counts["ie"], natVal="-7")(a),
    "numeral_of_other_digits": lambda a: last(ie=a._counts["ie"], natVal="٣")(a),
    "empty_numeral": lambda a: last(ie=a._counts["ie"], natVal="")(a),
    "string_with_half_a_pair": lambda a: last(ie=a._counts["ie"], strVal="\ud800")(a),
    "member_more": declaration("Nat.add", remark=""),
    "member_less": without("Nat.add", "all"),
    "safety_unsafe": declaration("Nat.add", safety="unsafe"),
    "safety_partial": declaration("Nat.add", safety="partial"),
    "hints_of_another_kind": declaration("Nat.add", hints={"height": 1}),
    "unsafe_axiom": declaration("propext", isUnsafe=True),
    "universe_twice": declaration("eq_of_heq", levelParams=[1, 1]),
    "unsafe_type": member_of("Nat", "types", isUnsafe=True),
    "types_not_all": member_of("Nat", "types", all=[]),
    "constructor_less": lambda a: a.find("Nat")["ctors"].pop(),
    "constructor_more": lambda a: a.find("Nat")["ctors"].append(a.find("Nat")["ctors"][0]),
    "constructor_out_of_place": member_of("Nat", "ctors", cidx=1),
    "constructor_of_another_type": member_of("Nat", "ctors", induct=0),
    "recursor_left_out": lambda a: a.find("Nat")["recs"].pop(),
    "recursor_of_another_name": member_of("Nat", "recs", name=0),
    "meta_again": lambda a: a.lines.append(a.lines[0]),
    "other_format": lambda a: a.lines[0]["meta"]["format"].update(version="2.0.0"),
    "no_meta": lambda a: a.lines.pop(0),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_malformed_export_is_refused(name: str) -> None:
    a = sample()
    MALFORMED[name](a)
    code, pointer = code_of(a.data())
    assert code == "EXPORT_MALFORMED"
    assert pointer.startswith("/")


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{}",
        b"\n",
        b"[]\n",
        b"{}\n",
        b'{"meta":1}\n',
        SAMPLE.read_bytes()[:-1],
        SAMPLE.read_bytes() + b"\n",
        SAMPLE.read_bytes() + b"\xff\n",
        SAMPLE.read_bytes() + b'{"ie":0,"ie":0}\n',
        SAMPLE.read_bytes() + b"NaN\n",
    ],
)
def test_what_is_no_export_is_refused(data: bytes) -> None:
    assert code_of(data)[0] == "EXPORT_MALFORMED"


def test_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    data = SAMPLE.read_bytes()
    for name, bound, code in (
        ("EXPORT_BYTES", 1000, "LIMIT_SIZE"),
        ("EXPORT_LINES", 100, "LIMIT_SIZE"),
        ("EXPORT_LINE_BYTES", 100, "LIMIT_SIZE"),
        ("EXPORT_DEPTH", 5, "LIMIT_DEPTH"),
        ("EXPORT_NAME_PARTS", 1, "LIMIT_DEPTH"),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(limits, name, bound)
            assert code_of(data)[0] == code
    a = sample()
    a.nat(10**50)
    monkeypatch.setattr(limits, "EXPORT_DIGITS", 50)
    assert code_of(a.data())[0] == "LIMIT_SIZE"


def test_deep_json_is_refused() -> None:
    data = SAMPLE.read_bytes() + b'{"ie":' + b"[" * 100_000 + b"]" * 100_000 + b"}\n"
    assert code_of(data)[0] == "LIMIT_DEPTH"


def test_long_numerals_are_read_whole() -> None:
    a = sample()
    digits = "12345" * 2000
    a.lines.append({"ie": a._counts["ie"], "natVal": digits})
    assert read(a.data())


def statement(a: Assembler, name: str = "Claim") -> str:
    return theorems(a.data())[name][0]


def test_theorem_of_the_same_name_that_proves_true_has_another_digest() -> None:
    a, b = sample(), sample()
    nat = a.const("Nat")
    zero = a.const("Nat.zero")
    a.theorem("Claim", a.equals(a.succ(0), nat, zero, zero), a.refl(a.succ(0), nat, zero))
    b.theorem("Claim", b.const("True"), b.const("True.intro"))
    assert statement(a) != statement(b)


def test_axioms_reach_a_theorem_through_values() -> None:
    a = sample()
    a.theorem("Claim", a.const("True"), a.const("True.intro"))
    assert theorems(a.data())["Claim"][1] == ()
    assert theorems(a.data())["eq_true"][1] == ("propext",)
    a.axiom("Oracle", a.const("Nat"))
    a.define("Asked", a.const("Nat"), a.const("Oracle"))
    claim = a.equals(a.succ(0), a.const("Nat"), a.const("Asked"), a.const("Asked"))
    a.theorem("Other", claim, a.refl(a.succ(0), a.const("Nat"), a.const("Asked")))
    assert theorems(a.data())["Other"][1] == ("Oracle",)


def test_two_names_of_one_text_are_refused() -> None:
    a = sample()
    a.theorem("A.b", a.const("True"), a.const("True.intro"))
    a.names["A.b"] = a._number("in", str={"pre": 0, "str": "A.b"})
    a.theorem("A.b", a.const("True"), a.const("True.intro"))
    with pytest.raises(Refusal) as refused:
        theorems(a.data())
    assert refused.value.code == "EXPORT_MALFORMED"


def test_lines_are_json() -> None:
    assert all(json.loads(line) for line in SAMPLE.read_bytes().splitlines())
