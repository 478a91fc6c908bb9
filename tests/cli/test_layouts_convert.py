"""Conversions by command line: plans, files, confusions, and names of others."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lockstep.cli import layouts_convert
from lockstep.convert import execute

SIZES = ("--tokens", "40", "--layers", "2", "--kv-heads", "2", "--head-dim", "8")
Run = Callable[..., str]


def test_a_plan_is_told_and_a_document(lockstep: Run) -> None:
    said = lockstep("layouts", "plan", "vllm:LBNHC", "lmcache:KV_2LTD", *SIZES)
    assert "5,120 bytes in" in said
    made = json.loads(
        lockstep("layouts", "plan", "vllm:LBNHC", "lmcache:KV_2LTD", "--json", *SIZES)
    )
    assert made["format"] == "lockstep-conversion-plan/1"
    runs = 0
    for copy in made["copies"]:
        times = 1
        for loop in copy["loops"]:
            times *= loop["times"]
        runs += times * copy["length"]
    assert runs == made["bytes"] == 5120


def test_a_plan_and_its_program_name_the_changes_that_were_asked_for(lockstep: Run) -> None:
    pair = ("vllm/vllm-tp2,ranks=2,block=8", "vllm/vllm-tp2,ranks=1")
    named = "vllm-tp2,ranks=2,block=8 to vllm-tp2,ranks=1"
    assert lockstep("layouts", "plan", *pair, *SIZES).startswith(f"{named}, 40 tokens")
    for library in ("numpy", "torch"):
        program = lockstep("layouts", "plan", *pair, "--code", library, *SIZES)
        assert program.startswith(f'"""{named}: 40 tokens')


def test_a_document_is_enough_to_convert(lockstep: Run, tmp_path: Path) -> None:
    """What another program would do with a plan, member by member."""
    pair = ("vllm/vllm-0.22-nhd,block=24", "vllm/vllm-tp2,ranks=2")
    made = json.loads(lockstep("layouts", "plan", *pair, "--json", *SIZES))
    source = [np.random.default_rng(7).integers(0, 256, one["bytes"], dtype=np.uint8)
              for one in made["source"]["buffers"]]  # fmt: skip
    into = [np.zeros(one["bytes"], np.uint8) for one in made["destination"]["buffers"]]

    def do(copy: dict[str, Any], loops: list[dict[str, Any]], at: list[int]) -> None:
        if not loops:
            came = source[at[0]][at[1] : at[1] + copy["length"]]
            into[at[2]][at[3] : at[3] + copy["length"]] = came
            return
        for number in range(loops[0]["times"]):
            steps = [loops[0][side][name] for side in ("source", "destination")
                     for name in ("buffer", "offset")]  # fmt: skip
            do(copy, loops[1:], [a + number * b for a, b in zip(at, steps, strict=True)])

    for copy in made["copies"]:
        at = [copy[side][name] for side in ("source", "destination")
              for name in ("buffer", "offset")]  # fmt: skip
        do(copy, copy["loops"], at)
    (tmp_path / "a.kv").write_bytes(b"".join(one.tobytes() for one in source))
    lockstep("layouts", "convert", *pair, "--input", "a.kv", "--output", "b.kv", *SIZES)
    assert (tmp_path / "b.kv").read_bytes() == b"".join(one.tobytes() for one in into)


def test_there_and_back(lockstep: Run, tmp_path: Path) -> None:
    content = np.arange(40 * 2 * 2 * 2 * 8, dtype="<u2")
    np.save(tmp_path / "a.npy", content)
    pair = ("lmcache:KV_T2D", "vllm:HND")
    placed = ("--destination-pool", "9", "--destination-table", "4,0,7")
    back = ("--source-pool", "9", "--source-table", "4,0,7")
    lockstep("layouts", "convert", *pair, "--input", "a.npy", "--output", "b.kv", *placed, *SIZES)
    lockstep(
        "layouts", "convert", *reversed(pair), "--input", "b.kv", "--output", "c.kv", *back, *SIZES,
        "--engine", "numba",
    )  # fmt: skip
    assert (tmp_path / "c.kv").read_bytes() == content.tobytes()


@pytest.mark.parametrize(("compiled", "engine"), [(5121, "numpy"), (5120, None)])
def test_little_is_converted_without_compiling(
    lockstep: Run,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    compiled: int,
    engine: str | None,
) -> None:
    chosen = []
    monkeypatch.setattr(
        execute, "convert", lambda *_, engine, threads: chosen.append((engine, threads))
    )
    monkeypatch.setattr(layouts_convert, "COMPILED", compiled)
    (tmp_path / "a.kv").write_bytes(bytes(5120))
    pair = ("lmcache:KV_T2D", "vllm:HND", "--input", "a.kv", "--output", "b.kv", *SIZES)
    lockstep("layouts", "convert", *pair)
    lockstep("layouts", "convert", *pair, "--engine", "numba", "--threads", "2")
    assert chosen == [(engine, None), ("numba", 2)]


def test_an_array_is_written_as_it_is_read(lockstep: Run, tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.arange(40 * 2 * 2 * 2 * 8, dtype="<u2"))
    pair = ("lmcache:KV_T2D", "vllm:HND")
    for name in ("b.npy", "b.kv"):
        lockstep("layouts", "convert", *pair, "--input", "a.npy", "--output", name, *SIZES)
    array = np.load(tmp_path / "b.npy")
    assert (array.dtype, array.shape) == (np.uint8, (6144,))
    assert array.tobytes() == (tmp_path / "b.kv").read_bytes()
    back = reversed(pair)
    lockstep("layouts", "convert", *back, "--input", "b.npy", "--output", "c.kv", *SIZES)
    assert (tmp_path / "c.kv").read_bytes() == np.load(tmp_path / "a.npy").tobytes()


def test_a_confusion_is_named(lockstep: Run, tmp_path: Path) -> None:
    (tmp_path / "a.kv").write_bytes(np.arange(40 * 2 * 2 * 2 * 8, dtype="<u2").tobytes())
    for to, name in (("vllm:NHD", "nhd.kv"), ("vllm:HND", "hnd.kv")):
        lockstep(
            "layouts", "convert", "lmcache:KV_T2D", to, "--input", "a.kv", "--output", name, *SIZES
        )  # fmt: skip
    told = ("layouts", "diff", "a.kv", "nhd.kv", "--as", "lmcache:KV_T2D")
    said = lockstep(*told, "--like", "vllm:HND", *SIZES, exit=3)
    assert "written as axes Tb KV Ti H D" in said
    assert "0 of 2560 positions are not as due" in lockstep(*told, "--like", "vllm:NHD", *SIZES)
    found = json.loads(lockstep(*told, "--like", "vllm:HND", "--json", *SIZES, exit=3))
    assert found["explanations"][0]["elements_elsewhere"] == found["differing"]
    said = lockstep(*told, "--like", "vllm:HND", exit=3)
    assert "BAD_VALUE at reference" in said and "geometry that the cache has" in said


def test_what_is_as_due_is_not_explained_by_confusions(lockstep: Run, tmp_path: Path) -> None:
    (tmp_path / "a.kv").write_bytes(bytes(5120))
    pair = ("lmcache:KV_T2D", "vllm:NHD")
    lockstep("layouts", "convert", *pair, "--input", "a.kv", "--output", "b.kv", *SIZES)
    said = lockstep("layouts", "diff", "a.kv", "b.kv", "--as", pair[0], "--like", pair[1], *SIZES)
    first, *others = said.splitlines()[1:]
    assert first == "  explained: nothing is confused (0 elements elsewhere)"
    # Bytes that are all alike are made by every other reading too [CONV-13].
    assert others
    assert all(line.startswith("  makes the same bytes: ") for line in others)


def test_padding_that_is_not_given_is_told(lockstep: Run, tmp_path: Path) -> None:
    (tmp_path / "a.kv").write_bytes(np.arange(40 * 2 * 2 * 2 * 8, dtype="<u2").tobytes())
    pair = ("lmcache:KV_T2D", "vllm:NHD")
    lockstep("layouts", "convert", *pair, "--input", "a.kv", "--output", "b.kv", *SIZES)
    whole = (tmp_path / "b.kv").read_bytes()
    (tmp_path / "b.kv").write_bytes(whole[:-100])
    told = ("layouts", "diff", "a.kv", "b.kv", "--as", pair[0], "--like", pair[1], *SIZES)
    assert lockstep(*told).splitlines() == [
        "0 of 2560 positions are not as due",
        "  100 bytes fewer were given than the destination has",
    ]
    assert json.loads(lockstep(*told, "--json"))["short"] == 100


def test_names_and_strides_of_others(lockstep: Run) -> None:
    said = json.loads(lockstep("layouts", "export", "vllm/vllm-0.22-nhd", *SIZES))
    one = said["tensors"][0]
    assert one["shape"] == [2, 3, 16, 2, 8]
    shape, strides = (",".join(str(value) for value in one[name]) for name in ("shape", "strides"))
    asked = ("layouts", "import", "--shape", shape, "--strides", strides, *SIZES)
    assert "vllm/vllm-0.22-nhd" in lockstep(*asked, "--axes", "KBNHD").split()
    # The same tensor seen with its axes in another order.
    assert "vllm/vllm-0.22-nhd" in lockstep(
        "layouts", "import", "--axes", "BKNHD", "--shape", "3,2,16,2,8", "--strides",
        "256,768,16,8,1", *SIZES,
    ).split()  # fmt: skip
    assert "BAD_VALUE" in lockstep(*asked, "--axes", "BKNHD", exit=3)
    assert "vllm:NHD" in json.loads(lockstep("layouts", "export", "vllm:NHD"))["names"]


@pytest.mark.parametrize(
    ("arguments", "code", "status"),
    [
        (("plan", "vllm:XYZ", "vllm:NHD"), "USAGE", 2),
        (("plan", "vllm:NHD,stride=3", "vllm:NHD"), "USAGE", 2),
        (("plan", "vllm:NHD,ranks=3", "vllm:NHD"), "USAGE", 2),
        (("plan", "lmcache:KV_2TD,block=3", "vllm:NHD"), "USAGE", 2),
        (("plan", "vllm:NHD,block=0", "vllm:NHD"), "USAGE", 2),
        (("plan", "vllm:NHD,block=8,block=4", "vllm:NHD"), "USAGE", 2),
        (("plan", "vllm:NHD", "vllm:HND", "--code", "numpy", "--json"), "USAGE", 2),
        (("plan", "vllm:NHD", "vllm:HND", "--code", "jax"), "USAGE", 2),
        (("plan", "vllm:NHD", "vllm:HND", "--source-table", "1,x"), "USAGE", 2),
        (("plan", "vllm/vllm-mla", "vllm:NHD"), "X1_LATENT_KV", 3),
        (("plan", "vllm/vllm-fp8", "vllm:NHD"), "NOT_LOSSLESS", 3),
        (("convert", "vllm:NHD", "vllm:HND", "--input", "no.kv", "--output", "x"),
         "FILE_UNREADABLE", 2),
        (("convert", "vllm:NHD", "vllm:HND", "--input", "no.kv", "--output", "none/x"),
         "--output", 2),
        (("import", "--axes", "QQ", "--shape", "1,1", "--strides", "1,1"), "USAGE", 2),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_told(
    lockstep: Run, arguments: tuple[str, ...], code: str, status: int
) -> None:
    assert code in lockstep("layouts", *arguments, exit=status)


def test_a_file_of_another_length_is_refused(lockstep: Run, tmp_path: Path) -> None:
    (tmp_path / "a.kv").write_bytes(bytes(100))
    arguments = ("vllm:NHD", "vllm:HND", "--input", "a.kv", "--output", "b.kv")
    assert "BAD_VALUE at a.kv" in lockstep("layouts", "convert", *arguments, exit=3)
    assert not (tmp_path / "b.kv").exists()


@pytest.mark.parametrize("kind", ["fifo", "loop", "to a fifo", "to no folder", "folder"])
def test_an_output_that_is_no_file_is_refused_before_anything_is_read(
    lockstep: Run, tmp_path: Path, kind: str
) -> None:
    place = tmp_path / "b.kv"
    if kind == "folder":
        place.mkdir()
    elif kind == "fifo":
        os.mkfifo(place)
    else:
        os.mkfifo(tmp_path / "other")
        targets = {"loop": "b.kv", "to a fifo": "other", "to no folder": "none/b.kv"}
        place.symlink_to(targets[kind])
    before = place.lstat()
    arguments = ("vllm:NHD", "vllm:HND", "--input", "none.kv", "--output", "b.kv")
    assert "--output" in lockstep("layouts", "convert", *arguments, exit=2)
    assert (place.lstat().st_ino, place.lstat().st_mode) == (before.st_ino, before.st_mode)


def test_a_cache_has_the_mode_of_the_file_there_or_of_a_new_one(
    lockstep: Run, tmp_path: Path
) -> None:
    (tmp_path / "a.kv").write_bytes(bytes(5120))
    arguments = ("lmcache:KV_T2D", "vllm:HND", "--input", "a.kv", "--output", "b.kv", *SIZES)
    umask = os.umask(0o027)
    try:
        lockstep("layouts", "convert", *arguments)
    finally:
        os.umask(umask)
    assert (tmp_path / "b.kv").stat().st_mode & 0o777 == 0o640
    (tmp_path / "b.kv").chmod(0o604)
    lockstep("layouts", "convert", *arguments)
    assert (tmp_path / "b.kv").stat().st_mode & 0o777 == 0o604


@pytest.mark.parametrize(
    "shape",
    ["(8,", "(1" + "0" * 25 + ",)", "(1" + "0" * 17 + ",)", "(True,)", "-" * 5000 + "1"],
    ids=["bracket", "extent", "memory", "type", "depth"],
)
def test_an_array_whose_header_is_damaged_is_refused(
    lockstep: Run, tmp_path: Path, shape: str
) -> None:
    head = f"{{'descr': '<u2', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    content = b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head + bytes(16)
    (tmp_path / "a.npy").write_bytes(content)
    arguments = ("vllm:NHD", "vllm:HND", "--input", "a.npy", "--output", "b.kv")
    assert "FILE_UNREADABLE at a.npy" in lockstep("layouts", "convert", *arguments, exit=2)


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"hi\n", b"\x93NUMPY\x01\x00v\x00{"])
def test_a_file_that_is_no_array_is_refused(lockstep: Run, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.npy").write_bytes(content)
    arguments = ("vllm:NHD", "vllm:HND", "--input", "a.npy", "--output", "b.kv")
    assert "FILE_UNREADABLE at a.npy" in lockstep("layouts", "convert", *arguments, exit=2)


def test_an_engine_is_observed(lockstep: Run) -> None:
    said = lockstep("layouts", "observe", "--engine", "transformers", "-o", "x.json", exit=3)
    assert "hf-dynamic (bfloat16, float16, float32): MATCHES" in said
    assert said.rstrip().endswith("OK")
    # No policy here trusts the key that was made for this run.
    assert "hf-static" in lockstep("show", "x.json", "--rows", exit=3)
    assert "USAGE" in lockstep("layouts", "observe", "--engine", "x", exit=2)
