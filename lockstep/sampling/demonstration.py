"""The sequences that the committed certificate of sampling is about: a tiny model's own.

Each way to bound a support that 256 tokens allow, a request of two choices, one that stops, and
one at temperature 0, which replay does not cover and the certificate counts.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from lockstep import spec
from lockstep.engine.model import Model
from lockstep.engine.opening import open_model
from lockstep.engine.tiny import TinyModel, make_tiny
from lockstep.fidelity.corpus import Prompt
from lockstep.fidelity.forward import forward
from lockstep.sampling.document import Artifact, Request, Signed, artifact_document, read_request
from lockstep.sampling.executor import Logprobs, execute
from lockstep.sampling.replay import uncovered

PROMPT = b"Determinism is a property that can be shown."
BEACON = hashlib.sha256(b"a block after assignment").hexdigest()
STOPS = tuple(range(32, 64))
"""Many, so that one of them comes soon."""

_SETTINGS: tuple[dict[str, Any], ...] = (
    {"temperature": "0.8", "top_k": 20, "top_p": "0.95", "choices": 2, "max_tokens": 24},
    {"temperature": "1", "top_k": 40, "min_p": "0.05", "max_tokens": 24},
    {"temperature": "1.2", "max_tokens": 4},
    {"temperature": "0.7", "top_k": -1, "top_p": "0.9", "min_p": "0", "max_tokens": 4},
    {"temperature": "1", "top_k": 50, "max_tokens": 64, "stop_tokens": list(STOPS)},
    {"temperature": "1", "top_k": 8, "top_p": "1", "max_tokens": 16, "beacon": ""},
    {"temperature": "0", "top_k": 20, "max_tokens": 8},
)


def document(backend: str = "host") -> dict[str, Any]:
    """Run the requests on a tiny model, and give their sequences as a document.

    Args:
        backend: what computes.
    """
    with tempfile.TemporaryDirectory() as scratch:
        folder = make_tiny(Path(scratch, "tiny"), TinyModel())
        opened = open_model(folder, backend)
        tokenizer = hashlib.sha256((folder / "tokenizer.json").read_bytes()).hexdigest()
        vocab_size = opened.model.config.vocab_size
        digests = {"model_sha256": opened.statement()["sha256"], "tokenizer_sha256": tokenizer}
        model = _model(opened.model)
        sequences = [
            {"request": stated, "choice": choice, "artifact": artifact_document(made)}
            for stated, request in _requests(digests, vocab_size)
            for choice in range(request.choices)
            for made in [_made(request, choice, model)]
        ]
    return {"sequences": sequences}


def _requests(digests: dict[str, Any], vocab_size: int) -> Iterator[tuple[dict[str, Any], Request]]:
    data = spec.load("sampling.json")
    for number, setting in enumerate(_SETTINGS):
        stated = {
            "version": data["contract"],
            "seed_domain": data["seed_domain"],
            "inference_id": f"demonstration-{number}",
            "user_seed": str(1000 + number),
            "beacon": BEACON,
            "choices": 1,
            "top_k": None,
            "top_p": None,
            "min_p": None,
            "min_tokens": 0,
            "stop_tokens": [],
            "features": [],
            **digests,
            "vocab_size": vocab_size,
            **setting,
        }
        yield stated, read_request(stated)


def _model(model: Model) -> Callable[[list[int]], Logprobs]:
    def after(tokens: list[int]) -> Logprobs:
        whole = (*PROMPT, *tokens)
        row = forward(model, Prompt("demonstration", whole, (len(whole) - 1,)))[0]
        logits = row.astype(np.float64)
        shifted = logits - logits.max()
        return dict(enumerate((shifted - np.log(np.exp(shifted).sum())).tolist()))

    return after


def _made(request: Request, choice: int, model: Callable[[list[int]], Logprobs]) -> Artifact:
    if not uncovered(request):
        return execute(request, choice, model)
    tokens: list[int] = []
    while len(tokens) < request.max_tokens:
        logprobs = model(tokens)
        tokens.append(max(logprobs, key=lambda token: (logprobs[token], -token)))
    positions = tuple(Signed(str(token), None) for token in tokens)
    return Artifact(request.copy(choice), len(tokens), "length", positions)
