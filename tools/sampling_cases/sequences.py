"""What the vectors of signed positions, sequences and certificates of sampling ask."""

from __future__ import annotations

import copy
import hashlib
import json
import math
from collections.abc import Iterator
from typing import Any

from vector import HANDED, UPSTREAM, V1, Vector

from lockstep.certificate.statement import statement as wrap
from lockstep.certificate.statement import subject
from lockstep.claims.sampling import predicate
from lockstep.sampling.document import artifact_document, read_request
from lockstep.sampling.executor import execute
from lockstep.sampling.observe import judge

ISSUED_AT = "2026-05-01T00:00:00Z"
PRODUCER = dict(
    zip(
        ("name", "version", "python", "machine", "command"),
        ("conformance vectors", "1", "none", "none", "none"),
        strict=True,
    )
)
_BASE: dict[str, Any] = {
    "version": V1,
    "seed_domain": "lockstep-sampling-v1",
    "inference_id": "chain-abc",
    "user_seed": "-7",
    "beacon": "ab" * 32,
    "choices": 2,
    "temperature": "0.8",
    "top_k": 6,
    "top_p": "0.95",
    "min_p": None,
    "min_tokens": 0,
    "max_tokens": 3,
    "stop_tokens": [],
    "features": [],
    "model_sha256": "1" * 64,
    "tokenizer_sha256": "2" * 64,
    "vocab_size": 60,
}
REQUESTS: dict[str, dict[str, Any]] = {
    "top-k": _BASE,
    "whole": {
        **_BASE, "inference_id": "chain-whole", "choices": 1, "temperature": "1.2", "top_k": -1,
        "top_p": "1", "min_p": "0", "vocab_size": 12, "stop_tokens": [3], "min_tokens": 1,
    },
    "min-p": {
        **_BASE, "inference_id": "chain-min-p", "choices": 1, "temperature": "1", "top_k": 0,
        "top_p": None, "min_p": "0.9", "vocab_size": 1200, "max_tokens": 1, "beacon": "",
    },
}  # fmt: skip
_DERIVED = (
    "verdict", "reason", "position", "positions", "covered", "fraud_positions", "invalid_positions",
)  # fmt: skip


def _model(vocab_size: int, masked: tuple[int, ...]) -> Any:
    """Give a made-up model whose logits are hashes."""

    def give(tokens: list[int]) -> dict[int, float]:
        def logit(token: int) -> float:
            digest = hashlib.sha256(f"{tokens}/{token}".encode("ascii")).digest()
            return int.from_bytes(digest[:4], "big") / 2**29

        logits = {token: logit(token) for token in range(vocab_size) if token not in masked}
        whole = math.log(math.fsum(math.exp(one) for one in logits.values()))
        return {token: one - whole for token, one in logits.items()}

    return give


def honest(name: str, choice: int = 0) -> dict[str, Any]:
    """Give request, choice and artifact as an honest executor has them."""
    stated = REQUESTS[name]
    request = read_request(stated)
    # Below min_tokens stop tokens are masked, so that the sequence has its full length.
    made = execute(request, choice, _masked(request))
    artifact = json.loads(json.dumps(artifact_document(made)))
    return {"request": copy.deepcopy(stated), "choice": choice, "artifact": artifact}


def _masked(request: Any) -> Any:
    free, bound = _model(request.vocab_size, ()), _model(request.vocab_size, request.stop_tokens)
    return lambda tokens: (bound if len(tokens) < request.min_tokens else free)(tokens)


def changed(one: dict[str, Any], at: str, value: Any) -> dict[str, Any]:
    """Give a sequence with the value at a pointer replaced."""
    holder = one = copy.deepcopy(one)
    *way, last = at.split("/")[1:]
    for step in way:
        holder = holder[int(step) if isinstance(holder, list) else step]
    holder[int(last) if isinstance(holder, list) else last] = value
    return one


def told(one: dict[str, Any]) -> dict[str, Any]:
    """Give what the producer derives of a sequence."""
    outcome = judge({"sequences": [copy.deepcopy(one)]})[0].outcome
    return {name: getattr(outcome, name) for name in _DERIVED}


def _listed(logprobs: dict[str, str] | None) -> list[list[str]] | None:
    return logprobs and sorted([token, text] for token, text in logprobs.items())


def upstream_sequences() -> Iterator[Vector]:
    """Verdicts that upstream's code gave on sequences, and on their first positions."""
    for one in HANDED["sequence"]:
        if "params" not in one:
            continue
        given, known, name = one["params"], one["expected"], one["name"].lower().replace("_", "-")
        asked = {
            "profile": UPSTREAM,
            "contract_version": given.get("cv", "1.0.0"),
            "seed_domain": given.get("sd", "gonka-deterministic-sampling-v1"),
            "greedy": given.get("greedy", False),
            "base_seed": one["base_seed"],
            "temperature": given["T"],
            "top_k": given.get("tk"),
            "top_p": given.get("tp"),
            "min_p": None,
        }
        signed = [
            {"token": each["token"], "logprobs": _listed(each["logprobs"])}
            for each in one["positions"]
        ]
        at = known["fraud_position"]
        value = {"verdict": known["verdict"], "position": None if at < 0 else at}
        value |= {"honest": known["n_honest"], "inconclusive": known["n_inconclusive"]}
        note = "What upstream's code gave, faults included."
        yield Vector(
            f"sequence-upstream-{name}",
            "SAMP-46",
            note,
            "sampling_sequence",
            {**asked, "positions": signed},
            value,
        )
        if known["verdict"] == "fraud" and at >= 0:
            place = {"index": at, "token": signed[at]["token"], "logprobs": signed[at]["logprobs"]}
            yield Vector(
                f"position-upstream-{name}",
                "SAMP-45",
                note,
                "sampling_position",
                {**asked, **place},
                {"verdict": "fraud"},
            )
        if known["n_honest"] == len(signed) > 0:
            place = {"index": 1, "token": signed[1]["token"], "logprobs": signed[1]["logprobs"]}
            for more, verdict in (
                ({}, "honest"),
                ({"greedy": True}, "inconclusive"),
                ({"logprobs": None}, "inconclusive"),
                ({"temperature": "-1"}, "inconclusive"),
                ({"contract_version": "2"}, "inconclusive"),
            ):
                word = next(iter(more), "as-it-is").replace("_", "-")
                yield Vector(
                    f"position-upstream-{name}-{word}",
                    "SAMP-45",
                    note,
                    "sampling_position",
                    {**asked, **place, **more},
                    {"verdict": verdict},
                )


def statement(*sequences: dict[str, Any]) -> dict[str, Any]:
    """Give the document of a certificate's statement, placeholders in the place of digests."""
    judged = judge({"sequences": copy.deepcopy(list(sequences))})
    folded = predicate(judged, issued_at=ISSUED_AT, producer=PRODUCER)
    subjects = [subject("spec", "$spec:sampling"), subject("requests", "$requests")]
    return wrap("sampling", subjects, json.loads(json.dumps(folded)))
