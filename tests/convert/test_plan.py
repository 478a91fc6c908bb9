"""Every pair of declared layouts, held against the index maps, and what is refused."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lockstep.convert import kernels
from lockstep.convert.buffers import APART, Placement
from lockstep.convert.copies import Copy, Loop
from lockstep.convert.document import document
from lockstep.convert.execute import convert
from lockstep.convert.plan import Plan, folded, joined, plan
from lockstep.errors import LockstepError
from lockstep.layouts import catalogue
from lockstep.layouts.declaration import Layout
from lockstep.layouts.geometry import Geometry
from tests.convert.natives import UNTOUCHED, native

# Every extent differs from every other, and none is 1; 40 tokens fill no block of 16, 24 or 32.
GEOMETRY = Geometry(40, 3, 4, 16, 256, 64, "float16")
LAYOUTS = [catalogue.find(name) for name in catalogue.members()]
ENGINES = ("numba", "numpy") if kernels.installed() else ("numpy",)


def planned(source: Layout, destination: Layout) -> Plan | str:
    try:
        return plan(source, destination, GEOMETRY)
    except LockstepError as fault:
        return fault.code


@pytest.mark.parametrize("source", LAYOUTS, ids=lambda one: one.source_path)
def test_what_a_plan_moves_is_what_the_index_maps_say(source: Layout) -> None:
    outcomes: Counter[str] = Counter()
    for destination in LAYOUTS:
        made = planned(source, destination)
        if isinstance(made, str):
            outcomes[made] += 1
            continue
        outcomes["planned"] += 1
        wanted = native(destination, GEOMETRY)
        engine = ENGINES[outcomes["planned"] % len(ENGINES)]
        found = [np.full_like(one, UNTOUCHED) for one in wanted]
        convert(made, native(source, GEOMETRY), found, threads=1, engine=engine)
        for got, due in zip(found, wanted, strict=True):
            assert np.array_equal(got, due), (source.source_path, destination.source_path, engine)
    refused = {"X1_LATENT_KV", "X2_HEAD_GATHER", "X4_GEOMETRY_UNREPRESENTABLE", "NOT_LOSSLESS"}
    assert set(outcomes) <= {"planned", *refused}
    assert sum(outcomes.values()) == len(LAYOUTS)


def test_a_pair_without_an_exact_map_is_refused_by_its_code() -> None:
    found = {
        pair: planned(catalogue.find(pair[0]), catalogue.find(pair[1]))
        for pair in (
            ("vllm/vllm-mla", "vllm/vllm-0.22-nhd"),
            ("vllm/vllm-tp-shard", "vllm/vllm-0.22-nhd"),
            ("vllm/vllm-fp8", "vllm/vllm-0.22-nhd"),
        )
    }
    assert list(found.values()) == ["X1_LATENT_KV", "X2_HEAD_GATHER", "NOT_LOSSLESS"]
    uneven = replace(GEOMETRY, kv_heads=3)
    with pytest.raises(LockstepError) as fault:
        plan(catalogue.find("vllm/vllm-tp2"), catalogue.find("vllm/vllm-0.22-nhd"), uneven)
    assert fault.value.code == "X4_GEOMETRY_UNREPRESENTABLE"


@pytest.mark.parametrize(("one", "other"), [(16, 24), (24, 16), (2, 3), (16, 32)])
def test_blocks_of_any_two_sizes(one: int, other: int) -> None:
    layout = catalogue.find("vllm/vllm-0.22-hnd")
    source, destination = replace(layout, block=one), replace(layout, block=other)
    wanted = native(destination, GEOMETRY)
    found = [np.full_like(buffer, UNTOUCHED) for buffer in wanted]
    convert(plan(source, destination, GEOMETRY), native(source, GEOMETRY), found)
    assert all(np.array_equal(a, b) for a, b in zip(found, wanted, strict=True))


@pytest.mark.parametrize(("one", "other"), [(2, 4), (4, 2), (4, 1), (1, 2)])
def test_shards_of_any_two_numbers_of_ranks(one: int, other: int) -> None:
    layout = catalogue.find("vllm/vllm-tp2")
    whole = catalogue.find("vllm/vllm-0.22-nhd")
    source = whole if one == 1 else replace(layout, ranks=one)
    destination = whole if other == 1 else replace(layout, ranks=other)
    made = plan(source, destination, GEOMETRY)
    assert len(made.source.buffers) == GEOMETRY.layers * one
    wanted = native(destination, GEOMETRY)
    found = [np.full_like(buffer, UNTOUCHED) for buffer in wanted]
    convert(made, native(source, GEOMETRY), found)
    assert all(np.array_equal(a, b) for a, b in zip(found, wanted, strict=True))


def test_blocks_lie_where_the_tables_say() -> None:
    layout = catalogue.find("vllm/vllm-0.23-nhd")
    at = Placement(9, (7, 0, 4)), Placement(5, (2, 4, 1))
    made = plan(layout, layout, GEOMETRY, *at)
    rng = np.random.default_rng(1)
    source = [rng.integers(0, 256, one.bytes, dtype=np.uint8) for one in made.source.buffers]
    found = convert(made, source)
    for got, came in zip(found, source, strict=True):
        blocks, pool = got.reshape(5, 2, 16, -1), came.reshape(9, 2, 16, -1)
        for number, (to, there) in enumerate(
            zip(at[1].table or (), at[0].table or (), strict=True)
        ):
            tokens = min(16, 40 - 16 * number)
            assert np.array_equal(blocks[to, :, :tokens], pool[there, :, :tokens])
            assert not blocks[to, :, tokens:].any()
        assert not blocks[[0, 3]].any()


@pytest.mark.parametrize(
    "placement",
    [
        Placement(9, (7, 7, 4)),
        Placement(9, (7, 9, 4)),
        Placement(9, (7, -1, 4)),
        Placement(9, (7, 4)),
        Placement(9, (7, 2**70, 4)),
        Placement(9, (7, 2**63, 4)),
        Placement(9, (7.0, 0.0, 4.0)),  # type: ignore[arg-type]
        Placement(9, ("7", "0", "4")),  # type: ignore[arg-type]
        Placement(9, ((7, 0, 4),)),  # type: ignore[arg-type]
        Placement(9, ()),
        Placement(2),
        Placement(-1),
        Placement(9.0),  # type: ignore[arg-type]
    ],
)
def test_a_table_that_is_no_injection_is_refused(placement: Placement) -> None:
    layout = catalogue.find("vllm/vllm-0.23-nhd")
    pairs = {"source": (placement, Placement()), "destination": (Placement(), placement)}
    for name, pair in pairs.items():
        with pytest.raises(LockstepError) as fault:
            plan(layout, layout, GEOMETRY, *pair)
        assert fault.value.code == "BAD_VALUE"
        assert fault.value.pointer.startswith(f"{name} vllm-0.23-nhd ")


@pytest.mark.parametrize(
    ("limit", "where"),
    [
        ("plan.MOST_COPIES", "plan"),
        ("buffers.MOST_BUFFERS", "source hf-dynamic"),
        (None, "destination vllm-0.23-nhd"),
    ],
)
def test_what_is_too_much_for_a_plan_is_refused(
    monkeypatch: pytest.MonkeyPatch, limit: str | None, where: str
) -> None:
    pair = catalogue.find("huggingface/hf-dynamic"), catalogue.find("vllm/vllm-0.23-nhd")
    made = plan(*pair, GEOMETRY)
    # One copy or buffer fewer than there are; or a pool whose buffer is longer than addresses go.
    least = {"plan": len(made.copies), "source hf-dynamic": len(made.source.buffers)}
    placement = Placement(None if limit else 1 << 32)
    if limit:
        monkeypatch.setattr(f"lockstep.convert.{limit}", least[where])
        plan(*pair, GEOMETRY)
        monkeypatch.setattr(f"lockstep.convert.{limit}", least[where] - 1)
    with pytest.raises(LockstepError) as fault:
        plan(*pair, GEOMETRY, destination_placement=placement)
    assert (fault.value.code, fault.value.pointer) == ("BAD_VALUE", where)


def test_numbers_of_other_libraries_are_numbers() -> None:
    layout = catalogue.find("vllm/vllm-0.23-nhd")
    own = plan(layout, layout, GEOMETRY, Placement(9, (7, 0, 4)))
    pool, table = np.int32(9), np.array([7, 0, 4], dtype=np.uint8)
    given = Placement(pool, table)  # type: ignore[arg-type]
    assert document(plan(layout, layout, GEOMETRY, given)) == document(own)


@settings(max_examples=60, deadline=None)
@given(st.permutations(range(9)), st.permutations(range(7)), st.integers(1, 7))
def test_any_tables(came: list[int], to: list[int], blocks: int) -> None:
    layout = catalogue.find("vllm/vllm-0.22-hnd")
    geometry = Geometry(2 * blocks - 1, 2, 2, 4, 0, 0, "float16")
    placements = Placement(9, tuple(came[:blocks])), Placement(7, tuple(to[:blocks]))
    layout = replace(layout, block=2)
    made = plan(layout, layout, geometry, *placements)
    source = [np.arange(one.bytes // 2, dtype="<u2") for one in made.source.buffers]
    for got, all_came in zip(convert(made, source, engine="numpy"), source, strict=True):
        due = np.zeros((2, 7, 2, 2, 4), dtype="<u2")
        shaped = all_came.reshape(2, 9, 2, 2, 4)
        for number in range(blocks):
            held = 1 if number == blocks - 1 else 2
            due[:, to[number], :, :held] = shaped[:, came[number], :, :held]
        assert np.array_equal(got.view("<u2"), due.reshape(-1))


STEPS = st.lists(st.integers(-3, 40), min_size=0, max_size=24)


@given(STEPS, st.data())
def test_pieces_hold_each_pair_once(source: list[int], data: st.DataObject) -> None:
    destination = data.draw(
        st.lists(st.integers(-3, 40), min_size=len(source), max_size=len(source))
    )
    a, b = (np.array(one, dtype=np.int64) for one in (source, destination))
    pairs = []
    for piece in folded(a, b):
        at = [(piece.source, piece.destination)]
        for loop in piece.loops:
            at = [(x + i * loop.source, y + i * loop.destination)
                  for x, y in at for i in range(loop.times)]  # fmt: skip
        pairs += at
    assert sorted(pairs) == sorted(zip(source, destination, strict=True))


def test_runs_that_touch_are_one() -> None:
    loops = (Loop(3, 64, 64), Loop(4, 16, 16), Loop(8, 2, 2))
    assert joined(Copy(0, 0, 2, loops)) == Copy(0, 0, 192, ())
    apart = (Loop(3, 64, 128), Loop(4, 16, 32), Loop(8, 2, 2))
    assert joined(Copy(0, 0, 2, apart)) == Copy(0, 0, 16, (Loop(12, 16, 32),))


def test_equal_layouts_are_one_run_a_buffer() -> None:
    layout = catalogue.find("vllm/vllm-0.22-nhd")
    made = plan(layout, layout, replace(GEOMETRY, tokens=48))
    assert made.copies == (Copy(0, 0, 2 * 48 * 4 * 16 * 2, (Loop(3, APART, APART),)),)


def of_one_copy() -> Plan:
    layout = catalogue.find("vllm/vllm-0.22-nhd")
    return plan(layout, catalogue.find("lmcache/lmcache-kv-2ltd"), GEOMETRY)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ("beyond", "runs within buffers of the destination"),
        ("behind", "runs within buffers of the source"),
        ("before", "runs within buffers of the source"),
        ("twice", "runs apart in the destination"),
        ("short", "30720 bytes copied"),
        ("none", "runs of a byte or more, once or more"),
        ("never", "runs of a byte or more, once or more"),
    ],
)
def test_a_plan_that_is_none_is_told(change: str, expected: str) -> None:
    made = of_one_copy()
    (first,) = made.copies
    half = first.length // 2
    copies = {
        "beyond": [first._replace(destination=first.destination + 64)],
        "behind": [first._replace(source=first.source + APART * 40)],
        # Of no buffer, though one counted from the end would be long enough.
        "before": [first._replace(source=first.source - APART)],
        "twice": [first._replace(length=half, loops=(*first.loops, Loop(2, half, 0)))],
        "short": [first._replace(length=half)],
        "none": [first, Copy(0, 0, 0, ())],
        "never": [first, Copy(0, 0, 1, (Loop(0, 0, 0),))],
    }[change]
    with pytest.raises(LockstepError) as fault:
        replace(made, copies=tuple(copies))
    assert (fault.value.code, fault.value.pointer) == ("BAD_VALUE", "plan")
    assert fault.value.expected == expected
    assert "lockstep.convert.plan.plan" in str(fault.value)


@pytest.mark.parametrize(
    "copies",
    [
        None,
        [None],
        [(0, 0, 1.0, ())],
        [(0, 0, "a", ())],
        [(0, 0, 1, None)],
        [(0, 0, 1, [(1, 2)])],
        [(0, 0, 1)],
        [(0, 0, 1, [(1 << 40, 0, 1)])],
        [(0, 0, 1, [(30720, 0, APART)])],
        [(0, 0, 15360, [(2, 0, 1 << 63)])],
        [(0, 0, 1, [(30720, 1, np.int32(1 << 30))])],
    ],
)
def test_copies_that_no_memory_has_are_refused(copies: Any) -> None:
    """Also where steps are of a type that wraps, or there is no memory to look at each run."""
    made = of_one_copy()
    with pytest.raises(LockstepError) as fault:
        replace(made, copies=copies)
    assert (fault.value.code, fault.value.pointer) == ("BAD_VALUE", "plan")


def test_a_plan_owns_its_copies() -> None:
    made = of_one_copy()
    (first,) = made.copies
    loops: Any = [*first.loops, *[Loop(1, 5, 7)] * 70]
    copies: Any = [first._replace(loops=loops)]
    other = replace(made, copies=copies)
    loops.append(Loop(1000, 0, 1 << 30))
    copies.append(first)
    assert other == made


def test_many_copies_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    made = of_one_copy()
    (first,) = made.copies
    (times, away, near), *inner = first.loops
    copies = tuple(
        Copy(first.source + at * away, first.destination + at * near, first.length, tuple(inner))
        for at in range(times)
    )
    assert replace(made, copies=copies).bytes == made.bytes
    monkeypatch.setattr("lockstep.convert.plan.MOST_COPIES", times - 1)
    with pytest.raises(LockstepError, match="at most"):
        replace(made, copies=copies)


def test_a_plan_leaves_no_buffer_between_others() -> None:
    made = of_one_copy()
    first, second, third = made.source.buffers
    shorter = replace(second, bytes=second.bytes // 2)
    with pytest.raises(LockstepError, match="within buffers of the source"):
        replace(made, source=replace(made.source, buffers=(first, shorter, third)))
