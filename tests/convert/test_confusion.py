"""Confusions that users reported: bytes made by each, and what explains them [CONV-13]."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from numpy.typing import NDArray

from lockstep.convert import told
from lockstep.convert.confusion import Difference, difference
from lockstep.convert.execute import convert
from lockstep.convert.plan import plan
from lockstep.layouts import catalogue
from lockstep.layouts.declaration import Layout, Tensor
from lockstep.layouts.geometry import Geometry

Bytes = NDArray[np.uint8]


def of(axes: str, block: int) -> Layout:
    """Give a declared layout another order of axes, and other blocks."""
    base = catalogue.find("vllm/vllm-0.22-nhd")
    only = base.tensors[0]
    changed = Tensor(only.name, only.components, tuple(axes.split()))
    return replace(base, block=block, tensors=(changed,))


def at(blocks: int, block: int, heads: int, dims: int) -> Geometry:
    return Geometry(blocks * block, 1, heads, dims, 0, 0, "float32")


def distinct(source: Layout, geometry: Geometry) -> Bytes:
    """Give the source's bytes, each element its own position."""
    made = plan(source, source, geometry)
    return np.arange(made.source.bytes // 4, dtype="<u4").view(np.uint8)


def written(source: Layout, layout: Layout, geometry: Geometry, content: Bytes) -> Bytes:
    made = plan(source, layout, geometry)
    starts = np.cumsum([0, *(one.bytes for one in made.source.buffers)])
    parts = [content[a:b] for a, b in pairwise(starts)]
    return np.concatenate(convert(made, parts))


def texts(found: Difference) -> list[str]:
    return [one.confusion.text for one in found.explanations]


@pytest.mark.parametrize(
    ("wrote", "due", "extents", "wrong", "total"),
    [
        # TensorRT-LLM#6507: NHD bytes where kernels split HND.
        ("Tb KV Ti H D", "Tb KV H Ti D", (2, 4, 4, 2), 96, 128),
        # LMCache#2291: blocks first, read as K and V first; and at two blocks, of equal shapes.
        ("Tb KV Ti H D", "KV Tb Ti H D", (3, 4, 2, 2), 64, 96),
        ("Tb KV Ti H D", "KV Tb Ti H D", (2, 4, 2, 2), 32, 64),
        # LMCache#4463: K and V joined in the content, read as two planes.
        ("Tb Ti H C", "KV Tb Ti H D", (3, 4, 2, 2), 92, 96),
    ],
)
def test_one_layout_taken_for_another(
    wrote: str, due: str, extents: tuple[int, int, int, int], wrong: int, total: int
) -> None:
    geometry, block = at(*extents), extents[1]
    source, real, expected = of("KV Tb Ti H D", block), of(wrote, block), of(due, block)
    content = distinct(source, geometry)
    found = difference(
        source, expected, geometry, content, written(source, real, geometry, content)
    )
    assert (found.differing, found.positions, found.missing) == (wrong, total, 0)
    assert found.explanations
    assert {one.elsewhere for one in found.explanations} == {wrong}
    if "C" not in wrote:
        assert f"written as axes {wrote}" in texts(found)


def test_the_number_of_blocks_taken_from_the_wrong_extent() -> None:
    """FlexKV#187: (5, 2, 4, 2, 2), of which shape[1] blocks were moved."""
    geometry = at(5, 4, 2, 2)
    source, due = of("KV Tb Ti H D", 4), of("Tb KV Ti H D", 4)
    content = distinct(source, geometry)
    whole = written(source, due, geometry, content)
    found = difference(source, due, geometry, content, whole[: len(whole) * 2 // 5])
    assert texts(found) == ["2 of 5 blocks, an extent of the shape taken for their number"]
    assert found.differing == found.missing == found.positions * 3 // 5
    assert found.explanations[0].elsewhere == found.positions * 3 // 5


def test_one_rank_of_eight() -> None:
    """vllm#52516: 4 heads on 8 ranks; rank 0 holds a quarter of 262,144 bytes."""
    geometry = Geometry(256, 1, 4, 64, 0, 0, "float16")
    source = catalogue.find("vllm/vllm-0.22-nhd")
    due = catalogue.find("vllm/vllm-tp8-replicated")
    made = plan(source, due, geometry)
    content = np.random.default_rng(1).integers(0, 256, made.source.bytes, dtype=np.uint8)
    whole = written(source, due, geometry, content)
    found = difference(source, due, geometry, content, whole[: len(whole) // 8])
    assert texts(found) == ["rank 0 of 8 alone"]
    assert found.explanations[0].elsewhere * 2 == 196_608


def side_bytes(source: Layout, destination: Layout, geometry: Geometry) -> tuple[Bytes, Bytes]:
    """Give both sides' bytes as they should be, none of them zero."""
    made = plan(source, source, geometry)
    content = np.random.default_rng(1).integers(1, 256, made.source.bytes, dtype=np.uint8)
    return content, written(source, destination, geometry, content)


@pytest.mark.parametrize("destination", ["vllm/vllm-tp8-replicated", "vllm/vllm-tp8-sharded"])
def test_the_buffers_of_one_rank_in_layers_of_their_own(destination: str) -> None:
    """Rank 0 has a buffer in each layer; they lie one after the other in what was written."""
    geometry = Geometry(7, 3, 8, 4, 0, 0, "float16")
    source, due = catalogue.find("lmcache/lmcache-kv-2ltd"), catalogue.find(destination)
    content, whole = side_bytes(source, due, geometry)
    by_rank = whole.reshape(3, 8, -1)
    found = difference(source, due, geometry, content, by_rank[:, 0].reshape(-1))
    assert texts(found) == ["rank 0 of 8 alone"]
    left = np.zeros_like(by_rank)
    left[:, 0] = by_rank[:, 0]
    found = difference(source, due, geometry, content, left.reshape(-1))
    assert texts(found) == ["rank 0 of 8 alone"]
    assert found.differing == found.positions * 7 // 8
    assert found.explanations[0].elsewhere == found.differing


def test_one_rank_of_eight_that_was_read() -> None:
    """vllm#52516 as it was: from 8 ranks to one, 196,608 of 262,144 bytes are missing."""
    geometry = Geometry(256, 1, 4, 64, 0, 0, "float16")
    source = catalogue.find("vllm/vllm-tp8-replicated")
    due = catalogue.find("vllm/vllm-0.22-nhd")
    content, whole = side_bytes(source, due, geometry)
    assert len(whole) == 262_144
    shaped = whole.view("<u2").reshape(2, 16, 16, 4, 64)
    left = np.zeros_like(shaped)
    left[..., 0, :] = shaped[..., 0, :]
    own = np.ascontiguousarray(shaped[..., 0, :])
    for given in (left, own):
        found = difference(source, due, geometry, content, given.reshape(-1).view(np.uint8))
        assert texts(found) == ["rank 0 of the source's 8 alone"]
    assert found.missing * 2 == 196_608
    left[..., 3, 5] = 7
    found = difference(source, due, geometry, content, left.reshape(-1).view(np.uint8))
    assert (found.differing * 2, found.explanations) == (196_608, ())


def test_fewer_blocks_in_memory_that_was_made_for_all() -> None:
    """FlexKV#187, the shape being the destination's or the source's."""
    geometry = at(5, 4, 2, 2)
    pool, tokens = of("Tb KV Ti H D", 4), catalogue.find("lmcache/lmcache-kv-t2d")
    told_as = "2 of 5 blocks, an extent of the shape taken for their number"
    for source, due in ((tokens, pool), (pool, tokens)):
        content, given = side_bytes(source, due, geometry)
        given = given.copy()
        given[len(given) * 2 // 5 :] = 0xEE
        found = difference(source, due, geometry, content, given)
        assert texts(found) == [told_as]
        assert found.differing == found.explanations[0].elsewhere == 96
        cut = difference(source, due, geometry, content, given[: len(given) * 2 // 5])
        assert texts(cut) == [told_as]


def test_a_replica_that_is_wrong_is_explained_by_nothing() -> None:
    geometry = Geometry(7, 2, 4, 4, 0, 0, "float16")
    source = catalogue.find("lmcache/lmcache-kv-2ltd")
    due = catalogue.find("vllm/vllm-tp8-replicated")
    content, given = side_bytes(source, due, geometry)
    given = given.copy()
    given.reshape(2, 8, -1)[1, 7, 0] ^= 1
    found = difference(source, due, geometry, content, given)
    assert (found.differing, found.explanations) == (1, ())


def test_more_bytes_or_none_at_all() -> None:
    geometry = at(3, 4, 2, 6)
    source, due = of("Tb KV Ti H D", 4), of("KV Tb H Ti D", 4)
    content, given = side_bytes(source, due, geometry)
    more = difference(source, due, geometry, content, np.append(given, np.uint8(1)))
    assert (more.differing, more.surplus, more.as_due, more.explanations) == (0, 1, False, ())
    assert "  1 bytes more were given than the destination has" in told.describe(more)
    none = difference(source, due, geometry, content, given[:0])
    assert none.differing == none.missing == none.positions
    part = difference(source, due, geometry, content, given[:-1])
    assert part.differing == part.missing == 1


@pytest.mark.parametrize(("axes", "wrong"), [("KV Tb H Ti D", 16), ("KV Tb Ti H D", 0)])
def test_blocks_of_another_size(axes: str, wrong: int) -> None:
    """vllm#26744: blocks of 2 taken for blocks of 4 need a shuffle under HND, 8 of 16 for K."""
    geometry = at(1, 4, 2, 2)
    source, due = of("KV Tb Ti H D", 4), of(axes, 4)
    content = distinct(source, geometry)
    found = difference(
        source, due, geometry, content, written(source, of(axes, 2), geometry, content)
    )
    assert (found.differing, found.positions) == (wrong, 32)
    assert "written as blocks of 2" in texts(found)
    assert (texts(found)[0] == "nothing is confused") == (wrong == 0)


def test_a_change_of_a_layout_taken_for_the_declared_one() -> None:
    """Shards of two ranks in blocks of 16, said to be of four, of 8."""
    geometry = Geometry(20, 2, 8, 4, 0, 0, "float16")
    source, wrote = catalogue.find("lmcache/lmcache-kv-2ltd"), catalogue.find("vllm/vllm-tp2")
    content, given = side_bytes(source, wrote, geometry)
    found = difference(source, replace(wrote, ranks=4, block=8), geometry, content, given)
    assert texts(found) == ["written as vllm/vllm-tp2,block=16,ranks=2"]
    found = difference(source, replace(wrote, ranks=4), geometry, content, given)
    assert texts(found) == ["written as vllm/vllm-tp2,ranks=2"]


def test_a_source_read_wrongly() -> None:
    geometry = at(3, 4, 2, 6)
    source, due = of("Tb KV Ti H D", 4), of("KV Tb H Ti D", 4)
    content = distinct(source, geometry)
    misread = written(of("Tb KV H Ti D", 4), due, geometry, content)
    found = difference(source, due, geometry, content, misread)
    assert "the source read as axes Tb KV H Ti D" in texts(found)


def test_bytes_that_nothing_explains_are_said_to_be_so() -> None:
    geometry = at(3, 4, 2, 6)
    source, due = of("Tb KV Ti H D", 4), of("KV Tb H Ti D", 4)
    content = distinct(source, geometry)
    given = written(source, due, geometry, content)
    given[100] ^= 1
    found = difference(source, due, geometry, content, given)
    assert (found.differing, found.explanations) == (1, ())
    lines = list(told.describe(found))
    assert lines[0] == f"1 of {found.positions} positions are not as due"
    assert lines[1].endswith("byte 100")
    assert told.document(found)["first"][-1] == 100
