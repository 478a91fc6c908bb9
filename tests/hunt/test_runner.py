from __future__ import annotations

from dataclasses import replace
from unittest import mock

import pytest

from lockstep import limits
from lockstep.errors import LockstepError
from lockstep.hunt import HuntObservations, hunt
from lockstep.layouts.sets import Group, LayoutSet


def test_progress_is_told_of_every_part(seed_set: LayoutSet) -> None:
    told: list[str] = []
    hunt(seed_set, progress=lambda what, done, whole: told.append(what))
    assert list(dict.fromkeys(told)) == [
        "walking layouts",
        "choosing the model",
        "comparing writers with index maps",
        "moving and decoding pairs",
        "running the checks and known limits",
    ]


def test_a_narrower_head_puts_pairs_beyond_the_frontier(seed_set: LayoutSet) -> None:
    observed = hunt(seed_set, replace(seed_set.geometry, head_dim=6))
    assert "sglang->vllm-fa" in observed.rows
    assert not any("vllm-paged-x" in name for name in observed.rows)


def _anchored(layout_set: LayoutSet, anchor: str) -> LayoutSet:
    return replace(layout_set, groups=(Group(anchor, layout_set.groups[0].members),))


@pytest.mark.parametrize(
    ("anchor", "code"),
    [("vllm-paged-x", "X4_GEOMETRY_UNREPRESENTABLE"), ("vllm-tp2", "X2_HEAD_GATHER")],
)
def test_an_anchor_that_does_not_exist_refuses_the_geometry(
    seed_set: LayoutSet, anchor: str, code: str
) -> None:
    with pytest.raises(LockstepError) as refused:
        hunt(_anchored(seed_set, anchor), replace(seed_set.geometry, head_dim=6))
    assert refused.value.code == code
    assert refused.value.pointer == "/groups/0/anchor"


def test_latent_extents_without_a_latent_layout_are_refused(seed_set: LayoutSet) -> None:
    with pytest.raises(LockstepError) as refused:
        hunt(seed_set, replace(seed_set.geometry, latent_dim=512))
    assert (refused.value.code, refused.value.pointer) == ("BAD_VALUE", "/geometry/latent_dim")


def test_a_geometry_beyond_the_limit_is_refused(seed_set: LayoutSet) -> None:
    with pytest.raises(LockstepError) as refused:
        hunt(seed_set, replace(seed_set.geometry, tokens=1 << 24, kv_heads=1024))
    assert refused.value.code == "BAD_VALUE"


def test_a_large_layer_is_moved_at_both_ends_and_gives_the_same_rows(
    seed_set: LayoutSet, observed: HuntObservations
) -> None:
    with mock.patch.object(limits, "PAIR_WALK_ELEMENTS", 100):
        large = hunt(seed_set)
    assert large.layers == (0, 2)
    assert large.gather_payloads == 2
    assert large.rows.keys() == observed.rows.keys()
    for name, row in large.rows.items():
        small = observed.rows[name]
        assert row.forward_reproduces_target == small.forward_reproduces_target
        assert row.roundtrip_byte_identical == small.roundtrip_byte_identical
        assert row.gather_agrees is True
        assert row.walk_is_bijective is None


def test_images_that_are_not_kept_are_written_anew(
    seed_set: LayoutSet, observed: HuntObservations
) -> None:
    with mock.patch.object(limits, "IMAGE_BYTES", 0):
        assert hunt(seed_set).rows == observed.rows


def test_latent_layouts_are_hunted_and_a_quantised_record_is_not_exact(
    latent_set: LayoutSet,
) -> None:
    observed = hunt(latent_set)
    exact = observed.rows["plain->paged"]
    assert exact.forward_reproduces_target is True
    assert exact.tokens_identical is True
    there, back = observed.rows["plain->record"], observed.rows["record->plain"]
    assert there.forward_reproduces_target is True
    assert there.roundtrip_diff_is_exactly_unread_padding is False
    assert there.gather_agrees is True
    assert back.forward_reproduces_target is False
    assert back.roundtrip_diff_is_exactly_unread_padding is True
    assert back.roundtrip_byte_identical is True


def test_rank_layouts_are_hunted(rank_set: LayoutSet) -> None:
    observed = hunt(rank_set)
    for name, row in observed.rows.items():
        assert row.forward_reproduces_target is True, name
        assert row.roundtrip_diff_is_exactly_unread_padding is True, name
        assert row.tokens_identical is True, name
        assert row.gather_agrees is True, name
        assert row.walk_is_bijective is True, name
