"""Layouts told by the names, shapes and strides of others [CONV-11]."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from lockstep.convert.buffers import AS_DECLARED
from lockstep.convert.document import document
from lockstep.convert.names import by_strides, names, resolve, strided
from lockstep.convert.plan import plan
from lockstep.errors import LockstepError
from lockstep.layouts import catalogue
from lockstep.layouts.declaration import layouts_root
from lockstep.layouts.geometry import Geometry
from lockstep.layouts.realise import is_realisable

GEOMETRY = Geometry(37, 3, 8, 16, 256, 64, "float16")


def test_every_buffer_that_is_described_is_told_again() -> None:
    told = 0
    for name in catalogue.members()[::6]:
        layout = catalogue.find(name)
        if is_realisable(layout, GEOMETRY):
            one = strided(layout, GEOMETRY, AS_DECLARED)[-1]
            assert name in by_strides(GEOMETRY, one.axes, one.shape, one.strides)
            told += 1
    assert told >= 8


def test_every_name_is_that_of_a_declared_layout() -> None:
    members = catalogue.members()
    for name, member in names().items():
        assert member in members
        assert f"{member}.toml" == resolve(name).source_path


def test_axes_that_one_axis_of_the_shape_holds() -> None:
    strides = (128 * 37 * 3, 128 * 37, 128, 1)
    found = by_strides(GEOMETRY, "KLT(HD)", (2, 3, 37, 128), strides)
    assert "lmcache/lmcache-kv-2ltd" in found
    # The same memory, its axes apart and in another order; and of heads within dimensions.
    apart = by_strides(GEOMETRY, "LTDHK", (3, 37, 16, 8, 2), (128 * 37, 128, 1, 16, strides[0]))
    assert found == apart
    assert by_strides(GEOMETRY, "KLT(DH)", (2, 3, 37, 128), strides) == []
    assert by_strides(GEOMETRY, "KLT(HD)", (2, 3, 37, 64), strides) == []
    assert by_strides(GEOMETRY, "KLT(HD)", (2, 3, 37, 128), (*strides[:3], 2)) == []


def test_one_rank_and_one_of_two_tensors() -> None:
    (rank, *_) = strided(catalogue.find("vllm/vllm-tp2"), GEOMETRY, AS_DECLARED)
    assert (rank.name, rank.axes, rank.shape) == ("kv.layer0.rank0", "KBNHD", (2, 3, 16, 4, 16))
    assert by_strides(GEOMETRY, rank.axes, rank.shape, rank.strides) == ["vllm/vllm-tp2"]
    keys, *_, values = strided(catalogue.find("vllm/vllm-paged-x"), GEOMETRY, AS_DECLARED)
    assert (keys.axes, values.axes) == ("BHGNX", "BHDN")
    for one in (keys, values):
        assert "vllm/vllm-paged-x" in by_strides(GEOMETRY, one.axes, one.shape, one.strides)


@pytest.mark.parametrize(
    ("axes", "shape"),
    [("BKNHDD", (3, 2, 16, 8, 16, 1)), ("BKN(HD", (3, 2, 16, 128)), ("B()", (3, 1)), ("BQ", (3, 1)),
     ("BK", (3,)), ("B(K)", (3, 2)), ("BK(ND)N", (3, 2, 16, 16)), ("bk", (3, 2))],
)  # fmt: skip
def test_axes_that_name_none_are_refused(axes: str, shape: tuple[int, ...]) -> None:
    with pytest.raises(LockstepError) as fault:
        by_strides(GEOMETRY, axes, shape, shape)
    assert (fault.value.code, fault.value.pointer) == ("USAGE", "--axes")


@pytest.mark.parametrize("name", ["vllm/vllm-tp2", "vllm/vllm-tp8-replicated"])
def test_one_rank_has_no_axis_of_ranks(name: str) -> None:
    whole, one = catalogue.find("vllm/vllm-0.22-nhd"), resolve(f"{name},ranks=1")
    assert (one.tensors, one.block, one.ranks) == (whole.tensors, whole.block, 1)
    made = document(plan(resolve(f"{name},ranks=8"), one, GEOMETRY))
    other = document(plan(resolve(f"{name},ranks=8"), whole, GEOMETRY))
    assert made["copies"] == other["copies"]
    latent = resolve("vllm/vllm-mla-tp2,ranks=1")
    assert latent.tensors == catalogue.find("vllm/vllm-mla").tensors


def test_a_rank_within_a_group_is_left_out_of_it(tmp_path: Path) -> None:
    text = (layouts_root() / "vllm/vllm-tp2.toml").read_text("utf-8")
    for group, left in (('"KV", "(R H)"', "H"), ('"KV", "(R H 1)"', "(H 1)")):
        axes = f'axes = [{group}, "Tb", "Ti", "D"]'
        file = tmp_path / "grouped.toml"
        file.write_text(re.sub(r"axes = \[.*\]", axes, text), "utf-8")
        (tensor,) = resolve(f"{file},ranks=1").tensors
        assert tensor.axes == ("KV", left, "Tb", "Ti", "D")
