"""Sequences that an honest executor signed, whole statements of them, and edits of them."""

from __future__ import annotations

import json
from copy import deepcopy
from functools import cache
from typing import Any

from lockstep.certificate.statement import sampling_subjects
from lockstep.certificate.statement import statement as wrap
from lockstep.claims.sampling import predicate
from lockstep.sampling import resolve
from lockstep.sampling.document import artifact_document
from lockstep.sampling.executor import execute
from lockstep.sampling.observe import judge
from lockstep.sampling.seed import Origin
from lockstep_verify import lcj
from tests.sampling.conftest import logprobs_after, request_of
from tests.sampling.documents import request_document

PRODUCER = dict.fromkeys(("name", "version", "python", "machine", "command"), "test")
Sequence = dict[str, Any]
REQUESTS: dict[str, dict[str, Any]] = {
    "top_k": {"parameters": resolve("0.7", 12, "0.95")},
    "whole": {"parameters": resolve("1.2"), "vocab_size": 40, "stop_tokens": (7, 9)},
    "min_p": {"parameters": resolve("1", None, None, "0.05"), "vocab_size": 2000},
    "greedy": {"parameters": resolve("0", 12)},
    "greedy_too": {"parameters": resolve("0", 12)},
    "masked": {
        "parameters": resolve("1", 12),
        "stop_tokens": (1, 2, 3),
        "min_tokens": 2,
        "vocab_size": 100,
    },
}


@cache
def _honest(name: str, choice: int) -> str:
    own = REQUESTS[name]
    changes = {"vocab_size": 300, "max_tokens": 4, "choices": choices(name), **own}
    request = request_of(origin=Origin(-7, f"chain-{name}", "ab" * 32), **changes)
    masked = request.stop_tokens if request.min_tokens else ()
    if own["parameters"].greedy:
        # What was sampled does not matter: nothing of it is looked at.
        sampled = json.loads(_honest("top_k", 0))["artifact"]
    else:
        model = logprobs_after(request.vocab_size, masked)
        sampled = artifact_document(execute(request, choice, model))
    one = {"request": request_document(request), "choice": choice, "artifact": sampled}
    return json.dumps(one)


def choices(name: str) -> int:
    """Give how many sequences a request asks for."""
    return 2 if name == "top_k" else 1


def honest(name: str = "top_k", choice: int = 1) -> Sequence:
    """Give a sequence, of the request of a name; its only one where it asks for one."""
    one: Sequence = json.loads(_honest(name, min(choice, choices(name) - 1)))
    return one


def whole(*sequences: Sequence) -> dict[str, Any]:
    """Give the statement of sequences, as the producer judges them."""
    judged = judge({"sequences": deepcopy(list(sequences))})
    folded = predicate(judged, issued_at="2026-11-29T12:00:00Z", producer=PRODUCER)
    made = wrap("sampling", sampling_subjects(folded), folded)
    parsed: dict[str, Any] = json.loads(lcj.encode(made))
    return parsed
