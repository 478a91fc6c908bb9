"""Every declared layout and set that comes with Lockstep."""

import itertools
from pathlib import Path

import numpy as np
import pytest

from lockstep import spec
from lockstep.errors import LockstepError
from lockstep.layouts import catalogue as declared
from lockstep.layouts.declaration import Layout, layouts_root, load
from lockstep.layouts.frontier import frontier_code
from lockstep.layouts.index_map import canonical_to_native, native_to_canonical, same_image
from lockstep.layouts.realise import realise
from lockstep.layouts.sets import LayoutSet, load_set
from lockstep.layouts.words import transformations

UNREALISABLE = {"vllm/vllm-tp-shard", "vllm/vllm-tp8-sharded", "seed-004/vllm-tp2"}


@pytest.fixture(scope="module")
def engines() -> LayoutSet:
    return load_set("engines")


def lossless(chosen: LayoutSet, anchor: str, members: tuple[str, ...]) -> list[str]:
    """[HUNT-3]"""
    against = chosen.layouts[anchor]
    return [
        name
        for name in members
        if chosen.layouts[name].quantisation == "none"
        and frontier_code(chosen.layouts[name], against, chosen.geometry) is None
    ]


@pytest.mark.parametrize("member", declared.members())
def test_every_file_is_read_and_walked(member: str, engines: LayoutSet) -> None:
    layout = declared.find(member)
    assert layout.source_path == f"{member}.toml"
    assert layout.citation.commit is not None
    one = realise(layout, engines.geometry)
    assert (one is None) == (member in UNREALISABLE)
    if one is None:
        return
    forward = canonical_to_native(one, 0, one.canonical_elements)
    inverse = native_to_canonical(one, 0, one.positions)
    assert (inverse[forward] == np.arange(one.canonical_elements)[:, None]).all()
    assert int((inverse == -1).sum()) == one.padding_positions


def test_the_engines_set_hunts_distinct_images(engines: LayoutSet) -> None:
    assert len(engines.layouts) >= 20
    used: set[str] = set()
    codes: set[str | None] = set()
    for group in engines.groups:
        exact = lossless(engines, group.anchor, group.members)
        for src, dst in itertools.permutations(exact, 2):
            pair = engines.layouts[src], engines.layouts[dst]
            one, other = (realise(layout, engines.geometry) for layout in pair)
            assert one is not None and other is not None
            assert not same_image(one, other), (src, dst)
            words = transformations(*pair, engines.geometry)
            assert words, (src, dst)
            used.update(words)
        for name in set(group.members) - set(exact):
            pair = engines.layouts[group.anchor], engines.layouts[name]
            codes.add(frontier_code(*pair, engines.geometry))
            used.update(transformations(*pair, engines.geometry))
    assert used == set(spec.load("hunt.json")["vocabulary"])
    assert codes == {*spec.load("hunt.json")["frontier_codes"], None}


def test_the_record_of_fp8_ds_mla_has_656_bytes() -> None:
    """512 of e4m3, four fp32 scales, 64 of 16 bits."""
    from lockstep.layouts.declaration import Geometry

    layout = declared.find("vllm/vllm-fp8-ds-mla")
    one = realise(layout, Geometry(64, 1, 1, 1, 512, 64, "bfloat16"))
    assert one is not None
    assert one.native_shapes == {"record": (1, 64, 656)}
    assert one.native_bytes == 64 * 656


def test_a_published_name_needs_its_folder() -> None:
    assert declared.find("seed-004/vllm-fp8") != declared.find("vllm/vllm-fp8")
    for name in ("vllm-fp8", "no-such-layout"):
        with pytest.raises(LockstepError, match="USAGE"):
            declared.find(name)


def test_declarations_differ_within_a_folder(engines: LayoutSet) -> None:
    def body(layout: Layout) -> dict[str, object]:
        entry = layout.as_json(engines.geometry)
        return {key: entry[key] for key in entry.keys() - {"name", "engine", "citation", "source"}}

    for folder in ("vllm", "flashinfer", "trtllm", "llamacpp", "lmcache"):
        layouts = [load(path) for path in sorted((layouts_root() / folder).glob("*.toml"))]
        for one, other in itertools.combinations(layouts, 2):
            assert body(one) != body(other)


SET = """[geometry]
tokens = 4
layers = 1
kv_heads = 2
head_dim = 8
dtype = "float16"
"""
GROUP = (
    '[[groups]]\nanchor = "sglang"\nmembers = ["seed-004/sglang", "seed-004/hf-dynamic-cache"]\n'
)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (SET + GROUP.replace('anchor = "sglang"', 'anchor = "vllm-fa"'), "BAD_VALUE"),
        (SET + GROUP.replace("hf-dynamic-cache", "sglang"), "BAD_VALUE"),
        (SET + GROUP.replace("hf-dynamic-cache", "none-such"), "FILE_UNREADABLE"),
        (SET.replace("float16", "float8") + GROUP, "BAD_VALUE"),
        (SET.replace("head_dim = 8", "head_dim = 8\nrope_dim = 8") + GROUP, "BAD_VALUE"),
        (SET + "hunted = 1\n" + GROUP, "UNKNOWN_FIELD"),
        (SET, "MISSING_FIELD"),
    ],
)
def test_sets_that_are_refused(tmp_path: Path, text: str, code: str) -> None:
    path = tmp_path / "case.toml"
    path.write_text(SET + GROUP, encoding="utf-8")
    assert load_set(path).groups[0].members == ("sglang", "hf-dynamic-cache")
    path.write_text(text, encoding="utf-8")
    with pytest.raises(LockstepError) as refused:
        load_set(path)
    assert refused.value.code == code


def test_an_unknown_set_names_those_there_are() -> None:
    with pytest.raises(LockstepError, match=r"engines.*seed-004"):
        load_set("no-such-set")
