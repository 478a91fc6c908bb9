"""What was asked for, and what an executor signed, as plain data [SAMP-25, SAMP-26]."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

from lockstep import spec
from lockstep.errors import LockstepError
from lockstep.portable_schema import require
from lockstep.sampling.parameters import Parameters, resolve, support_rule
from lockstep.sampling.seed import Origin, derive_seed


@dataclass(frozen=True)
class Request:
    """A request as it was agreed before it was assigned; all decisions are taken from it.

    Attributes:
        version: of the sampler.
        seed_domain: of its seeds.
        origin: what seeds are made of.
        choices: how many sequences are asked for.
        parameters: resolved.
        min_tokens: tokens before which stop tokens are masked.
        max_tokens: the most that are sampled for a sequence.
        stop_tokens: ids that end a sequence.
        features: what the request uses besides, and replay does not cover.
        model_sha256: of the model.
        tokenizer_sha256: of its tokenizer.
        vocab_size: entries of a row of logits.
    """

    version: str
    seed_domain: str
    origin: Origin
    choices: int
    parameters: Parameters
    min_tokens: int
    max_tokens: int
    stop_tokens: tuple[int, ...]
    features: tuple[str, ...]
    model_sha256: str
    tokenizer_sha256: str
    vocab_size: int

    @property
    def rule(self) -> str:
        """Give the rule that bounds the support of its positions [SAMP-28]."""
        return support_rule(self.parameters, self.vocab_size)

    def available(self, position: int) -> int:
        """Give the tokens that can be sampled at a position [SAMP-29]."""
        masked = len(self.stop_tokens) if position < self.min_tokens else 0
        return self.vocab_size - masked

    def copy(self, choice: int) -> dict[str, Any]:
        """Give what the executor's copy must be, by the artifact's members [SAMP-27]."""
        return {
            "version": self.version,
            "seed_domain": self.seed_domain,
            "inference_id": self.origin.inference_id,
            "user_seed": str(self.origin.user_seed),
            "beacon": self.origin.beacon,
            "choice": choice,
            **self.parameters._asdict(),
            "support": self.rule,
            "model_sha256": self.model_sha256,
            "tokenizer_sha256": self.tokenizer_sha256,
        }


class Signed(NamedTuple):
    """A position as an executor signed it.

    Attributes:
        token: what was sampled.
        support: tokens with their log-probabilities; None where there are none.
    """

    token: str
    support: tuple[tuple[str, str], ...] | None


@dataclass(frozen=True)
class Artifact:
    """What an executor signed for one choice of a request.

    Attributes:
        copies: its copies of the request's members; compared, never used.
        length: the tokens that it says it sampled.
        finish: why it stopped.
        positions: in order.
    """

    copies: Mapping[str, Any]
    length: int
    finish: str
    positions: tuple[Signed, ...]


def read_request(document: Any, place: str = "") -> Request:
    """Read a request [SAMP-25].

    Args:
        document: a JSON value.
        place: what stands before the pointer in an error.

    Raises:
        LockstepError: WRONG_TYPE, BAD_VALUE, UNKNOWN_FIELD, MISSING_FIELD at the first offence.
    """
    require(document, _definition("request"), place)
    origin = Origin(int(document["user_seed"]), document["inference_id"], document["beacon"])
    try:
        derive_seed(origin, 0, 0)
        parameters = resolve(*(document[name] for name in Parameters._fields))
    except LockstepError as fault:
        fault.pointer = place + fault.pointer
        raise
    if document["min_tokens"] > document["max_tokens"]:
        got = document["min_tokens"]
        raise LockstepError("BAD_VALUE", f"{place}/min_tokens", "at most max_tokens", got)
    for index, token in enumerate(document["stop_tokens"]):
        before = document["stop_tokens"][index - 1] if index else -1
        if not before < token < document["vocab_size"]:
            expected = f"{before + 1} to {document['vocab_size'] - 1}"
            raise LockstepError("BAD_VALUE", f"{place}/stop_tokens/{index}", expected, token)
    for index, (left, right) in enumerate(pairwise(document["features"]), 1):
        if left >= right:
            at = f"{place}/features/{index}"
            raise LockstepError("BAD_VALUE", at, f"one after {left}", right)
    return Request(
        version=document["version"],
        seed_domain=document["seed_domain"],
        origin=origin,
        choices=document["choices"],
        parameters=parameters,
        min_tokens=document["min_tokens"],
        max_tokens=document["max_tokens"],
        stop_tokens=tuple(document["stop_tokens"]),
        features=tuple(document["features"]),
        model_sha256=document["model_sha256"],
        tokenizer_sha256=document["tokenizer_sha256"],
        vocab_size=document["vocab_size"],
    )


def read_artifact(document: Any, place: str = "") -> Artifact:
    """Read an artifact's form alone; whether it is valid is a verdict's matter [SAMP-26].

    Args:
        document: a JSON value.
        place: what stands before the pointer in an error.

    Raises:
        LockstepError: WRONG_TYPE, BAD_VALUE, UNKNOWN_FIELD, MISSING_FIELD at the first offence.
    """
    require(document, _definition("artifact"), place)
    own = ("length", "finish", "positions")
    return Artifact(
        copies={name: value for name, value in document.items() if name not in own},
        length=document["length"],
        finish=document["finish"],
        positions=tuple(
            Signed(
                one["token"],
                None
                if one["support"] is None
                else tuple((token, text) for token, text in one["support"]),
            )
            for one in document["positions"]
        ),
    )


def artifact_document(artifact: Artifact) -> dict[str, Any]:
    """Give an artifact as a JSON value."""
    return {
        **artifact.copies,
        "length": artifact.length,
        "finish": artifact.finish,
        "positions": [
            {
                "token": one.token,
                "support": None if one.support is None else [list(pair) for pair in one.support],
            }
            for one in artifact.positions
        ],
    }


_COPIED = (
    "version", "seed_domain", "inference_id", "user_seed", "beacon", "temperature", "support",
    "model_sha256", "tokenizer_sha256",
)  # fmt: skip


def blank_artifact() -> dict[str, Any]:
    """Give what stands in the place of an artifact that was not sent, or is none [SAMP-49]."""
    parameters = dict.fromkeys(("top_k", "top_p", "min_p"))
    copies = {**dict.fromkeys(_COPIED, ""), **parameters, "choice": 0}
    return {**copies, "length": 0, "finish": "", "positions": []}


def _definition(name: str) -> dict[str, Any]:
    definitions = spec.load("schemas/sampling.schema.json")["$defs"]
    return {"$ref": f"#/$defs/{name}", "$defs": definitions}
