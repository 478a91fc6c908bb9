"""The bytes of an observation: which number each slot holds (OBS-1, OBS-2)."""

import struct
from math import prod
from typing import Any

from lockstep_verify.errors import Refusal

BASE = 250
MOST_NUMBERS = BASE * BASE
NOWHERE = -1


def numbers(geometry: dict[str, Any]) -> int:
    """Give how many numbers are written at a geometry."""
    return 2 * int(prod(geometry[name] for name in ("layers", "tokens", "kv_heads", "head_dim")))


def read(runs: list[dict[str, Any]], geometry: dict[str, Any], at: str) -> list[list[list[int]]]:
    """Give what each slot of each buffer of each run holds; NOWHERE for nothing (OBS-2).

    Raises:
        Refusal: BAD_VALUE, at a run of another type, then at a buffer of another length.
    """
    seen: list[str] = []
    for number, run in enumerate(runs):
        dtype = run["dtype"]
        if dtype in seen or (number == 0 and dtype != geometry["dtype"]):
            expected = "the geometry's element type first, each once"
            raise Refusal("BAD_VALUE", f"{at}/runs/{number}", expected, dtype)
        seen.append(dtype)
    return [
        [
            _slots(buffer, run["dtype"], numbers(geometry), f"{at}/runs/{number}/buffers/{place}")
            for place, buffer in enumerate(run["buffers"])
        ]
        for number, run in enumerate(runs)
    ]


def _slots(buffer: dict[str, Any], dtype: str, count: int, at: str) -> list[int]:
    values = []
    for name in ("low", "high"):
        data = bytes.fromhex(buffer[name])
        width = 4 if dtype == "float32" else 2
        if len(data) != width * prod(buffer["extents"]):
            expected = f"{prod(buffer['extents'])} elements of {width} bytes"
            raise Refusal("BAD_VALUE", at, expected, f"{len(data)} bytes in {name}")
        values.append([_digit(value) for value in _floats(data, dtype)])
    slots = []
    for low, high in zip(*values, strict=True):
        number = (high - 1) * BASE + low - 1 if low and high else NOWHERE
        slots.append(number if number < count else NOWHERE)
    return slots


def _floats(data: bytes, dtype: str) -> tuple[float, ...]:
    """Read little-endian numbers; a bfloat16 is the upper half of a float32."""
    if dtype == "bfloat16":
        data = b"".join(b"\0\0" + data[i : i + 2] for i in range(0, len(data), 2))
    letter, width = ("e", 2) if dtype == "float16" else ("f", 4)
    return struct.unpack(f"<{len(data) // width}{letter}", data)


def _digit(value: float) -> int:
    """Give a digit's number, 0 where the value is none."""
    return int(value) if 1 <= value <= BASE and value == int(value) else 0
