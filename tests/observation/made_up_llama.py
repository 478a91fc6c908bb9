"""A made-up llama-server: it computes keys and values from the model's file, and saves a slot."""

from __future__ import annotations

import json
import struct
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import numpy as np

from tests.observation.gguf_reader import opened

GIVEN = dict(zip(sys.argv[1:], sys.argv[2:], strict=False))
TYPES = {"f32": (0, 4), "f16": (1, 2), "bf16": (30, 2)}
HEADER, WEIGHTS = opened(Path(GIVEN["-m"]).read_bytes())
PROMPT: list[int] = []


def held(layer: int, kind: str) -> np.ndarray:
    """Give what a projection makes of the prompt: shape (tokens, heads times dim)."""
    inputs = WEIGHTS["token_embd.weight"][PROMPT]
    scale = np.sqrt((inputs**2).mean(axis=1, keepdims=True))
    normed = inputs / scale * WEIGHTS[f"blk.{layer}.attn_norm.weight"]
    return normed @ WEIGHTS[f"blk.{layer}.{kind}.weight"].T


def encoded(values: np.ndarray) -> bytes:
    if GIVEN["-ctk"] == "bf16":
        return (values.astype("<f4").view("<u4") >> 16).astype("<u2").tobytes()
    return values.astype({"f32": "<f4", "f16": "<f2"}[GIVEN["-ctk"]]).tobytes()


def saved() -> bytes:
    number, width = TYPES[GIVEN["-ctk"]]
    layers, flash = range(int(HEADER["llama.block_count"])), GIVEN["-fa"] == "on"
    made = struct.pack(f"<4sII{len(PROMPT)}i", b"qsgg", 4, len(PROMPT), *PROMPT)
    made += struct.pack("<II", 1, len(PROMPT))
    for at in range(len(PROMPT)):
        made += struct.pack("<iIi", at, 1, 0)
    made += struct.pack("<IIII", not flash, len(layers), 0, 0)
    for kind in ("attn_k", "attn_v"):
        for layer in layers:
            values = held(layer, kind)
            if flash or kind == "attn_k":
                made += struct.pack("<iQ", number, width * values.shape[1]) + encoded(values)
            else:
                made += struct.pack("<iII", number, width, values.shape[1])
                made += encoded(np.ascontiguousarray(values.T))
    return made


class Handler(BaseHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        self.answer()

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path == "/completion":
            PROMPT[:] = asked["prompt"]
        else:
            Path(GIVEN["--slot-save-path"], asked["filename"]).write_bytes(saved())
        self.answer()

    def answer(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")


HTTPServer(("127.0.0.1", int(GIVEN["--port"])), Handler).serve_forever()
