"""Artifacts of an execution: what its requests drew, and from which numbers [ENG-14].

An observer beside the engine. It asks for the supports that the engine has drawn from, by the same
function and of the same logits, and changes nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from lockstep import spec
from lockstep.engine.execute import Execution, StepView
from lockstep.engine.model_files import read_bytes, sha256
from lockstep.engine.opening import Opened
from lockstep.engine.sampler import Drawing, seed, support, units
from lockstep.engine.tokenizer import TOKENIZER
from lockstep.sampling.document import Artifact, Signed, artifact_document, read_request
from lockstep.sampling.shadow import PATHS, shadow
from lockstep.sampling.support import Support
from lockstep.schedule.workload import Request


class Served(NamedTuple):
    """What a request says of the model that is to serve it.

    Attributes:
        sha256: of the checkpoint.
        tokenizer_sha256: of its tokenizer's file.
    """

    sha256: str
    tokenizer_sha256: str


def model_of(folder: Path, opened: Opened) -> Served:
    """Give the model that was opened from a folder, by its digests.

    Raises:
        LockstepError: the folder has no tokenizer's file, as `read_bytes`.
    """
    return Served(opened.checkpoint.sha256, sha256(read_bytes(folder / TOKENIZER)))


class Shadows(NamedTuple):
    """How often floats would have drawn another token.

    Attributes:
        positions: that were drawn.
        differing: of these, by path.
    """

    positions: int
    differing: Mapping[str, int]


class Recorder:
    """Sees an execution and keeps what its requests would sign.

    Args:
        shadowed: whether to draw each token in floats as well, and to count where that differs.

    Attributes:
        shadowed: as given.
    """

    def __init__(self, shadowed: bool = False) -> None:
        self.shadowed = shadowed
        self._signed: dict[str, list[Signed]] = {}
        self._differing: dict[tuple[str, str], list[bool]] = {}
        self._execution: Execution | None = None

    @property
    def shadows(self) -> Shadows:
        """What was counted; nothing where it was not asked for."""
        counted = Counter({path.name: 0 for path in PATHS})
        for (_, path), differing in self._differing.items():
            counted[path] += sum(differing)
        drawn = sum(len(one) for (_, path), one in self._differing.items() if path == PATHS[0].name)
        return Shadows(drawn, dict(counted))

    def differing(self, request: str, path: str) -> list[bool]:
        """Tell of each token that a request has drawn whether a path would have drawn another."""
        return list(self._differing.get((request, path), ()))

    def after_step(self, view: StepView) -> None:
        """See a step: keep the support of each token that it has drawn."""
        self._execution = view.execution
        emitting = [item for item in view.work if item.emits]
        requests = [view.execution.ledger.request(item.number) for item in emitting]
        drawn = [place for place, one in enumerate(requests) if not one.sampling.greedy]
        rows = units(view.execution.model.backend, view.logits[drawn]) if drawn else np.empty(0)
        found = dict(zip(drawn, rows, strict=True))
        for place, (request, token) in enumerate(zip(requests, view.tokens, strict=True)):
            signed = self._signed.setdefault(request.id, [])
            pairs = None
            if place in found:
                chosen = support(found[place], request.sampling)
                pairs = chosen.texts()
                if self.shadowed:
                    self._shadow(request, len(signed), chosen, token)
            signed.append(Signed(str(token), pairs))

    def document(self, model: Served) -> dict[str, Any]:
        """Give the sequences of the requests that have ended, as `lockstep sampling` reads them.

        Requests whose name is no id of one request are left out: two of them have one choice, or
        differ in more than their choice, as calls of a server do that bring no id.

        Args:
            model: what requests say of it.
        """
        execution = self._execution
        if execution is None:
            return {"sequences": []}
        run = execution.run()
        unfinished = frozenset(run.unfinished)
        ended = [one for one in execution.workload.requests if one.id not in unfinished]
        named: dict[str, list[Request]] = {}
        for one in ended:
            named.setdefault(one.stream[0], []).append(one)
        ended = [one for one in ended if _is_one_request(named[one.stream[0]])]
        stated = _requests(ended, execution, model)
        sequences = []
        for request in ended:
            name, choice = request.stream
            output = run.outputs[request.id]
            artifact = Artifact(
                copies=read_request(stated[name]).copy(choice),
                length=len(output.tokens),
                finish="stop" if output.reason == "eos" else "length",
                positions=tuple(self._signed[request.id]),
            )
            made = {"request": stated[name], "choice": choice}
            sequences.append({**made, "artifact": artifact_document(artifact)})
        return {"sequences": sequences}

    def _shadow(self, request: Request, position: int, chosen: Support, token: int) -> None:
        parameters = request.sampling.resolved
        named = seed(Drawing(*request.stream, position, request.sampling))
        for path in PATHS:
            other = shadow(chosen, parameters, named, path).token
            self._differing.setdefault((request.id, path.name), []).append(other != token)


def _requests(
    requests: list[Request], execution: Execution, model: Served
) -> dict[str, dict[str, Any]]:
    """Give what was asked for, by name; the choices of a name are one request's."""
    choices: dict[str, int] = {}
    for one in requests:
        name, choice = one.stream
        choices[name] = max(choices.get(name, 0), choice + 1)
    return {
        one.stream[0]: _stated(one, choices[one.stream[0]], execution, model) for one in requests
    }


def _is_one_request(own: list[Request]) -> bool:
    """Tell whether the requests of a name are the choices of one."""
    choices = {one.stream[1] for one in own}
    return len(choices) == len(own) and all(_asked(one) == _asked(own[0]) for one in own)


def _asked(request: Request) -> tuple[object, ...]:
    return request.prompt, request.max_new, request.ignore_eos, request.salt, request.sampling


def _stated(request: Request, choices: int, execution: Execution, model: Served) -> dict[str, Any]:
    data, own, config = spec.load("sampling.json"), request.sampling, execution.model.config
    return {
        "version": data["contract"],
        "seed_domain": data["seed_domain"],
        "inference_id": request.stream[0],
        "user_seed": str(own.seed),
        "beacon": own.beacon,
        "choices": choices,
        "temperature": own.temperature,
        "top_k": own.top_k,
        "top_p": own.top_p,
        "min_p": own.min_p,
        "min_tokens": 0,
        "max_tokens": request.max_new,
        "stop_tokens": [] if request.ignore_eos else sorted(config.eos_token_ids),
        "features": [],
        "model_sha256": model.sha256,
        "tokenizer_sha256": model.tokenizer_sha256,
        "vocab_size": config.vocab_size,
    }
