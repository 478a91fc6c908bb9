"""The queries of a case, as texts: what must not exist, written over digits [SMT-5 to SMT-10].

An element and an offset are each a tuple of bounded integers, and the quotients and remainders of
the index map are such integers too, so that every text is linear and none holds a division.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from lockstep.proofs.geometries import Case
from lockstep.proofs.query import Query

SHOWS = {
    "in-bounds": "every element lies within its tensor",
    "injective": "no two elements, or copies of one, lie at one offset",
    "round-trip": "the digits of an element's offset give the element back",
    "padding": "an offset holds no element exactly where a digit says that it is padding",
}
"""What each kind of query shows once its expected answer, `unsat`, was given."""


@dataclass(frozen=True)
class Planted:
    """A wrong stride: the axis, and what stands in its stride's place."""

    axis: str
    stride: int


@dataclass(frozen=True)
class Guard:
    """A query with a planted stride, which must have a counterexample [SMT-10]."""

    kind: str
    planted: Planted
    query: Query


def proofs(case: Case) -> dict[str, Query]:
    """Give the queries of a case by kind, each expected to be `unsat`."""
    return {
        kind: Query(f"{case.name}/{kind}", shows, "unsat", _text(case, kind, None))
        for kind, shows in SHOWS.items()
    }


def guards(case: Case) -> dict[str, Guard]:
    """Give the guard of each query of a case by kind, each expected to be `sat`."""
    found = {}
    for kind, shows in SHOWS.items():
        planted = _planted(case, kind)
        query = Query(
            f"{case.name}/{kind}/planted",
            f"with stride {planted.stride} of {planted.axis} it is not so that {shows}",
            "sat",
            _text(case, kind, planted),
        )
        found[kind] = Guard(kind, planted, query)
    return found


def _planted(case: Case, kind: str) -> Planted:
    """Choose a stride that leads out of the tensor, or nowhere [SMT-10]."""
    tokens = case.realised.geometry.tokens
    reached = {
        "T": tokens,
        "Tb": -(-tokens // (case.layout.block or 1)),
        "D": case.head_dims[0],
    }
    slow, *_, fast = (axis for axis in case.axes if reached.get(axis.name, axis.extent) > 1)
    if kind != "in-bounds":
        return Planted(fast.name, 0)
    return Planted(slow.name, case.size if case.mode == "fixed" else 2 * slow.stride)


def _text(case: Case, kind: str, planted: Planted | None) -> str:
    """Write a query [SMT-9]."""
    lines = [
        "(set-logic QF_LIA)",
        *_sizes(case, bounded=planted is not None),
        *_element(case, "a"),
        _place(case, "a", _along(case, "a"), planted),
    ]
    if kind == "in-bounds":
        lines += ["(assert (not (<= 0 a.p (- N 1))))"]
    elif kind == "injective":
        lines += [
            *_second(case, planted),
            "(assert (= a.p b.p))",
            f"(assert (not {_same(case, 'b')}))",
        ]
    elif kind == "round-trip":
        lines += [
            *_offset(case),
            "(assert (= a.p q.p))",
            f"(assert (not {_same(case, 'q')}))",
        ]
    else:
        lines += [
            *_offset(case),
            "(assert (<= 0 q.p (- N 1)))",
            f"(assert (or (and q.e (not {_within(case)})) "
            f"(and q.e {_same(case, 'q')} (not (= a.p q.p))) (and (not q.e) (= a.p q.p))))",
        ]
    return "\n".join([*lines, "(check-sat)", ""])


def _constant(name: str) -> str:
    return f"(declare-const {name} Int)"


def _defined(name: str, term: str, sort: str = "Int") -> str:
    return f"(define-fun {name} () {sort} {term})"


def _sum(terms: Iterable[str]) -> str:
    return f"(+ {' '.join(terms)})"


def _sizes(case: Case, bounded: bool) -> list[str]:
    """Bind the token count, the extent of the outer token axis and the tensor's size [SMT-5]."""
    block, pad, whole = case.layout.block, case.pad_tokens, "n"
    lines = [_constant("n")]
    # With blocks no axis is padded; the count of either unit is m, what the last one lacks is g.
    unit = block or pad
    if unit:
        lines = [_constant("m"), _constant("g"), f"(assert (<= 0 g {unit - 1}))"]
        lines.append(_defined("n", f"(- (* {unit} m) g)"))
        whole = "m" if block else f"(* {pad} m)"
    tokens = case.realised.geometry.tokens
    bound = f"(<= 1 n {tokens})" if bounded else "(<= 1 n)"
    size = f"(* {case.outer.stride} e)"
    if case.mode == "fixed":
        bound, size = f"(= n {tokens})", str(case.size)
    lines += [f"(assert {bound})", _defined("e", f"(+ {case.tensor.reserve} {whole})")]
    return [*lines, _defined("N", size)]


def _coordinates(case: Case, of: str) -> dict[str, str]:
    """Give the coordinates of an element or an offset as terms over its digits [SMT-6]."""
    block, x = case.layout.block, case.tensor.x
    terms = {}
    if len(case.head_dims) > 1:
        terms["k"] = f"{of}.k"
    if case.has("L"):
        terms["l"] = f"{of}.l"
    terms["t"] = f"(+ (* {block} {of}.tb) {of}.ti)" if block else f"{of}.t"
    if case.layout.rank_axis == "sharded":
        terms["h"] = f"(+ (* {case.heads // case.layout.ranks} {of}.r) {of}.s)"
    elif case.has("H") or case.has("R"):
        terms["h"] = f"{of}.h"
    if case.layout.rank_axis == "replicated":
        terms["c"] = f"{of}.c"
    terms["d"] = f"(+ (* {x} {of}.g) {of}.x)" if x else f"{of}.d"
    return terms


def _highest(case: Case, of: str) -> dict[str, str]:
    """Give the highest value of each coordinate and each digit of an element [SMT-6]."""
    ranks, dims = case.layout.ranks, case.head_dims
    uneven = len(set(dims)) > 1
    return {
        "k": "1",
        "l": f"{case.realised.geometry.layers - 1}",
        "t": "(- n 1)",
        "ti": f"{case.layout.block - 1}",
        "h": f"{case.heads - 1}",
        "r": f"{ranks - 1}",
        "s": f"{case.heads // ranks - 1}",
        "c": f"{case.realised.replicas - 1}",
        "d": f"(ite (= {of}.k 0) {dims[0] - 1} {dims[1] - 1})" if uneven else f"{dims[0] - 1}",
        "g": f"{dims[0] // (case.tensor.x or 1) - 1}",
        "x": f"{case.tensor.x - 1}",
    }


def _element(case: Case, of: str) -> list[str]:
    """Write an element: its digits and their bounds [SMT-7]."""
    lines, bounds = [], []
    highest = _highest(case, of)
    parts = {"t": ("tb", "ti"), "h": ("r", "s"), "d": ("g", "x")}
    for name, term in _coordinates(case, of).items():
        for digit in (name,) if term == f"{of}.{name}" else parts[name]:
            if digit == "tb":
                # Counted from the last block, whose number is no constant where n is none.
                lines += [_constant(f"{of}.y"), _defined(f"{of}.tb", f"(- m {of}.y)")]
                bounds += [f"(assert (<= 0 {of}.tb))", f"(assert (<= {term} {highest['t']}))"]
            else:
                lines.append(_constant(f"{of}.{digit}"))
                bounds.append(f"(assert (<= 0 {of}.{digit} {highest[digit]}))")
    return lines + bounds


def _place(case: Case, of: str, along: Mapping[str, str], planted: Planted | None) -> str:
    """Write an offset: each axis's stride times the coordinate along it."""
    strides = {axis.name: axis.stride for axis in case.axes}
    if planted is not None:
        strides[planted.axis] = planted.stride
    summands = (f"(* {stride} {along[axis]})" for axis, stride in strides.items())
    return _defined(f"{of}.p", _sum(summands))


def _moved(case: Case, of: str) -> tuple[list[str], dict[str, str]]:
    """Write coordinates along the axes as those of `a` and a difference each [SMT-7]."""
    along, lines, moved = _along(case, "a"), [], {}
    for axis in case.axes:
        name = moved[axis.name] = f"{of}.{axis.name}"
        lines += [
            _constant(f"z.{axis.name}"),
            _defined(name, f"(+ {along[axis.name]} z.{axis.name})"),
        ]
    return lines, moved


def _second(case: Case, planted: Planted | None) -> list[str]:
    """Write a second element `b` [SMT-7]."""
    lines, moved = _moved(case, "b")
    along = _along(case, "b")
    lines += _element(case, "b")
    lines += [f"(assert (= {name} {along[axis]}))" for axis, name in moved.items()]
    return [*lines, _place(case, "b", moved, planted)]


def _along(case: Case, of: str) -> dict[str, str]:
    """Give an element's coordinate along each axis [LAY-7]."""
    reserve = case.tensor.reserve
    replicated = case.layout.rank_axis == "replicated"
    head = {"none": f"{of}.h", "sharded": f"{of}.s", "replicated": "0"}
    return {
        "L": f"{of}.l",
        "KV": f"{of}.k",
        "C": f"(+ (ite (= {of}.k 0) 0 {case.head_dims[0]}) {of}.d)",
        "T": f"(+ {reserve} {of}.t)",
        "Tb": f"(+ {reserve} {of}.tb)",
        "Ti": f"{of}.ti",
        "R": f"(+ (* {case.realised.replicas} {of}.h) {of}.c)" if replicated else f"{of}.r",
        "H": head[case.layout.rank_axis],
        "D": f"{of}.d",
        "Dg": f"{of}.g",
        "Dx": f"{of}.x",
    }


def _offset(case: Case) -> list[str]:
    """Write an offset: a digit an axis, what they say, and whether they name an element [SMT-8]."""
    lines, moved = _moved(case, "q")
    # The slowest digit takes up the rest, so that each integer has exactly one such reading.
    for axis in case.axes[1:]:
        highest = "(- e 1)" if axis == case.outer else f"{axis.extent - 1}"
        lines.append(f"(assert (<= 0 {moved[axis.name]} {highest}))")
    lines.append(_place(case, "q", moved, None))
    if case.layout.rank_axis == "replicated":
        copies = case.realised.replicas
        lines += [_constant("q.h"), _constant("q.c"), f"(assert (<= 0 q.c {copies - 1}))"]
        lines.append(f"(assert (= q.R (+ (* {copies} q.h) q.c)))")
    lines += [_defined(f"q.{name}", term) for name, term in _read(case).items()]
    conditions = [
        f"(<= 0 q.{'tb' if case.layout.block else 't'})",
        f"(< {_coordinates(case, 'q')['t']} n)",
    ]
    if case.has("D"):
        conditions.append(f"(< q.d {case.head_dims[0]})")
    return [*lines, _defined("q.e", f"(and {' '.join(conditions)})", "Bool")]


def _read(case: Case) -> dict[str, str]:
    """Give what the digits of an offset say of an element's digits [LAY-7, read backwards]."""
    reserve, first = case.tensor.reserve, case.head_dims[0]
    sharded = case.layout.rank_axis == "sharded"
    said = {
        "KV": {"k": "q.KV"},
        "C": {"k": f"(ite (< q.C {first}) 0 1)", "d": f"(- q.C (ite (< q.C {first}) 0 {first}))"},
        "L": {"l": "q.L"},
        "T": {"t": f"(- q.T {reserve})"},
        "Tb": {"tb": f"(- q.Tb {reserve})"},
        "Ti": {"ti": "q.Ti"},
        "R": {"r": "q.R"} if sharded else {},
        "H": {"none": {"h": "q.H"}, "sharded": {"s": "q.H"}}.get(case.layout.rank_axis, {}),
        "D": {"d": "q.D"},
        "Dg": {"g": "q.Dg"},
        "Dx": {"x": "q.Dx"},
    }
    return {name: term for axis in case.axes for name, term in said[axis.name].items()}


def _same(case: Case, other: str) -> str:
    """Write that `a` and another agree in every coordinate."""
    pairs = zip(_coordinates(case, "a").values(), _coordinates(case, other).values(), strict=True)
    return f"(and {' '.join(f'(= {one} {two})' for one, two in pairs)})"


def _within(case: Case) -> str:
    """Write that every coordinate of the offset is one of an element."""
    highest = _highest(case, "q")
    bounds = (f"(<= 0 {term} {highest[name]})" for name, term in _coordinates(case, "q").items())
    return f"(and {' '.join(bounds)})"
