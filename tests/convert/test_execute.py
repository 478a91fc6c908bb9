"""Whatever carries a plan out, the destination's bytes are the same [CONV-9, CONV-10, CONV-12]."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from lockstep.convert import kernels, parts
from lockstep.convert.buffers import Placement
from lockstep.convert.code import program
from lockstep.convert.execute import convert
from lockstep.convert.plan import Plan, plan
from lockstep.errors import LockstepError
from lockstep.layouts import catalogue
from lockstep.layouts.geometry import Geometry
from tests.convert.natives import native

GEOMETRY = Geometry(40, 3, 4, 16, 256, 64, "float16")
PAIRS = [
    ("vllm/vllm-lbnhc", "lmcache/lmcache-kv-2ltd"),
    ("llamacpp/llamacpp-no-flash", "sglang/hicache-page-head"),
    ("vllm/vllm-paged-x", "vllm/vllm-tp8-replicated"),
    ("vllm/vllm-fp8-ds-mla", "vllm/vllm-fp8-ds-mla"),
    ("flashinfer/flashinfer-mla", "vllm/vllm-mla-tp2"),
]


def between(source: str, destination: str, geometry: Geometry = GEOMETRY) -> Plan:
    return plan(catalogue.find(source), catalogue.find(destination), geometry)


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("engine", ["numba", "numpy"])
@pytest.mark.parametrize("threads", [1, 3])
def test_engines_and_threads_agree(
    pair: tuple[str, str], engine: str, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parts, "LEAST_SHARE", 64)
    made = between(*pair)
    source = native(made.source.layout, GEOMETRY)
    due = convert(made, source, threads=1, engine="numpy")
    found = convert(made, source, threads=threads, engine=engine)
    assert all(np.array_equal(a, b) for a, b in zip(found, due, strict=True))


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_an_emitted_program_needs_nothing_of_ours(pair: tuple[str, str], library: str) -> None:
    made = between(*pair)
    source = native(made.source.layout, GEOMETRY)
    due = convert(made, source, threads=1, engine="numpy")
    text = program(made, library)
    assert "lockstep" not in text
    scope: dict[str, Any] = {}
    exec(compile(text, "emitted", "exec"), scope)
    empty = [np.zeros_like(one) for one in due]
    if library == "numpy":
        scope["convert"](source, empty)
    else:
        scope["convert"](
            [torch.from_numpy(one.copy()) for one in source],
            [torch.from_numpy(one) for one in empty],
        )
    assert all(np.array_equal(a, b) for a, b in zip(empty, due, strict=True))
    with pytest.raises(AssertionError):
        scope["convert"](source[1:], empty)


def emitted(made: Plan, library: str) -> Any:
    scope: dict[str, Any] = {}
    exec(compile(program(made, library), "emitted", "exec"), scope)
    return scope["convert"]


def padded() -> Plan:
    """A run of 16 bytes in a buffer of 20, which is no whole number of them."""
    whole = catalogue.find("vllm/vllm-0.22-nhd")
    (both,) = whole.tensors
    apart = tuple(
        replace(both, name=f"buffer-{part.name.lower()}", components=(part,), pad_head_dim=5,
                axes=("Tb", "Ti", "H", "D"))
        for part in both.components
    )  # fmt: skip
    geometry = Geometry(1, 1, 1, 8, 0, 0, "float16")
    source = catalogue.find("lmcache/lmcache-kv-2ltd")
    return plan(source, replace(whole, block=1, tensors=apart), geometry)


def falling() -> Plan:
    """Blocks that lie in the destination, then in both pools, in falling order."""
    layout = replace(catalogue.find("vllm/vllm-0.22-nhd"), block=4)
    other = replace(catalogue.find("vllm/vllm-0.22-hnd"), block=4)
    geometry = Geometry(11, 2, 3, 5, 0, 0, "float16")
    return plan(layout, other, geometry, Placement(5, (4, 2, 0)), Placement(6, (1, 3, 5)))


@pytest.mark.parametrize("made", [padded(), falling()], ids=["padded", "falling"])
@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_an_emitted_program_does_what_the_plan_says(made: Plan, library: str) -> None:
    rng = np.random.default_rng(3)
    source = [rng.integers(0, 256, one.bytes, dtype=np.uint8) for one in made.source.buffers]
    due = convert(made, source, threads=1, engine="numpy")
    found = [np.zeros_like(one) for one in due]
    if library == "numpy":
        emitted(made, library)(source, found)
    else:
        emitted(made, library)(*([torch.from_numpy(one) for one in side]
                                 for side in (source, found)))  # fmt: skip
    assert all(np.array_equal(a, b) for a, b in zip(found, due, strict=True))


@pytest.mark.parametrize("made", [padded(), falling(), between(*PAIRS[1])],
                         ids=["padded", "falling", "heads"])  # fmt: skip
@pytest.mark.parametrize("skew", [0, 1, 8, 16])
@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_buffers_of_an_emitted_program_may_be_parts_of_one_allocation(
    made: Plan, skew: int, library: str
) -> None:
    rng = np.random.default_rng(3)
    wholes, given_, copies = [], [], []
    for side in (made.source.buffers, made.destination.buffers):
        ends = np.cumsum([skew, *(one.bytes for one in side)]).tolist()
        whole = rng.integers(0, 256, ends[-1], dtype=np.uint8)
        taken: Any = torch.from_numpy(whole) if library == "torch" else whole
        wholes.append(whole)
        given_.append([taken[a:b] for a, b in pairwise(ends)])
        copies.append([whole[a:b].copy() for a, b in pairwise(ends)])
    convert(made, copies[0], copies[1], threads=1, engine="numpy")
    due = np.concatenate([wholes[1][:skew].copy(), *copies[1]])
    emitted(made, library)(*given_)
    assert np.array_equal(wholes[1], due)


@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_an_emitted_program_takes_no_memory_that_overlaps(library: str) -> None:
    layout = catalogue.find("vllm/vllm-0.23-nhd")
    made = plan(layout, catalogue.find("vllm/vllm-0.23-hnd"), Geometry(5, 2, 3, 8, 0, 0, "float16"))
    length = made.source.buffers[0].bytes
    assert length == made.destination.buffers[1].bytes
    whole: Any = np.zeros(4 * length, np.uint8)
    if library == "torch":
        whole = torch.from_numpy(whole)

    def at(*starts: int) -> Any:
        return [whole[start : start + length] for start in starts]

    convert_ = emitted(made, library)
    convert_(at(0, 0), at(length, 2 * length))
    for came, to in (
        (at(0, length), at(0, length)),
        (at(0, length), at(2 * length, 2 * length + 1)),
        (at(1, length), at(2 * length - 1, 3 * length)),
    ):
        with pytest.raises(AssertionError, match="a destination shares memory"):
            convert_(came, to)


@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_an_emitted_program_takes_contiguous_bytes_alone(library: str) -> None:
    made = padded()
    source, into = (
        list[Any](np.zeros(one.bytes, dtype=np.uint8) for one in side.buffers)
        for side in (made.source, made.destination)
    )
    shown: Any = torch.from_numpy if library == "torch" else np.asarray
    for side in (source, into):
        own = side[0]
        for wrong in (own.astype(np.int16), own[:, None], np.repeat(own, 2)[::2]):
            side[0] = wrong
            with pytest.raises(AssertionError, match="bytes, 1-D"):
                emitted(made, library)(
                    *([shown(one) for one in given_] for given_ in (source, into))
                )
        side[0] = own
    with pytest.raises(AssertionError, match="lengths of the destination's buffers"):
        emitted(made, library)(*([shown(one) for one in side] for side in (source, into[1:])))


@settings(max_examples=40, deadline=None)
@given(
    st.integers(1, 70), st.sampled_from([1, 2, 4, 8]), st.sampled_from([8, 16, 24]),
    st.sampled_from(["float16", "float32"]), st.sampled_from(PAIRS[:2]), st.sampled_from([0, 1, 7]),
)  # fmt: skip
def test_any_geometry(
    tokens: int, heads: int, dims: int, dtype: str, pair: tuple[str, str], skew: int
) -> None:
    """Memory need not begin at a cache line, nor at a multiple of its elements."""
    geometry = Geometry(tokens, 2, heads, dims, 0, 0, dtype)
    made = between(*pair, geometry)
    source = native(made.source.layout, geometry)
    due = native(made.destination.layout, geometry)
    results = []
    for engine in ("numba", "numpy"):
        whole = [
            np.full(one.bytes + skew, 0xEE, dtype=np.uint8) for one in made.destination.buffers
        ]
        convert(made, source, [one[skew:] for one in whole], threads=1, engine=engine)
        results.append(whole)
    for one, other, wanted in zip(*results, due, strict=True):
        assert np.array_equal(one, other)
        assert np.array_equal(one[skew:], wanted)


def test_memory_of_every_kind_is_taken() -> None:
    made = between(*PAIRS[0])
    source = native(made.source.layout, GEOMETRY)
    due = convert(made, source)
    tensors = [torch.from_numpy(one.copy()).view(torch.bfloat16) for one in source]
    into = [torch.zeros(one.bytes // 2, dtype=torch.bfloat16) for one in made.destination.buffers]
    assert convert(made, tensors, into)[0] is into[0]
    into_bytes = [bytearray(one.bytes) for one in made.destination.buffers]
    convert(made, [one.tobytes() for one in source], into_bytes)
    shaped = [np.zeros(one.shape, np.float16) for one in made.destination.buffers]
    convert(made, [one.view(np.float16) for one in source], shaped)

    class Exporter:
        def __init__(self, array: np.ndarray[Any, Any]) -> None:
            self.array = array

        def __dlpack__(self, **options: Any) -> Any:
            return self.array.__dlpack__(**options)

        def __dlpack_device__(self) -> tuple[int, int]:
            return self.array.__dlpack_device__()

    exported = convert(made, [Exporter(one.copy()) for one in source])
    for at, wanted in enumerate(due):
        assert np.array_equal(into[at].view(torch.uint8).numpy(), wanted)
        assert bytes(into_bytes[at]) == wanted.tobytes()
        assert shaped[at].tobytes() == wanted.tobytes()
        assert np.array_equal(exported[at], wanted)


def test_buffers_that_do_not_fit_are_refused() -> None:
    made = between(*PAIRS[0])
    source = native(made.source.layout, GEOMETRY)
    length = made.destination.buffers[0].bytes
    read_only = np.zeros(length, dtype=np.uint8)
    read_only.flags.writeable = False
    strided = np.zeros((length, 2), dtype=np.uint8)[:, 0]
    for given_source, given_destination in (
        (source[:-1], None),
        ([source[0][:-2]], None),
        (source, [read_only]),
        (source, [strided]),
        (source, [np.zeros(length + 1, np.uint8)]),
        (source, [bytes(length)]),
    ):
        with pytest.raises(LockstepError) as fault:
            convert(made, given_source, given_destination)
        assert fault.value.code == "BAD_VALUE"


@pytest.mark.parametrize("engine", ["numba", "numpy"])
def test_no_conversion_is_in_place(engine: str) -> None:
    layout = catalogue.find("vllm/vllm-0.23-nhd")
    made = plan(layout, catalogue.find("vllm/vllm-0.23-hnd"), Geometry(5, 2, 3, 8, 0, 0, "float16"))
    source = [one.copy() for one in native(layout, made.geometry)]
    before = [one.copy() for one in source]
    into = np.zeros_like(source[0])
    for destination in (source, [torch.from_numpy(one) for one in source], [into, into]):
        with pytest.raises(LockstepError) as fault:
            convert(made, source, destination, engine=engine)
        assert fault.value.code == "BAD_VALUE"
    assert all(np.array_equal(a, b) for a, b in zip(source, before, strict=True))
    assert not into.any()


@pytest.mark.parametrize("threads", [0, -1])
def test_no_threads_convert_nothing(threads: int) -> None:
    made = between(*PAIRS[0])
    with pytest.raises(LockstepError) as fault:
        convert(made, native(made.source.layout, GEOMETRY), threads=threads)
    assert (fault.value.code, fault.value.pointer) == ("BAD_VALUE", "threads")


def test_an_engine_that_is_not_there_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    made = between(*PAIRS[0])
    source = native(made.source.layout, GEOMETRY)
    due = convert(made, source)
    monkeypatch.setattr(kernels, "installed", lambda: False)
    with pytest.raises(LockstepError) as fault:
        convert(made, source, engine="numba")
    assert fault.value.code == "LIBRARY_MISSING"
    assert np.array_equal(convert(made, source)[0], due[0])
    with pytest.raises(LockstepError) as fault:
        convert(made, source, engine="cupy")
    assert fault.value.code == "USAGE"
    with pytest.raises(LockstepError) as fault:
        program(made, "jax")
    assert fault.value.code == "USAGE"


def test_padding_of_given_memory_stays() -> None:
    layout = catalogue.find("vllm/vllm-0.22-nhd")
    made = plan(catalogue.find("lmcache/lmcache-kv-2ltd"), layout, replace(GEOMETRY, tokens=41))
    assert made.padding == made.destination.bytes - 41 * 2 * 3 * 4 * 16 * 2
    source = [np.full(one.bytes, 1, np.uint8) for one in made.source.buffers]
    into = [np.full(one.bytes, 9, np.uint8) for one in made.destination.buffers]
    convert(made, source, into)
    assert sum(int((one == 9).sum()) for one in into) == made.padding
    assert sum(int((one == 0).sum()) for one in convert(made, source)) == made.padding
