"""The texts of a layout's queries, made anew from its declaration (SMT-5 to SMT-10).

A subject is whatever has coordinates: the elements `a` and `b`, and the offset `q`. Coordinates
are terms over digits, and which digits there are follows from the tensor's axes.
"""

from collections.abc import Iterator
from typing import NamedTuple

from lockstep_verify.derive.layout import Layout, Tensor

_OUTER = ("T", "Tb")


class Case(NamedTuple):
    """One tensor of a layout at a geometry (SMT-4).

    Attributes:
        name: layout, tensor, geometry and mode, joined by `/`.
        axes: (axis, extent, stride) from the slowest on, in slots of all layers.
    """

    name: str
    mode: str
    layout: Layout
    tensor: Tensor
    axes: tuple[tuple[str, int, int], ...]

    @property
    def dims(self) -> list[int]:
        """D extents of the tensor's components."""
        return [self.layout.geometry.dims[name] for name in self.tensor.names]

    @property
    def size(self) -> int:
        """Slots of the tensor, of all layers of the case."""
        return self.axes[0][1] * self.axes[0][2]

    def holds(self, *names: str) -> bool:
        """Whether one of some axes is part of the case."""
        return any(axis in names for axis, _, _ in self.axes)


def case_of(layout: Layout, tensor: Tensor, geometry: str, mode: str) -> Case:
    """Give the case of one tensor of a realisable layout."""
    names = [axis for axis in tensor.axes if axis != "1"]
    if mode == "fixed" and "L" not in names:
        names.insert(0, "L")
    axes: list[tuple[str, int, int]] = []
    stride = 1
    for name in reversed(names):
        axes.insert(0, (name, tensor.extents[name], stride))
        stride *= tensor.extents[name]
    label = f"{layout.name}/{tensor.declared['name']}/{geometry}/{mode}"
    return Case(label, mode, layout, tensor, tuple(axes))


def planted(case: Case, kind: str) -> tuple[str, int]:
    """Give the axis and the wrong stride of a kind's guard (SMT-10)."""
    block, tokens = case.layout.block, case.layout.geometry.tokens
    wide = []
    for axis, extent, stride in case.axes:
        reached = {"T": tokens, "Tb": -(-tokens // block) if block else 0, "D": case.dims[0]}
        if reached.get(axis, extent) >= 2:
            wide.append((axis, stride))
    if kind == "in-bounds":
        axis, stride = wide[0]
        return axis, case.size if case.mode == "fixed" else stride * 2
    return wide[-1][0], 0


def text(case: Case, kind: str, wrong: tuple[str, int] | None) -> str:
    """Write the query of a kind, or its guard's where a wrong stride is given (SMT-9)."""
    lines = ["(set-logic QF_LIA)"]
    lines += _sizes(case, wrong is not None)
    lines += _digits(case, "a")
    lines.append(_offset_of("a", case, _along(case, "a"), wrong))
    if kind == "in-bounds":
        lines.append("(assert (not (<= 0 a.p (- N 1))))")
    elif kind == "injective":
        along = _along(case, "b")
        moved = {axis: f"b.{axis}" for axis, _, _ in case.axes}
        lines += _differences(case, "b")
        lines += _digits(case, "b")
        lines += [f"(assert (= {moved[axis]} {along[axis]}))" for axis in moved]
        lines.append(_offset_of("b", case, moved, wrong))
        lines += ["(assert (= a.p b.p))", f"(assert (not {_agree(case, 'b')}))"]
    else:
        lines += _reading(case)
        if kind == "round-trip":
            lines += ["(assert (= a.p q.p))", f"(assert (not {_agree(case, 'q')}))"]
        else:
            top = _tops(case, "q")
            inside = [f"(<= 0 {term} {top[name]})" for name, term in _terms(case, "q")]
            lines.append("(assert (<= 0 q.p (- N 1)))")
            lines.append(
                f"(assert (or (and q.e (not (and {' '.join(inside)}))) "
                f"(and q.e {_agree(case, 'q')} (not (= a.p q.p))) "
                "(and (not q.e) (= a.p q.p))))"
            )
    return "\n".join(lines) + "\n(check-sat)\n"


def _sizes(case: Case, guard: bool) -> Iterator[str]:
    """Declare n, m, g, e and N (SMT-5)."""
    block, pad = case.layout.block, case.tensor.declared["pad_tokens"]
    unit = block if block else pad
    grown = "n"
    if unit:
        yield "(declare-const m Int)"
        yield "(declare-const g Int)"
        yield f"(assert (<= 0 g {unit - 1}))"
        yield f"(define-fun n () Int (- (* {unit} m) g))"
        grown = "m" if block else f"(* {pad} m)"
    else:
        yield "(declare-const n Int)"
    if case.mode == "fixed":
        yield f"(assert (= n {case.layout.geometry.tokens}))"
    else:
        most = f" {case.layout.geometry.tokens}" if guard else ""
        yield f"(assert (<= 1 n{most}))"
    yield f"(define-fun e () Int (+ {case.tensor.reserve} {grown}))"
    strides = [stride for axis, _, stride in case.axes if axis in _OUTER]
    size = str(case.size) if case.mode == "fixed" else f"(* {strides[0]} e)"
    yield f"(define-fun N () Int {size})"


def _terms(case: Case, of: str) -> list[tuple[str, str]]:
    """Give the coordinates in their order, as terms over the digits of a subject (SMT-6)."""
    layout, tensor = case.layout, case.tensor
    found = [("k", f"{of}.k")] if len(tensor.names) > 1 else []
    if case.holds("L"):
        found.append(("l", f"{of}.l"))
    block = layout.block
    found.append(("t", f"(+ (* {block} {of}.tb) {of}.ti)" if block else f"{of}.t"))
    if layout.rank_axis == "sharded":
        share = layout.rank_heads // layout.ranks
        found.append(("h", f"(+ (* {share} {of}.r) {of}.s)"))
    elif case.holds("H", "R"):
        found.append(("h", f"{of}.h"))
    if layout.rank_axis == "replicated":
        found.append(("c", f"{of}.c"))
    found.append(("d", f"(+ (* {tensor.x} {of}.g) {of}.x)" if tensor.x else f"{of}.d"))
    return found


def _tops(case: Case, of: str) -> dict[str, str]:
    """Give the highest value of coordinates and digits (SMT-6)."""
    layout, dims, x = case.layout, case.dims, case.tensor.x
    last = str(dims[0] - 1)
    if dims != [dims[0]] * len(dims):
        last = f"(ite (= {of}.k 0) {dims[0] - 1} {dims[1] - 1})"
    tops = {"k": "1", "l": str(layout.geometry.layers - 1), "t": "(- n 1)", "d": last}
    tops["ti"] = str(layout.block - 1)
    tops["h"] = str(layout.rank_heads - 1)
    tops["c"] = str(layout.replicas - 1)
    tops["r"] = str(layout.ranks - 1)
    tops["s"] = str(layout.rank_heads // layout.ranks - 1)
    if x:
        tops["g"], tops["x"] = str(dims[0] // x - 1), str(x - 1)
    return tops


def _digits(case: Case, of: str) -> list[str]:
    """Declare an element's digits, then bound them (SMT-7)."""
    tops = _tops(case, of)
    declared: list[str] = []
    bounds: list[str] = []
    for name, term in _terms(case, of):
        plain = term == f"{of}.{name}"
        for digit in name if plain else {"t": ("tb", "ti"), "h": "rs", "d": "gx"}[name]:
            if digit == "tb":
                declared.append(f"(declare-const {of}.y Int)")
                declared.append(f"(define-fun {of}.tb () Int (- m {of}.y))")
                bounds.append(f"(assert (<= 0 {of}.tb))")
                bounds.append(f"(assert (<= {term} (- n 1)))")
            else:
                declared.append(f"(declare-const {of}.{digit} Int)")
                bounds.append(f"(assert (<= 0 {of}.{digit} {tops[digit]}))")
    return declared + bounds


def _along(case: Case, of: str) -> dict[str, str]:
    """Give an element's coordinate along each axis that it may have (LAY-7)."""
    tensor, layout = case.tensor, case.layout
    simple = {"L": "l", "KV": "k", "Ti": "ti", "R": "r", "H": "h", "D": "d", "Dg": "g", "Dx": "x"}
    along = {axis: f"{of}.{digit}" for axis, digit in simple.items()}
    along["T"] = f"(+ {tensor.reserve} {of}.t)"
    along["Tb"] = f"(+ {tensor.reserve} {of}.tb)"
    along["C"] = f"(+ (ite (= {of}.k 0) 0 {case.dims[0]}) {of}.d)"
    if layout.rank_axis == "sharded":
        along["H"] = f"{of}.s"
    elif layout.rank_axis == "replicated":
        along["H"] = "0"
        along["R"] = f"(+ (* {layout.replicas} {of}.h) {of}.c)"
    return along


def _offset_of(of: str, case: Case, along: dict[str, str], wrong: tuple[str, int] | None) -> str:
    """Define a subject's offset, with the wrong stride where one is planted (SMT-7, SMT-10)."""
    terms = []
    for axis, _, stride in case.axes:
        if wrong is not None and wrong[0] == axis:
            stride = wrong[1]
        terms.append(f"(* {stride} {along[axis]})")
    return f"(define-fun {of}.p () Int (+ {' '.join(terms)}))"


def _differences(case: Case, of: str) -> Iterator[str]:
    """Define coordinates along the axes by their differences from those of `a` (SMT-7)."""
    along = _along(case, "a")
    for axis, _, _ in case.axes:
        yield f"(declare-const z.{axis} Int)"
        yield f"(define-fun {of}.{axis} () Int (+ {along[axis]} z.{axis}))"


def _reading(case: Case) -> list[str]:
    """Declare the offset `q`: its digits, what they say, whether they name an element (SMT-8)."""
    layout, tensor, first = case.layout, case.tensor, case.dims[0]
    lines = list(_differences(case, "q"))
    for axis, extent, _ in case.axes[1:]:
        top = "(- e 1)" if axis in _OUTER else str(extent - 1)
        lines.append(f"(assert (<= 0 q.{axis} {top}))")
    lines.append(_offset_of("q", case, {axis: f"q.{axis}" for axis, _, _ in case.axes}, None))
    said = {
        "L": [("l", "q.L")],
        "KV": [("k", "q.KV")],
        "C": [
            ("k", f"(ite (< q.C {first}) 0 1)"),
            ("d", f"(- q.C (ite (< q.C {first}) 0 {first}))"),
        ],
        "T": [("t", f"(- q.T {tensor.reserve})")],
        "Tb": [("tb", f"(- q.Tb {tensor.reserve})")],
        "Ti": [("ti", "q.Ti")],
        "R": [("r", "q.R")],
        "H": [("s" if layout.rank_axis == "sharded" else "h", "q.H")],
        "D": [("d", "q.D")],
        "Dg": [("g", "q.Dg")],
        "Dx": [("x", "q.Dx")],
    }
    if layout.rank_axis == "replicated":
        said["R"] = said["H"] = []
        lines += ["(declare-const q.h Int)", "(declare-const q.c Int)"]
        lines.append(f"(assert (<= 0 q.c {layout.replicas - 1}))")
        lines.append(f"(assert (= q.R (+ (* {layout.replicas} q.h) q.c)))")
    for axis, _, _ in case.axes:
        lines += [f"(define-fun q.{name} () Int {term})" for name, term in said[axis]]
    token = dict(_terms(case, "q"))["t"]
    named = [f"(<= 0 q.{'tb' if layout.block else 't'})", f"(< {token} n)"]
    if case.holds("D"):
        named.append(f"(< q.d {first})")
    lines.append(f"(define-fun q.e () Bool (and {' '.join(named)}))")
    return lines


def _agree(case: Case, other: str) -> str:
    """Say that `a` and another subject agree in every coordinate."""
    theirs = dict(_terms(case, other))
    return f"(and {' '.join(f'(= {term} {theirs[name]})' for name, term in _terms(case, 'a'))})"
