"""Experiments 3, 6 and 7: one model, computed in two ways.

Half precision, in which models are served: there the order of a sum shows.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from lockstep.engine.opening import open_model
from lockstep.errors import LockstepError
from lockstep.sampling.experiments import Series
from lockstep.sampling.experiments_drawn import WAYS, seed_of
from lockstep.sampling.forced import Rows, Text, forced
from lockstep.sampling.ladder import ALONE, CHUNKED, DECODED, sampled, support_of, token_of
from lockstep.sampling.parameters import Parameters, resolve

DTYPE = "float16"
SHAPES = (CHUNKED, DECODED)
EDGES = {"top_p_edge": resolve("1", None, "0.95"), "min_p_edge": resolve("1", None, None, "0.05")}

_CHILD = """
import json, sys
from pathlib import Path
from lockstep.sampling.experiments_computed import digests_of, read_texts
print(json.dumps(digests_of(Path(sys.argv[1]), read_texts(sys.argv[2]))))
"""


class Kernels(NamedTuple):
    """What computes.

    Attributes:
        backend: its name.
        invariant: whether it claims that a row does not follow the batch.
    """

    backend: str
    invariant: bool


KERNELS = (Kernels("host", True), Kernels("fast", False))


def computed(folder: Path, texts: int, tokens: int) -> Iterator[Series]:
    """Compute the same texts alone, again, in another process and in other shapes.

    Args:
        folder: of the model.
        texts: how many.
        tokens: of each.

    Raises:
        LockstepError: INTERNAL, another process did not end well.
    """
    made = sampled(open_model(folder, "host", DTYPE).model, Parameters("1", 8), texts, tokens)
    for kernels in KERNELS:
        model = open_model(folder, kernels.backend, DTYPE).model
        alone = forced(model, made, ALONE)
        if kernels.invariant:
            again = forced(model, made, ALONE)
            yield _bits("again", f"rows of {kernels.backend}, computed twice", alone, again)
            yield _process(folder, made, alone)
        for shape in SHAPES:
            other = forced(model, made, shape)
            of = f"{kernels.backend} {DTYPE}: each text alone, and {shape.name}"
            role = "invariant" if kernels.invariant else "other_shapes"
            for parameters in WAYS:
                yield Series(3, role, of, parameters, _draws(alone, other, parameters))
            bits = "invariant_shapes" if kernels.invariant else "other_shapes"
            yield _bits(bits, of, alone, other)
            for edge, parameters in EDGES.items():
                role = "invariant" if kernels.invariant else edge
                yield Series(7, role, of, parameters, _kept(alone, other, parameters))


def digests_of(folder: Path, texts: Sequence[Text]) -> list[list[str]]:
    """Give the SHA-256 of each row that the first kernels compute."""
    rows = forced(open_model(folder, KERNELS[0].backend, DTYPE).model, texts, ALONE)
    return [[hashlib.sha256(row.tobytes()).hexdigest() for row in own] for own in rows]


def read_texts(document: str) -> list[Text]:
    """Read texts from JSON."""
    return [
        Text(name, tuple(prompt), tuple(tokens)) for name, prompt, tokens in json.loads(document)
    ]


def _process(folder: Path, texts: Sequence[Text], alone: Sequence[Rows]) -> Series:
    """Compare with a process of its own, under another seed of hashes."""
    done = subprocess.run(
        [sys.executable, "-c", _CHILD, str(folder), json.dumps(texts)],
        env={**os.environ, "PYTHONHASHSEED": "7"},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise LockstepError(
            "INTERNAL", "experiment 6", "rows of another process", done.stderr[-400:]
        )
    differing = tuple(
        hashlib.sha256(row.tobytes()).hexdigest() != digest
        for own, digests in zip(alone, json.loads(done.stdout), strict=True)
        for row, digest in zip(own, digests, strict=True)
    )
    of = f"rows of {KERNELS[0].backend}, of this process and of another one"
    return Series(6, "another_process", of, None, differing)


def _bits(role: str, of: str, left: Sequence[Rows], right: Sequence[Rows]) -> Series:
    differing = tuple(
        one.tobytes() != other.tobytes()
        for own, others in zip(left, right, strict=True)
        for one, other in zip(own, others, strict=True)
    )
    return Series(6, role, of, None, differing)


def _draws(left: Sequence[Rows], right: Sequence[Rows], parameters: Parameters) -> tuple[bool, ...]:
    return tuple(
        token_of(support_of(one, parameters), parameters, seed)
        != token_of(support_of(other, parameters), parameters, seed)
        for text, (own, others) in enumerate(zip(left, right, strict=True))
        for at, (one, other) in enumerate(zip(own, others, strict=True))
        for seed in [seed_of(text, at)]
    )


def _kept(left: Sequence[Rows], right: Sequence[Rows], parameters: Parameters) -> tuple[bool, ...]:
    return tuple(
        support_of(one, parameters).weights(parameters).keys()
        != support_of(other, parameters).weights(parameters).keys()
        for own, others in zip(left, right, strict=True)
        for one, other in zip(own, others, strict=True)
    )
