from __future__ import annotations

from dataclasses import replace
from unittest import mock

import numpy as np
import pytest
from numpy.typing import NDArray

from lockstep import limits
from lockstep.hunt import probe as subject
from lockstep.hunt.probe import pair_is_bijective, probe
from lockstep.hunt.small_layouts import ALL, BLOCKED, TOKEN_MAJOR, VECTORISED, cache
from lockstep.layouts.index_map import native_to_canonical
from lockstep.layouts.realise import Realised, realise
from lockstep.layouts.sets import LayoutSet


def realised_members(*sets: LayoutSet) -> list[Realised]:
    found = [realise(layout, each.geometry) for each in sets for layout in each.layouts.values()]
    return [one for one in found if one is not None]


def test_every_layout_is_bijective_with_its_derived_padding(
    seed_set: LayoutSet, latent_set: LayoutSet, rank_set: LayoutSet
) -> None:
    for realised in realised_members(seed_set, latent_set, rank_set):
        found = probe(realised)
        assert found.bijective, realised.layout.name
        assert found.layers_agree
        assert found.positions == realised.positions
        assert found.padding_positions == realised.padding_positions


def test_chunks_of_any_size_find_the_same(rank_set: LayoutSet) -> None:
    for realised in realised_members(rank_set):
        whole = probe(realised)
        with mock.patch.object(limits, "PROBE_CHUNK_POSITIONS", 37):
            assert probe(realised) == whole


@pytest.mark.parametrize("layout", ALL, ids=lambda layout: str(layout.name))
def test_any_single_wrong_position_is_found(layout: object) -> None:
    realised = cache(layout).realised  # type: ignore[arg-type]
    rng = np.random.default_rng(0)
    for position in rng.choice(realised.positions, 20, replace=False).tolist():

        def wrong(one: Realised, start: int, stop: int, at: int = position) -> NDArray[np.int64]:
            found = native_to_canonical(one, start, stop).copy()
            if start <= at < stop:
                other = found[at - start]
                found[at - start] = 1 if other == 0 else 0
            return found

        with mock.patch.object(subject, "native_to_canonical", wrong):
            assert not probe(realised).bijective


def test_a_forgotten_position_is_found() -> None:
    realised = cache(BLOCKED).realised

    def forgetful(one: Realised, start: int, stop: int) -> NDArray[np.int64]:
        found = native_to_canonical(one, start, stop).copy()
        found[0] = -1
        return found

    with mock.patch.object(subject, "native_to_canonical", forgetful):
        assert not probe(realised).bijective


def test_two_elements_at_one_position_are_found() -> None:
    realised = cache(TOKEN_MAJOR).realised
    forward = subject.forward_map(realised)
    forward[3] = forward[4]
    with mock.patch.object(subject, "forward_map", return_value=forward):
        assert not probe(realised).bijective


def test_a_wrong_layer_stride_is_found(rank_set: LayoutSet) -> None:
    realised = realise(rank_set.layouts["across"], rank_set.geometry)
    assert realised is not None
    tensor = realised.tensors[0]
    wrong = replace(tensor, strides=tuple(stride + 1 for stride in tensor.strides))
    assert probe(realised).layers_agree
    assert not probe(replace(realised, tensors=(wrong,))).layers_agree


def test_pairs_are_bijective(rank_set: LayoutSet) -> None:
    members = realised_members(rank_set)
    assert all(pair_is_bijective(src, dst) for src in members for dst in members)


def test_a_pair_with_a_wrong_source_is_found() -> None:
    src, dst = cache(VECTORISED).realised, cache(BLOCKED).realised
    forward = subject.forward_map(src)
    forward[5] = forward[6]
    with mock.patch.object(subject, "forward_map", return_value=forward):
        assert not pair_is_bijective(src, dst)
