"""Words and frontier codes [HUNT-2, HUNT-4], beyond the published rows."""

import itertools

import pytest

from lockstep.layouts.catalogue import find
from lockstep.layouts.declaration import Citation, Component, Geometry, Layout, Tensor
from lockstep.layouts.frontier import frontier_code
from lockstep.layouts.index_map import same_image
from lockstep.layouts.realise import realise
from lockstep.layouts.words import transformations

GEOMETRY = Geometry(7, 3, 2, 5, 0, 0, "float16")
ENGINES = Geometry(260, 3, 4, 16, 256, 64, "bfloat16")


def interleaved(axes: tuple[str, ...], ranks: int = 1) -> Layout:
    return Layout(
        "case",
        "case",
        "gqa",
        0,
        ranks,
        "none" if ranks == 1 else "sharded",
        4,
        "none",
        (Tensor("kv", (Component("K"), Component("V")), axes),),
        Citation("a/b", "c", None, "case"),
        "case.toml",
        "0" * 64,
    )


def test_no_words_exactly_where_images_are_equal() -> None:
    """Every order of one interleaved tensor's axes, against every other."""
    orders = [
        *itertools.permutations(("KV", "Tb", "Ti", "H", "D")),
        *itertools.permutations(("Tb", "Ti", "H", "C")),
    ]
    layouts = [interleaved(order) for order in orders]
    images = [realise(layout, GEOMETRY) for layout in layouts]
    equal = 0
    for (one, first), (other, second) in itertools.combinations(
        zip(layouts, images, strict=True), 2
    ):
        if not transformations(one, other, GEOMETRY):
            assert first is not None and second is not None
            assert same_image(first, second)
            equal += 1
    # The 24 orders with C are the 24 with KV right before D.
    assert equal == 24


def test_the_place_of_the_rank_axis_is_a_permutation() -> None:
    one = interleaved(("R", "KV", "Tb", "Ti", "H", "D"), ranks=2)
    other = interleaved(("KV", "Tb", "Ti", "R", "H", "D"), ranks=2)
    assert transformations(one, other, GEOMETRY) == ("axis_permute",)
    assert "rank_reshard" in transformations(
        one, interleaved(("KV", "Tb", "Ti", "H", "D")), GEOMETRY
    )


@pytest.mark.parametrize(
    ("src", "dst", "words"),
    [
        ("vllm/vllm-lbnhc", "vllm/vllm-blnhc", "layer_axis"),
        ("sglang/sglang-token", "sglang/sglang-page64", "pitch reserve"),
        ("flashinfer/flashinfer-mla", "trtllm/trtllm-mla", "kv_merge layer_axis"),
        ("trtllm/trtllm-mla", "flashinfer/flashinfer-mla", "kv_split layer_axis"),
        ("vllm/vllm-mla", "vllm/vllm-mla-tp2", "rank_reshard"),
        ("vllm/vllm-mla", "vllm/vllm-fp8-ds-mla", "reblock requantize"),
        ("vllm/vllm-0.22-nhd", "vllm/vllm-fp8", "requantize"),
        ("vllm/vllm-0.22-nhd", "vllm/vllm-0.23-nhd", "axis_permute"),
        ("vllm/vllm-0.22-nhd", "vllm/vllm-0.22-hnd", "axis_permute"),
        ("vllm/vllm-0.22-hnd", "huggingface/hf-dynamic", "head_order_transpose kv_split reblock"),
        ("huggingface/hf-dynamic", "huggingface/hf-static", "pitch"),
        ("vllm/vllm-0.22-nhd", "vllm/vllm-mla", ""),
    ],
)
def test_words_of_engines_as_they_are(src: str, dst: str, words: str) -> None:
    found = transformations(find(src), find(dst), ENGINES)
    assert " ".join(found) == words


@pytest.mark.parametrize(
    ("src", "dst", "code"),
    [
        ("vllm/vllm-mla", "vllm/vllm-0.22-nhd", "X1_LATENT_KV"),
        ("vllm/vllm-tp-shard", "vllm/vllm-0.22-nhd", "X2_HEAD_GATHER"),
        ("vllm/vllm-0.22-nhd", "vllm/vllm-tp8-sharded", "X4_GEOMETRY_UNREPRESENTABLE"),
        ("seed-004/deepseek-mla", "vllm/vllm-mla", "X4_GEOMETRY_UNREPRESENTABLE"),
        ("vllm/vllm-mla", "sglang/sglang-mla", None),
    ],
)
def test_frontier_codes(src: str, dst: str, code: str | None) -> None:
    assert frontier_code(find(src), find(dst), ENGINES) == code
