"""llama.cpp's model and saved state, by hand: what it would compute, and files of both forms."""

from __future__ import annotations

import asyncio
import socket
import struct
import sys
from contextlib import nullcontext
from dataclasses import replace
from itertools import product
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from lockstep.certify.config import Command
from lockstep.claims.layout_observation import predicate
from lockstep.errors import LockstepError
from lockstep.layouts.geometry import Geometry
from lockstep.observation import observe
from lockstep.observation.engines import llamacpp, llamacpp_model
from lockstep.observation.engines.llamacpp_state import read
from lockstep.observation.environment import Environment
from lockstep.observation.numbers import digits
from tests.observation.gguf_reader import opened

ROOT = Path(__file__).resolve().parents[2]

GEOMETRY = Geometry(5, 2, 3, 4, 0, 0, "float16")
SIZE = GEOMETRY.kv_heads * GEOMETRY.head_dim


def test_the_model_computes_the_digits_exactly() -> None:
    values = digits(GEOMETRY)
    header, weights = opened(llamacpp_model.gguf(GEOMETRY, values))
    assert (header["llama.block_count"], header["llama.attention.head_count_kv"]) == (2, 3)
    epsilon = np.float32(header["llama.attention.layer_norm_rms_epsilon"])
    for name, prompt in llamacpp_model.prompts(GEOMETRY).items():
        inputs = weights["token_embd.weight"][prompt]
        for layer, (side, kind) in product(range(2), enumerate(("attn_k", "attn_v"))):
            at = f"blk.{layer}"
            square = (inputs**2).mean(axis=1, keepdims=True, dtype=np.float32)
            normed = inputs / np.sqrt(square + epsilon) * weights[f"{at}.attn_norm.weight"]
            held = normed @ weights[f"{at}.{kind}.weight"].T
            assert (held == values[name][layer, side].reshape(len(prompt), SIZE)).all()
            # What follows attention and the MLP is added to the inputs: nothing.
            assert not weights[f"{at}.attn_output.weight"].any()
            assert not weights[f"{at}.ffn_down.weight"].any()


def state(
    transposed: bool,
    extra: int,
    cells: int = 5,
    rotated: tuple[int, int] = (0, 0),
    kind: tuple[int, int] = (1, 2),
) -> bytes:
    """Give a saved state whose layers' bytes count upwards; `kind` is what columns say."""
    made = struct.pack("<4sII3i", b"qsgg", 4, 3, 7, 8, 9) + struct.pack("<II", 1, cells)
    for at in range(cells):
        made += struct.pack(f"<iI{extra}xi", at, 1, 0)
    made += struct.pack("<IIII", transposed, GEOMETRY.layers, *rotated)
    for layer in range(GEOMETRY.layers):
        made += struct.pack("<iQ", 1, 2 * SIZE) + bytes([layer]) * 2 * SIZE * cells
    for layer in range(GEOMETRY.layers):
        made += struct.pack("<iII", *kind, SIZE) if transposed else struct.pack("<iQ", 1, 2 * SIZE)
        made += bytes([8 + layer]) * 2 * SIZE * cells
    return made


@pytest.mark.parametrize(("transposed", "extra"), list(product((False, True), (0, 12))))
def test_a_saved_state_is_taken_apart(transposed: bool, extra: int) -> None:
    found = read(state(transposed, extra), GEOMETRY)
    assert [(one.tensor, one.layer) for one in found] == [("k", 0), ("k", 1), ("v", 0), ("v", 1)]
    assert [one.data[0] for one in found] == [0, 1, 8, 9]
    assert found[0].extents == (5, SIZE)
    assert found[2].extents == ((SIZE, 5) if transposed else (5, SIZE))


@pytest.mark.parametrize(
    ("data", "geometry"),
    [
        (b"other" + state(False, 0)[5:], GEOMETRY),
        (state(False, 0)[:4] + b"\3" + state(False, 0)[5:], GEOMETRY),
        (state(False, 0)[:-1], GEOMETRY),
        (state(False, 0) + b"\0", GEOMETRY),
        (state(False, 0, cells=4), GEOMETRY),
        (state(False, 8), GEOMETRY),
        (state(False, 0, rotated=(1, 0)), GEOMETRY),
        (state(False, 0, rotated=(0, 1)), GEOMETRY),
        (state(False, 0), replace(GEOMETRY, layers=1)),
        (state(False, 0), replace(GEOMETRY, dtype="bfloat16")),
        (state(True, 0, kind=(30, 2)), GEOMETRY),
        (state(True, 0, kind=(1, 4)), GEOMETRY),
    ],
)
def test_another_file_is_refused(data: bytes, geometry: Geometry) -> None:
    with pytest.raises(LockstepError) as fault:
        read(data, geometry)
    assert fault.value.code == "ENGINE_NOT_OBSERVED"


def test_a_server_that_keeps_what_is_declared_matches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "bin" / "llama-server"
    program.parent.mkdir()
    script = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r}); import tests.observation.made_up_llama"
    )
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -c "{script}" "$@"\n', "utf-8")
    program.chmod(0o755)
    monkeypatch.setattr(Environment, "identity", lambda *_: ("1", {"f": "0" * 64}))
    monkeypatch.setattr(
        llamacpp, "CACHES", [replace(one, dtypes=one.dtypes[:1]) for one in llamacpp.CACHES]
    )
    seen = observe.observe("llamacpp", GEOMETRY, Environment(tmp_path))
    folded = predicate(seen, issued_at="", producer={})
    assert [one["verdict"] for one in folded["observations"]] == ["MATCHES", "MATCHES"]
    assert "llamacpp/llamacpp-flash" in seen.cited
    assert "llamacpp/llamacpp-state-flash" not in seen.cited


def test_a_server_that_breaks_off_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as taken:
        # Bound and not listening: whoever connects is refused.
        taken.bind(("127.0.0.1", 0))
        started = SimpleNamespace(url=f"http://127.0.0.1:{taken.getsockname()[1]}")
        monkeypatch.setattr("lockstep.certify.launch.launched", lambda *_: nullcontext(started))
        with pytest.raises(LockstepError) as fault:
            asyncio.run(llamacpp._saved(Command("none"), [0], "slot.bin"))
    assert fault.value.code == "ENGINE_NOT_OBSERVED"


def test_a_slot_that_was_not_saved_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    places: list[Path] = []

    def server(_: Environment, model: Path, *told: str) -> str:
        places.append(model.parent)
        return "none"

    async def saved(_: Command, prompt: list[int], name: str) -> None:
        # The first is saved, and must not be read in the place of the second.
        if prompt[0] == 0:
            (places[-1] / name).write_bytes(state(False, 0))

    monkeypatch.setattr(Environment, "identity", lambda *_: ("1", {"f": "0" * 64}))
    monkeypatch.setattr(llamacpp, "_server", server)
    monkeypatch.setattr(llamacpp, "_saved", saved)
    with pytest.raises(LockstepError) as fault:
        observe.observe("llamacpp", GEOMETRY)
    assert (fault.value.code, fault.value.expected) == ("ENGINE_NOT_OBSERVED", "a saved slot")


def test_an_answer_that_is_none_is_told() -> None:
    llamacpp._done(SimpleNamespace(status_code=200))
    with pytest.raises(LockstepError) as fault:
        llamacpp._done(SimpleNamespace(status_code=501, text="no slots"))
    assert (fault.value.code, fault.value.got) == ("ENGINE_NOT_OBSERVED", "status 501: no slots")


def test_without_a_library_that_asks_servers_it_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Environment, "identity", lambda *_: ("1", {"f": "0" * 64}))
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(LockstepError) as fault:
        observe.observe("llamacpp", GEOMETRY, Environment(tmp_path))
    assert (fault.value.code, fault.value.expected) == ("LIBRARY_MISSING", "httpx")
