"""The sequences that the committed certificate of sampling is about: an engine's own.

Each way to bound a support that 256 tokens allow, a request of two choices, one that stops, and
one at temperature 0, which replay does not cover and the certificate counts. The engine serves all
of them together, so that what is signed came of batches, and each draw of its request alone.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from pathlib import Path
from typing import Any

from lockstep.engine.checkpoint import GENERATION_CONFIG
from lockstep.engine.drive import drive
from lockstep.engine.opening import open_model
from lockstep.engine.sampling import Sampling
from lockstep.engine.tiny import TinyModel, make_tiny
from lockstep.sampling.record import Recorder, model_of
from lockstep.schedule.policies import CONTINUOUS
from lockstep.schedule.policies.batching import Batching
from lockstep.schedule.workload import Request, Workload
from lockstep.schedule.workloads import pool_for

PROMPT = b"Determinism is a property that can be shown."
BEACON = hashlib.sha256(b"a block after assignment").hexdigest()
STOPS = tuple(range(32, 64))
"""The model's ends of sequence: many, so that one of them comes soon."""
BLOCK_SIZE = 16

_WAYS = (
    (Sampling("0.8", 20, "0.95", beacon=BEACON), 2, 24),
    (Sampling("1", 40, min_p="0.05", beacon=BEACON), 1, 24),
    (Sampling("1.2", beacon=BEACON), 1, 4),
    (Sampling("0.7", top_p="0.9", beacon=BEACON), 1, 4),
    (Sampling("1", 50, beacon=BEACON), 1, 64),
    (Sampling("1", 8), 1, 16),
    (Sampling("0", 20, beacon=BEACON), 1, 8),
)
"""Parameters, choices and tokens of each request."""
_STOPPING = 4
"""The request that an end of sequence ends."""


def workload() -> Workload:
    """Give the requests, a choice each."""
    return Workload(
        tuple(
            Request(
                id=f"demonstration-{number}.{choice}",
                prompt=tuple(PROMPT),
                max_new=tokens,
                ignore_eos=number != _STOPPING,
                sampling=Sampling(**{**sampling.document(), "seed": 1000 + number}),  # type: ignore[arg-type]
            )
            for number, (sampling, choices, tokens) in enumerate(_WAYS)
            for choice in range(choices)
        )
    )


def document(backend: str = "host") -> dict[str, Any]:
    """Serve the requests by a tiny model, and give their sequences as a document.

    Args:
        backend: what computes.
    """
    requests, recorder = workload(), Recorder()
    with tempfile.TemporaryDirectory() as scratch:
        folder = make_tiny(Path(scratch, "tiny"), TinyModel())
        stops = json.dumps({"eos_token_id": list(STOPS)})
        (folder / GENERATION_CONFIG).write_text(stops, "utf-8")
        opened = open_model(folder, backend)
        served = model_of(folder, opened)
    pool = pool_for(requests, BLOCK_SIZE)
    drive(opened.model, requests, pool, Batching(CONTINUOUS), recorder)
    return recorder.document(served)
