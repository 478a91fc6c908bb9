from __future__ import annotations

import numpy as np
import pytest

from lockstep.hunt.checks import grade, relabel
from lockstep.hunt.native import (
    Arrays,
    Cache,
    read_by_index,
    same,
    to_elements,
    to_slots,
    write_by_index,
    write_by_steps,
)
from lockstep.hunt.payloads import PAYLOADS, fill
from lockstep.hunt.small_layouts import BLOCKED, HEAD_MAJOR, TOKEN_MAJOR, bench, cache, model
from lockstep.hunt.transfer import (
    Bench,
    gather_agrees,
    observe,
    payload_slots,
    stored_elements,
    translator,
)
from lockstep.layouts.realise import realise
from lockstep.layouts.sets import LayoutSet


def test_payloads_differ_in_type_and_content() -> None:
    contents = [make(64, bits, 4) for _, bits, make in PAYLOADS]
    assert len(PAYLOADS) == 6
    assert {array.dtype.itemsize for array in contents} == {2, 4, 8}
    assert np.isnan(contents[3].view(np.float16)).all()
    denormals = np.abs(contents[4].view(np.float32))
    assert np.all(denormals < np.finfo(np.float32).tiny)
    assert len(np.unique(contents[5])) == 64


def test_fills_differ_at_every_slot_and_are_not_zero() -> None:
    plain, inverted = fill(70_000, 16), fill(70_000, 16, inverted=True)
    assert np.all(plain != inverted)
    assert np.all(plain != 0)


def test_steps_and_index_map_write_alike(latent_set: LayoutSet, rank_set: LayoutSet) -> None:
    for each in (latent_set, rank_set):
        contents = Bench(each.geometry, (0, 1), 4)
        for layout in each.layouts.values():
            realised = realise(layout, each.geometry)
            assert realised is not None
            side = Cache(realised)
            assert contents.index_agrees(side, 1), layout.name
            stored = stored_elements(side, contents.state(side, 1))
            slots = to_slots(side, stored)
            assert same(read_by_index(side, write_by_steps(side, slots)), slots)
            assert same(to_elements(side, slots), stored)


@pytest.mark.parametrize("place", range(len(PAYLOADS)))
def test_every_payload_arrives(place: int) -> None:
    src, dst = cache(BLOCKED), cache(HEAD_MAJOR)
    slots = payload_slots(src, place, 4)
    assert same(translator(src, dst)(write_by_index(src, slots), False), write_by_index(dst, slots))


def test_one_swapped_pair_of_slots_is_found_by_every_leg() -> None:
    src, dst = cache(TOKEN_MAJOR), cache(HEAD_MAJOR)
    right = translator(src, dst)

    def swapping(arrays: Arrays, inverted: bool) -> Arrays:
        moved = {name: array.copy() for name, array in right(arrays, inverted).items()}
        flat = moved["k"].reshape(-1)
        flat[[3, 4]] = flat[[4, 3]]
        return moved

    contents = bench()
    row = observe(contents, src, dst, model(contents), there=swapping)
    assert row.forward_reproduces_target is False
    assert row.roundtrip_diff_is_exactly_unread_padding is False
    assert row.roundtrip_diff_positions == 2 * len(contents.layers)
    assert grade(row) == "NOT_EXACT"
    assert not gather_agrees(src, dst, 4, swapping)


def test_padding_that_is_read_changes_the_tokens() -> None:
    src, dst = cache(BLOCKED), cache(TOKEN_MAJOR)
    right = translator(src, dst)

    def shifted(arrays: Arrays, inverted: bool) -> Arrays:
        return right({name: np.roll(array, 1, axis=2) for name, array in arrays.items()}, inverted)

    contents = bench()
    row = observe(contents, src, dst, model(contents), there=shifted)
    assert row.tokens_identical is False
    assert grade(row) == "NOT_EXACT"


def test_relabelling_round_trips_and_is_not_exact() -> None:
    src, dst = cache(TOKEN_MAJOR), cache(HEAD_MAJOR)
    contents = bench()
    row = observe(contents, src, dst, model(contents), relabel(dst), relabel(src))
    assert row.roundtrip_byte_identical is True
    assert row.tokens_identical is False
    assert grade(row) == "NOT_EXACT"


def test_without_a_model_no_tokens_are_observed() -> None:
    row = observe(bench(), cache(TOKEN_MAJOR), cache(HEAD_MAJOR), None)
    assert row.tokens_identical is None
    assert row.decoded_tokens is None
    assert grade(row) == "UNPROVEN"
