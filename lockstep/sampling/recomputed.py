"""What a validator recomputed for sampled sequences, as plain data and from a model [DIST-9]."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from lockstep import spec
from lockstep.engine.model import Model
from lockstep.errors import LockstepError
from lockstep.portable_schema import require
from lockstep.sampling.distance import Values, values
from lockstep.sampling.document import read_artifact, read_request
from lockstep.sampling.forced import Rows, Schedule, Text, forced
from lockstep.sampling.number import of_units
from lockstep.sampling.observe import Judged
from lockstep.sampling.parameters import Parameters
from lockstep.sampling.support import choose, units_of

_CHUNK = Schedule("each sequence alone")


def measurable(judged: Judged) -> bool:
    """Tell whether replay found what a distance can be measured of: a fraud, too [DIST-10]."""
    found = judged.outcome
    return found.verdict in ("honest", "fraud") and not found.invalid_positions


class Position(NamedTuple):
    """A position as it was recomputed.

    Attributes:
        token: what the executor says it sampled.
        support: log-probabilities by token.
    """

    token: str
    support: Values


@dataclass(frozen=True)
class Recomputed:
    """What a validator's model gave.

    Attributes:
        model_sha256: of the model.
        sequences: positions, by inference id and choice.
    """

    model_sha256: str
    sequences: Mapping[tuple[str, int], tuple[Position, ...]]


def read_recomputed(document: Mapping[str, Any], source: str = "") -> Recomputed:
    """Read a document of schemas/recomputed.schema.json.

    Args:
        document: a JSON object.
        source: names it in errors.

    Raises:
        LockstepError: WRONG_TYPE, BAD_VALUE, UNKNOWN_FIELD, MISSING_FIELD at the first offence.
    """
    place = f"{source}:" if source else ""
    require(document, spec.load("schemas/recomputed.schema.json"), place)
    read: dict[tuple[str, int], tuple[Position, ...]] = {}
    for index, one in enumerate(document["sequences"]):
        at = f"{place}/sequences/{index}"
        key = (one["inference_id"], one["choice"])
        if key in read:
            raise LockstepError("BAD_VALUE", at, "another sequence", key[0])
        read[key] = tuple(
            _position(position, f"{at}/positions/{number}")
            for number, position in enumerate(one["positions"])
        )
    return Recomputed(document["model_sha256"], read)


def _position(one: Mapping[str, Any], at: str) -> Position:
    pairs = [(token, text) for token, text in one["support"]]
    for number, ((left, _), (right, _)) in enumerate(pairwise(pairs), 1):
        if left >= right:
            raise LockstepError(
                "BAD_VALUE", f"{at}/support/{number}", f"a token after {left}", right
            )
    return Position(one["token"], values(pairs, f"{at}/support"))


def recompute(
    model: Model,
    model_sha256: str,
    sequences: Sequence[Judged],
    prompts: Mapping[str, Sequence[int]],
) -> dict[str, Any]:
    """Give the document of what a model gives for sequences that a distance can be measured of.

    Args:
        model: the validator's.
        model_sha256: its digest.
        sequences: as replay judged them.
        prompts: token ids by inference id.

    Raises:
        LockstepError: MISSING_FIELD, there is no prompt of an inference id; as `forced`.
    """
    made = [
        _recomputed(model, one, _prompt(prompts, one.request["inference_id"]))
        for one in sequences
        if measurable(one)
    ]
    return {
        "version": spec.load("distance-calibration.json")["contract"],
        "model_sha256": model_sha256,
        "backend": model.backend.name,
        "dtype": model.backend.dtype,
        "sequences": made,
    }


def _prompt(prompts: Mapping[str, Sequence[int]], name: str) -> tuple[int, ...]:
    prompt = prompts.get(name)
    if not prompt or not all(type(token) is int for token in prompt):
        expected = "the prompt's token ids, 1 or more"
        raise LockstepError("MISSING_FIELD", f"--prompts:/{name}", expected, "none")
    return tuple(prompt)


def _recomputed(model: Model, one: Judged, prompt: tuple[int, ...]) -> dict[str, Any]:
    request, artifact = read_request(one.request), read_artifact(one.artifact)
    name = request.origin.inference_id
    tokens = tuple(int(position.token) for position in artifact.positions)
    rows = forced(model, [Text(name, prompt, tokens)], _CHUNK)[0]
    positions = []
    for number, (row, signed) in enumerate(zip(rows, artifact.positions, strict=True)):
        masked = request.stop_tokens if number < request.min_tokens else ()
        support = _support(row, masked, [int(token) for token, _ in signed.support or ()])
        positions.append({"token": signed.token, "support": support})
    return {"inference_id": name, "choice": one.choice, "positions": positions}


def _support(row: Rows, masked: Sequence[int], signed: Sequence[int]) -> list[list[str]]:
    """Give the numbers of the likeliest tokens, as many as were signed, and of these [DIST-1]."""
    tokens = np.setdiff1d(np.arange(len(row)), np.array(masked, dtype=np.int64))
    kept = row[tokens]
    if masked:
        # A mask stands before the normaliser, of which the rows had none.
        wide = kept.astype(np.float64)
        kept = (wide - np.log(np.exp(wide).sum())).astype(np.float32)
    written = units_of(kept)
    units = dict(zip(tokens.tolist(), written.tolist(), strict=True))
    likeliest = choose(tokens, written, Parameters("1", len(signed)), len(row))
    wanted = {*likeliest.tokens.tolist(), *(token for token in signed if token in units)}
    return [[token, of_units(units[int(token)])] for token in sorted(map(str, wanted))]
