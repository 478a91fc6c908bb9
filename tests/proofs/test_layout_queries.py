"""The texts of layouts' queries: they say what enumeration finds, whatever the strides."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from itertools import product

import pytest

from lockstep import spec
from lockstep.layouts.catalogue import find
from lockstep.layouts.declaration import Layout
from lockstep.layouts.geometry import Geometry
from lockstep.layouts.realise import realise
from lockstep.layouts.sets import load_set
from lockstep.proofs import layout_queries as texts
from lockstep.proofs import replay
from lockstep.proofs.geometries import Case, Excluded, _cases, geometries, plan
from lockstep.proofs.layout_queries import SHOWS, Planted, guards, proofs
from lockstep.proofs.replay import Element
from lockstep.proofs.solvers import Solver

# Each with a change of the declaration that suits the tiny geometry, so that all axes occur.
TINY = [
    ("vllm/vllm-paged-x", {"block": 2}, {"x": 2}),
    ("vllm/vllm-tp2", {"block": 3}, {}),
    ("vllm/vllm-tp8-replicated", {"block": 2, "ranks": 4}, {}),
    ("vllm/vllm-0.26-nhd", {"block": 4}, {}),
    ("vllm/vllm-cross-layer-hnd", {"block": 2}, {}),
    ("huggingface/hf-static", {}, {"pad_tokens": 4}),
    ("sglang/sglang-page64", {}, {"reserve": 2, "pad_tokens": 2}),
    ("tpu/tpu-ragged-v3", {"block": 2}, {"pad_head_dim": 3}),
    ("vllm/vllm-mla", {"block": 2}, {}),
    ("vllm/vllm-mla-tp2", {"block": 2}, {}),
]


def declared(name: str, changes: dict[str, int], tensor: dict[str, int]) -> Layout:
    layout = find(name)
    tensors = tuple(
        dataclasses.replace(t, **{k: v for k, v in tensor.items() if getattr(t, k)})
        for t in layout.tensors
    )
    return dataclasses.replace(layout, **changes, tensors=tensors)


def cases(layout: Layout, geometry: Geometry, mode: str = "fixed") -> list[Case]:
    realised = realise(layout, geometry)
    assert realised is not None
    return _cases(layout, "tiny", mode, realised)


def elements(case: Case) -> Iterator[Element]:
    """Every element of a case, and every copy of one."""
    geometry = case.realised.geometry
    heads = case.heads if case.has("H") or case.has("R") else 1
    layers = geometry.layers if case.has("L") else 1
    for component, part in enumerate(case.tensor.components):
        for layer, token, head, copy, dim in product(
            range(layers),
            range(geometry.tokens),
            range(heads),
            range(case.realised.replicas),
            range(part.head_dim),
        ):
            yield component, layer, token, head, copy, dim


def broken(case: Case, planted: Planted | None) -> set[str]:
    """Name what does not hold of a case with a planted stride, by looking at every element."""
    strides = replay._strides(case, case.tensor, planted)
    true = replay._strides(case, case.tensor, None)
    places = {
        element: replay._place(case.realised, case.tensor, strides, element)
        for element in elements(case)
    }
    held = {
        place: replay._read(case.realised, case.tensor, true, place) for place in range(case.size)
    }
    found = set()
    if not all(0 <= place < case.size for place in places.values()):
        found.add("in-bounds")
    if len(set(places.values())) < len(places):
        found.add("injective")
    if any(held.get(place) != element for element, place in places.items()):
        found.add("round-trip")
    used = set(places.values())
    if any(
        place in used if element is None else places[element] != place
        for place, element in held.items()
    ):
        found.add("padding")
    return found


@pytest.mark.parametrize(("name", "changes", "tensor"), TINY, ids=[t[0] for t in TINY])
def test_the_texts_say_what_enumeration_finds(
    name: str,
    changes: dict[str, int],
    tensor: dict[str, int],
    tiny: dict[str, Geometry],
    both: tuple[Solver, ...],
) -> None:
    layout = declared(name, changes, tensor)
    for case in cases(layout, tiny[layout.attention]):
        wrong = [None, *(Planted(axis.name, stride) for axis in case.axes for stride in (0, 1, 3))]
        if len(wrong) > 8:
            wrong = wrong[:1] + wrong[1::2]
        for planted in wrong:
            found = broken(case, planted)
            assert planted is not None or not found
            for kind in SHOWS:
                said = both[0].ask(texts._text(case, kind, planted), ())
                assert said.answer == ("sat" if kind in found else "unsat"), (kind, planted)


def test_every_axis_occurs_in_the_tiny_cases() -> None:
    held = {axis for name, *_ in TINY for tensor in find(name).tensors for axis in tensor.opened}
    assert held >= set(spec.load("hunt.json")["axis_tokens"]) - {"1"}


@pytest.mark.parametrize("name", ["engines", "seed-004"])
def test_no_combination_is_left_out(name: str) -> None:
    layouts = tuple(load_set(name).layouts.values())
    data = spec.load("smt.json")
    planned = plan(layouts)
    combinations = {
        (e.layout if isinstance(e, Excluded) else e.layout.name, e.geometry, e.mode)
        for e in planned
    }
    wanted = product((one.name for one in layouts), geometries(), data["modes"])
    assert combinations == set(wanted)
    assert {e.reason for e in planned if isinstance(e, Excluded)} == set(data["reasons"])
    assert list(SHOWS) == data["kinds"]


def test_texts_are_short_and_linear(small) -> None:
    for case in plan(tuple(small.layouts.values())):
        if isinstance(case, Case):
            queries = [*proofs(case).values(), *(guard.query for guard in guards(case).values())]
            assert len({query.name for query in queries}) == 2 * len(SHOWS)
            for query in queries:
                assert len(query.text) < 4096
                assert not {"div", "mod", "forall", "exists"} & set(query.text.split())
                assert query.constants[0] in ("n", "m")


def test_any_token_count_is_proved_without_naming_the_geometrys(small) -> None:
    for case in plan(tuple(small.layouts.values())):
        if isinstance(case, Case) and case.mode == "any":
            for query in proofs(case).values():
                assert str(case.realised.geometry.tokens) not in query.text
