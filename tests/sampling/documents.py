"""Requests as documents."""

from __future__ import annotations

from typing import Any

from lockstep.sampling.document import Request


def request_document(request: Request) -> dict[str, Any]:
    """Give the document of a request whose parameters are resolved already."""
    return {
        "version": request.version,
        "seed_domain": request.seed_domain,
        "inference_id": request.origin.inference_id,
        "user_seed": str(request.origin.user_seed),
        "beacon": request.origin.beacon,
        "choices": request.choices,
        **request.parameters._asdict(),
        "min_tokens": request.min_tokens,
        "max_tokens": request.max_tokens,
        "stop_tokens": list(request.stop_tokens),
        "features": list(request.features),
        "model_sha256": request.model_sha256,
        "tokenizer_sha256": request.tokenizer_sha256,
        "vocab_size": request.vocab_size,
    }
