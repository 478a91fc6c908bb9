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
