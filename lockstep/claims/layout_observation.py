"""The claim about observed layouts: numbers found in memory, held against declarations [OBS].

Nothing is run or read here: the same bytes and arguments give the same predicate.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import islice, permutations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lockstep.convert.buffers import APART, AS_DECLARED, Side, side
from lockstep.errors import LockstepError
from lockstep.layouts.declaration import Layout
from lockstep.layouts.geometry import Geometry
from lockstep.observation.numbers import BASE
from lockstep.observation.seen import Memory, SeenEngine, SeenLayout, SeenRun

NOT_RUN = (
    "other versions of these engines, and their kernels on devices",
    "block tables and scales",
)
MOST_AXES = 6
NOTHING = -1

Held = list[NDArray[np.int64]]


class Compared(NamedTuple):
    """A run beside a declaration [OBS-4]."""

    representable: bool
    wrong: int = 0
    stray: int = 0
    first: dict[str, int | None] | None = None


def predicate(seen: SeenEngine, *, issued_at: str, producer: Mapping[str, str]) -> dict[str, Any]:
    """Fold what was seen of an engine into the predicate of its certificate [OBS-1 to OBS-8].

    Args:
        seen: of the engine.
        issued_at: UTC time, as the schema writes it.
        producer: name, version, python, machine and command.
    """
    observations = [
        _observation(place, one, seen.geometry) for place, one in enumerate(seen.observations)
    ]
    counts = _counts(observations, seen.geometry)
    matches = counts["matches"] == counts["observations"]
    return {
        "issued_at": issued_at,
        "critical": [],
        "producer": dict(producer),
        "engine": {
            "name": seen.name,
            "version": seen.version,
            "files": [{"path": path, "sha256": digest} for path, digest in seen.files.items()],
            "written_by": seen.written_by,
        },
        "geometry": seen.geometry.as_json(),
        "layouts": [one.layout.as_json(seen.geometry) for one in seen.observations],
        "observations": observations,
        "cited": list(seen.cited),
        "counts": counts,
        "verdict": "OBSERVED" if matches else "DIFFERENT",
        "not_run": list(NOT_RUN),
    }


def _observation(place: int, seen: SeenLayout, geometry: Geometry) -> dict[str, Any]:
    held = [_held(run, geometry) for run in seen.runs]
    found = _all(seen.layout, seen.runs, held, geometry)
    representable = all(one.representable for one in found)
    if not representable:
        found = [Compared(False)] * len(found)
    matches = representable and not any(one.wrong or one.stray for one in found)
    verdict = "MATCHES" if matches else "DIFFERS" if representable else "NOT_REPRESENTABLE"
    explanation = None
    if verdict == "DIFFERS":
        explanation = _explanation(seen, held, geometry)
    return {
        "layout": place,
        "runs": [
            {
                "dtype": run.dtype,
                "buffers": [_buffer(*pair) for pair in zip(run.low, run.high, strict=True)],
                "wrong": one.wrong,
                "stray": one.stray,
                "first": one.first,
            }
            for run, one in zip(seen.runs, found, strict=True)
        ],
        "verdict": verdict,
        "explanation": explanation,
    }


def _buffer(low: Memory, high: Memory) -> dict[str, Any]:
    return {
        "tensor": low.tensor,
        "layer": low.layer,
        "extents": list(low.extents),
        "low": low.data.hex(),
        "high": high.data.hex(),
    }


def _held(run: SeenRun, geometry: Geometry) -> Held:
    """Give the number that each slot of each buffer holds, NOTHING where it holds none [OBS-2]."""
    count = 2 * geometry.layers * geometry.tokens * geometry.kv_heads * geometry.head_dim
    held = []
    for low, high in zip(run.low, run.high, strict=True):
        digits = [_digits(one.data, run.dtype) for one in (low, high)]
        number = (digits[1] - 1) * BASE + digits[0] - 1
        valid = (digits[0] > 0) & (digits[1] > 0) & (number < count)
        held.append(np.where(valid, number, NOTHING))
    return held


def _digits(data: bytes, dtype: str) -> NDArray[np.int64]:
    """Give the values that are digits, 0 where one is not."""
    if dtype == "bfloat16":
        values = (np.frombuffer(data, "<u2").astype("<u4") << 16).view("<f4")
    else:
        values = np.frombuffer(data, "<f2" if dtype == "float16" else "<f4").astype("<f4")
    with np.errstate(invalid="ignore"):
        digit = (values >= 1) & (values <= BASE) & (values == np.floor(values))
    return np.where(digit, values, 0).astype(np.int64)


def _all(
    layout: Layout, runs: tuple[SeenRun, ...], held: list[Held], geometry: Geometry
) -> list[Compared]:
    return [_compare(layout, run, slots, geometry) for run, slots in zip(runs, held, strict=True)]


def _compare(layout: Layout, run: SeenRun, held: Held, geometry: Geometry) -> Compared:
    """Hold a run against a declaration [OBS-4]."""
    due = _side(layout, replace(geometry, dtype=run.dtype))
    if due is None:
        return Compared(False)
    width = 4 if run.dtype == "float32" else 2
    stated = [(one.tensor, one.layer, len(slots))
              for one, slots in zip(run.low, held, strict=True)]  # fmt: skip
    if stated != [(one.tensor, one.layer, one.bytes // width) for one in due.buffers]:
        return Compared(False)
    # Numbers go by layer, and within one by component: K, then V.
    address = np.stack(
        [
            part.base
            + part.layers[:, None, None, None]
            + part.tokens[None, :, None, None]
            + part.heads[None, None, :, 0, None]
            + part.dims[None, None, None, :]
            for part in due.components
        ],
        axis=1,
    ).reshape(-1)
    starts = np.cumsum([0, *(len(slots) for slots in held)])
    flat = starts[address // APART] + address % APART // width
    numbers = np.concatenate(held)
    wrong = np.flatnonzero(numbers[flat] != np.arange(len(flat)))
    covered = np.zeros(len(numbers), dtype=np.bool_)
    covered[flat] = True
    stray = int(((numbers != NOTHING) & ~covered).sum())
    first = None
    if len(wrong):
        number = int(wrong[0])
        elements = len(flat) // geometry.layers
        got = int(numbers[flat[number]])
        first = {
            "layer": number // elements,
            "element": number % elements,
            "buffer": int(address[number] // APART),
            "slot": int(address[number] % APART) // width,
            "held": None if got == NOTHING else got,
        }
    return Compared(True, len(wrong), stray, first)


def _side(layout: Layout, geometry: Geometry) -> Side | None:
    """Lay a declaration out; None where it is not of the form that is compared."""
    if layout.holds_latent or layout.ranks != 1 or layout.quantisation != "none":
        return None
    try:
        return side(layout, geometry, AS_DECLARED, layout.name)
    except LockstepError:
        return None


def _explanation(seen: SeenLayout, held: list[Held], geometry: Geometry) -> list[list[str]] | None:
    """Give the first other order of axes that matches all runs [OBS-6]."""
    tensors = seen.layout.tensors
    axes = tensors[0].axes
    if any(one.axes != axes for one in tensors) or len(axes) > MOST_AXES:
        return None
    if tensors[0].opened != axes:
        return None
    for places in islice(permutations(range(len(axes))), 1, None):
        order = tuple(axes[place] for place in places)
        tried = replace(seen.layout, tensors=tuple(replace(one, axes=order) for one in tensors))
        found = _all(tried, seen.runs, held, geometry)
        if all(one.representable and not one.wrong and not one.stray for one in found):
            return [list(order)] * len(tensors)
    return None


def _counts(observations: list[dict[str, Any]], geometry: Geometry) -> dict[str, int]:
    elements = 2 * geometry.layers * geometry.tokens * geometry.kv_heads * geometry.head_dim
    verdicts = [one["verdict"] for one in observations]
    runs = [run for one in observations for run in one["runs"]]
    return {
        "observations": len(observations),
        "matches": verdicts.count("MATCHES"),
        "differs": verdicts.count("DIFFERS"),
        "not_representable": verdicts.count("NOT_REPRESENTABLE"),
        "explained": sum(one["explanation"] is not None for one in observations),
        "runs": len(runs),
        "elements": len(runs) * elements,
        "wrong": sum(run["wrong"] for run in runs),
        "stray": sum(run["stray"] for run in runs),
    }
