"""Outcomes of upstream's code on chosen inputs, and what sampling/v1 makes of the same inputs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from lockstep.errors import LockstepError
from lockstep.sampling import resolve, weights
from lockstep.sampling.document import Artifact, Request, Signed
from lockstep.sampling.number import canonical
from lockstep.sampling.replay import replay_sequence
from lockstep.sampling.seed import Origin
from lockstep.sampling.upstream import UpstreamParameters

FOLDER = Path(__file__).parent / "upstream"
VECTORS: dict[str, Any] = json.loads((FOLDER / "vectors.json").read_text("ascii"))
DIVERGENCES: dict[str, Any] = json.loads((FOLDER / "divergences.json").read_text("ascii"))
VOCABULARY = 1_000_000


def support(vector: dict[str, Any]) -> dict[str, str]:
    """Give a vector's log-probabilities, listed or by rule."""
    if "logprobs" in vector:
        given: dict[str, str] = vector["logprobs"]
        return given
    rule = vector["logprobs_rule"]
    return {str(token): rule["value"] for token in range(rule["n"])}


def parameters(vector: dict[str, Any]) -> UpstreamParameters:
    return UpstreamParameters(
        vector["temperature"], vector.get("top_k"), vector.get("top_p"), vector.get("min_p")
    )


def respelt(text: str | None) -> str | None:
    return None if text is None else canonical(text)


def as_it_stands(vector: dict[str, Any]) -> dict[str, int] | str:
    """Weights by sampling/v1 of the texts as they stand, or the refusal."""
    made = parameters(vector)
    try:
        resolved = resolve(made.temperature, made.top_k, made.top_p, made.min_p)
        return weights(support(vector), resolved)
    except LockstepError as fault:
        return f"{fault.code} {fault.pointer}"


_MADE: dict[str, dict[str, int] | str] = {}


def by_value(vector: dict[str, Any]) -> dict[str, int] | str:
    """The same of the one spelling of each number."""
    name = vector.get("name")
    if name is None:
        return _by_value(vector)
    if name not in _MADE:
        _MADE[name] = _by_value(vector)
    return _MADE[name]


def _by_value(vector: dict[str, Any]) -> dict[str, int] | str:
    made = parameters(vector)
    try:
        resolved = resolve(
            canonical(made.temperature, "/temperature"),
            made.top_k,
            respelt(made.top_p),
            respelt(made.min_p),
        )
        return weights(
            {token: canonical(text) for token, text in support(vector).items()}, resolved
        )
    except LockstepError as fault:
        return f"{fault.code} {fault.pointer}"


def sequence_parameters(vector: dict[str, Any]) -> UpstreamParameters:
    given = vector["params"]
    return UpstreamParameters(
        given["T"],
        given.get("tk"),
        given.get("tp"),
        greedy=given.get("greedy", False),
        contract_version=given.get("cv", "1.0.0"),
        seed_domain=given.get("sd", "gonka-deterministic-sampling-v1"),
    )


def sequence_by_v1(vector: dict[str, Any]) -> tuple[str, str]:
    """Verdict and reason of sampling/v1 where the parameters are a request's own.

    What the payload says of version and domain is the executor's copy.
    """
    given = vector["params"]
    request = Request(
        version="sampling/v1",
        seed_domain="lockstep-sampling-v1",
        origin=Origin(42, "chain-abc"),
        choices=1,
        parameters=resolve(canonical(given["T"]), given.get("tk"), given.get("tp")),
        min_tokens=0,
        max_tokens=4,
        stop_tokens=(),
        features=(),
        model_sha256="0" * 64,
        tokenizer_sha256="0" * 64,
        vocab_size=VOCABULARY,
    )
    copies = request.copy(0)
    copies["version"] = given.get("cv", copies["version"])
    copies["seed_domain"] = given.get("sd", copies["seed_domain"])
    positions = tuple(
        Signed(one["token"], None if one["logprobs"] is None else _pairs(one["logprobs"]))
        for one in vector["positions"]
    )
    found = replay_sequence(request, 0, Artifact(copies, len(positions), "length", positions))
    return found.verdict, found.reason


def _pairs(logprobs: dict[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted((token, _spelt(text)) for token, text in logprobs.items()))


def _spelt(text: str) -> str:
    try:
        return canonical(text)
    except LockstepError:
        return text
