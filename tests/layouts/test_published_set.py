"""The twelve layouts of the published certificate, held against the document's extract."""

import json
from pathlib import Path
from typing import Any

import pytest

from lockstep.layouts.frontier import frontier_code
from lockstep.layouts.index_map import (
    canonical_to_native,
    is_identity,
    native_to_canonical,
    same_image,
)
from lockstep.layouts.realise import Realised, realise
from lockstep.layouts.sets import LayoutSet, load_set
from lockstep.layouts.words import transformations

EXTRACT = Path(__file__).parents[2] / "conformance" / "published" / "seed-004.json"


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(EXTRACT.read_text(encoding="utf-8"))
    return found


@pytest.fixture(scope="module")
def published() -> LayoutSet:
    return load_set("seed-004")


@pytest.fixture(scope="module")
def realised(published: LayoutSet) -> dict[str, Realised | None]:
    return {name: realise(layout, published.geometry) for name, layout in published.layouts.items()}


def test_the_twelve_are_declared_as_published(
    document: dict[str, Any], published: LayoutSet, realised: dict[str, Realised | None]
) -> None:
    assert list(published.layouts) == [engine["engine"] for engine in document["engines"]]
    assert published.groups[0].anchor == "vllm-fa"
    for engine in document["engines"]:
        layout = published.layouts[engine["engine"]]
        assert layout.attention == engine["attention"]
        assert layout.block == engine["block"]
        assert layout.kv_heads == engine["n_kv_heads"]
        assert layout.quantisation == engine["quant"]
        assert len(layout.tensors) == (1 if engine["kv"] == "interleaved" else 2)
        for tensor, name in ((layout.tensors[0], "k"), (layout.tensors[-1], "v")):
            assert list(tensor.axes) == engine[f"{name}_axes"]
            assert tensor.x == engine[f"{name}_x"]
        one = realised[layout.name]
        assert (one is not None) == engine["realisable_at_this_geometry"]
        shapes = {} if one is None else one.native_shapes
        assert {name: list(shape) for name, shape in shapes.items()} == engine["native_shapes"]
        assert (one is not None and is_identity(one)) == engine["is_the_identity_map"]


def test_words_and_frontier_codes_are_the_documents(
    document: dict[str, Any], published: LayoutSet
) -> None:
    assert len(document["rows"]) == 64
    for row in document["rows"]:
        src, dst = published.layouts[row["src"]], published.layouts[row["dst"]]
        words = transformations(src, dst, published.geometry)
        assert list(words) == row["transformations"], row["pair_id"]
        assert frontier_code(src, dst, published.geometry) == row["frontier_code"]


def test_positions_and_bytes_are_the_documents(
    document: dict[str, Any], realised: dict[str, Realised | None]
) -> None:
    checked = 0
    for row in document["rows"]:
        src, dst = realised[row["src"]], realised[row["dst"]]
        if row["proof"]["positions_total"] is None:
            continue
        assert src is not None and dst is not None
        assert row["native_bytes"] == {"src": src.native_bytes, "dst": dst.native_bytes}
        assert row["proof"]["positions_total"] == dst.positions
        assert row["proof"]["source_positions_total"] == src.positions
        assert row["proof"]["dest_padding_positions"] == dst.padding_positions
        assert row["proof"]["source_padding_positions"] == src.padding_positions
        checked += dst.positions
    assert checked == 90_880


def test_distinct_images_have_the_documents_positions(
    realised: dict[str, Realised | None],
) -> None:
    distinct: list[Realised] = []
    for one in realised.values():
        if one is not None and not any(same_image(one, other) for other in distinct):
            distinct.append(one)
    assert len(distinct) == 8
    assert sum(one.positions for one in distinct) == 12_544
    for one in distinct:
        forward = canonical_to_native(one, 0, one.canonical_elements)[:, 0]
        inverse = native_to_canonical(one, 0, one.positions)
        assert (inverse[forward] == range(one.canonical_elements)).all()
