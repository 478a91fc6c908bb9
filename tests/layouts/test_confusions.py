"""Confusions that users reported, with the number of positions each of them gets wrong.

Each reads bytes that one layout wrote as if they were another's. A shape never tells the two
apart; the declared layouts do.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lockstep.layouts.declaration import Citation, Component, Geometry, Layout, Tensor
from lockstep.layouts.index_map import canonical_to_native, native_to_canonical, same_image
from lockstep.layouts.realise import Realised, realise
from lockstep.layouts.steps import recipe, run
from lockstep.layouts.words import transformations

INTERLEAVED = ("K", "V")


def layout(axes: str, block: int, *, pad_tokens: int = 0, **fields: Any) -> Layout:
    """One tensor with K and V, or one each where neither KV nor C stands."""
    parts = [INTERLEAVED] if {"KV", "C"} & set(axes.split()) else [("K",), ("V",)]
    return Layout(
        name="case",
        engine="case",
        attention="gqa",
        kv_heads=0,
        ranks=fields.get("ranks", 1),
        rank_axis=fields.get("rank_axis", "none"),
        block=block,
        quantisation="none",
        tensors=tuple(
            Tensor(
                "".join(part).lower(),
                tuple(Component(name) for name in part),
                tuple(axes.split()),
                pad_tokens=pad_tokens,
            )
            for part in parts
        ),
        citation=Citation("a/b", "c", None, "case"),
        source_path="case.toml",
        source_sha256="0" * 64,
    )


def at(blocks: int, block: int, heads: int, dims: int) -> Geometry:
    return Geometry(blocks * block, 2, heads, dims, 0, 0, "float16")


def realised(one: Layout, geometry: Geometry) -> Realised:
    found = realise(one, geometry)
    assert found is not None
    return found


def misread(written: Realised, read: Realised) -> tuple[int, int]:
    """Count the elements that `read` finds elsewhere than `written` put them."""
    count = written.canonical_elements
    wrong = canonical_to_native(written, 0, count) != canonical_to_native(read, 0, count)
    return int(wrong.sum()), count


@pytest.mark.parametrize(
    ("written", "read", "extents", "wrong", "total"),
    [
        # TensorRT-LLM#6507: NHD bytes handed to kernels that split HND.
        ("Tb KV Ti H D", "Tb KV H Ti D", (2, 4, 4, 2), 96, 128),
        # LMCache#2291: blocks first, read as K and V first.
        ("Tb KV Ti H D", "KV Tb Ti H D", (3, 4, 2, 2), 64, 96),
        # The same at two blocks, where the shapes are identical.
        ("Tb KV Ti H D", "KV Tb Ti H D", (2, 4, 2, 2), 32, 64),
        # LMCache#4463: K and V packed in the content, read as two planes.
        ("Tb Ti H C", "KV Tb Ti H D", (3, 4, 2, 2), 92, 96),
    ],
)
def test_reading_one_layout_as_another(
    written: str, read: str, extents: tuple[int, int, int, int], wrong: int, total: int
) -> None:
    geometry = at(*extents)
    one = realised(layout(written, extents[1]), geometry)
    other = realised(layout(read, extents[1]), geometry)
    assert misread(one, other) == (wrong, total)
    assert not same_image(one, other)
    assert transformations(one.layout, other.layout, geometry)


def test_equal_shapes_with_different_meaning_are_told_apart() -> None:
    """LMCache#2291 at two blocks: no tool that sees shapes alone can tell."""
    geometry = at(2, 4, 3, 5)
    one = realised(layout("KV Tb Ti H D", 4), geometry)
    other = realised(layout("Tb KV Ti H D", 4), geometry)
    assert one.native_shapes == other.native_shapes
    assert not same_image(one, other)


def test_the_number_of_blocks_is_not_the_second_extent() -> None:
    """FlexKV#187: shape[1] of a blocks-first cache is K and V."""
    one = realised(layout("Tb KV Ti H D", 4), at(5, 4, 2, 2))
    assert one.native_shapes["kv"] == (5, 2, 4, 2, 2)
    assert one.tensors[0].extent("Tb") == 5


def test_one_rank_of_eight_holds_a_quarter() -> None:
    """vllm#52516: rank 0 alone, where 8 ranks replicate 4 heads: 196,608 of 262,144 missing."""
    geometry = Geometry(256, 1, 4, 64, 0, 0, "float16")
    joint = realised(layout("R KV Tb Ti H D", 16, ranks=8, rank_axis="replicated"), geometry)
    share = joint.positions // 8
    held = native_to_canonical(joint, 0, share)
    whole_bytes = joint.canonical_elements * 2
    assert whole_bytes == 262_144
    assert whole_bytes - len(np.unique(held[held >= 0])) * 2 == 196_608
    every = canonical_to_native(joint, 0, joint.canonical_elements)
    assert joint.replicas == 2
    assert every.shape == (joint.canonical_elements, 2)
    # The two copies of a head lie on neighbouring ranks.
    assert (every // share == every[:, :1] // share + np.array([0, 1])).all()


@pytest.mark.parametrize(
    ("small", "large", "wrong"), [("Tb H Ti D", "Tb H Ti D", 8), ("Tb Ti H D", "Tb Ti H D", 0)]
)
def test_merging_two_blocks_is_a_view_for_nhd_only(small: str, large: str, wrong: int) -> None:
    """vllm#26744: blocks of 2 merged into blocks of 4, at 4 tokens, 2 heads, 2 dimensions."""
    geometry = Geometry(4, 1, 2, 2, 0, 0, "float16")
    one, other = realised(layout(small, 2), geometry), realised(layout(large, 4), geometry)
    count = one.canonical_elements // 2
    moved = canonical_to_native(one, 0, count) != canonical_to_native(other, 0, count)
    assert (int(moved.sum()), count) == (wrong, 16)


def test_pitch_keeps_its_rows_apart() -> None:
    """T = 40 in kv_size 256, with H = 2 and D = 8: a plain reshape gets 600 of 640 wrong."""
    geometry = Geometry(40, 1, 2, 8, 0, 0, "float16")
    one = realised(layout("H D T", 0, pad_tokens=256), geometry)
    assert one.native_shapes == {"k": (2, 8, 256), "v": (2, 8, 256)}
    assert one.padding_positions == 2 * 2 * 8 * (256 - 40)
    inverse = native_to_canonical(one, 0, one.positions)
    forward = canonical_to_native(one, 0, one.canonical_elements)[:, 0]
    assert np.array_equal(inverse[forward], np.arange(one.canonical_elements))
    dense = realised(layout("H D T", 0), geometry)
    wrong = canonical_to_native(dense, 0, 640) != canonical_to_native(one, 0, 640)
    assert int(wrong.sum()) == 600


def test_reblocking_between_sizes_that_do_not_divide() -> None:
    geometry = Geometry(40, 1, 3, 2, 0, 0, "float16")
    for first, second in ((16, 24), (24, 16)):
        src, dst = layout("KV Tb H Ti D", first), layout("Tb KV Ti H D", second)
        one, other = realised(src, geometry), realised(dst, geometry)
        source = native_to_canonical(one, 0, one.positions).reshape(one.native_shapes["kv"])
        native = run(recipe(src, dst, geometry), {"kv": source})["kv"].reshape(-1)
        wanted = native_to_canonical(other, 0, other.positions)
        assert np.array_equal(native[wanted >= 0], wanted[wanted >= 0])
        assert "reblock" in transformations(src, dst, geometry)


def test_vllm_0_22_against_0_29_of_the_published_document(catalogue: Path) -> None:
    """At the seed's geometry 1,520 of 1,536 positions are mis-addressed."""
    from lockstep.layouts.declaration import load

    geometry = Geometry(40, 3, 2, 8, 0, 0, "float16")
    one = realised(load(catalogue / "seed-004" / "vllm-fa.toml"), geometry)
    other = realised(load(catalogue / "vllm" / "vllm-lbnhc.toml"), geometry)
    assert one.positions == other.positions == 1536
    slots = np.arange(1536).reshape(one.native_shapes["kv"])
    repacked = slots.transpose(1, 2, 3, 0, 4).reshape(-1)
    assert int((repacked != np.arange(1536)).sum()) == 1520
