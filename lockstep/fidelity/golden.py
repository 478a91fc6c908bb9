"""Golden digests: the raw logit bytes of the corpus, under the binding that made them [FID-8]."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lockstep import spec
from lockstep.certificate import lcj
from lockstep.certificate.write import write_file
from lockstep.engine.environment import not_comparable, plain
from lockstep.engine.opening import Opened
from lockstep.engine.tiny import TinyModel
from lockstep.errors import LockstepError
from lockstep.fidelity.corpus import Prompt, require_corpus
from lockstep.fidelity.forward import forward
from lockstep.fidelity.measure import Progress, logits_sha256
from lockstep.schedule.document import read_document

SUBJECTS: tuple[tuple[TinyModel, str], ...] = (
    (TinyModel(), "float32"),
    (TinyModel(), "float16"),
    (TinyModel(seed=1, head_dim=64, tied=True), "float32"),
)
"""The models of the committed baseline, with their compute dtypes."""

_REMAKE = "`lockstep golden --new-claim` makes the baseline anew, which is a new claim."


@dataclass(frozen=True)
class Golden:
    """A model's digests on a backend.

    Attributes:
        model: as a certificate names it [FID-9].
        binding: the settings that can change the bits [TUPLE-4].
        prompts: digests of tokens and of logits, by the prompt's id.
    """

    model: Mapping[str, Any]
    binding: Mapping[str, str]
    prompts: Mapping[str, tuple[str, str]]

    def document(self) -> dict[str, Any]:
        """Give the digests as a JSON value."""
        return {
            "model": dict(self.model),
            "binding": dict(self.binding),
            "prompts": [
                {"id": name, "sha256": tokens, "logits_sha256": logits}
                for name, (tokens, logits) in self.prompts.items()
            ],
        }


@dataclass(frozen=True)
class Comparison:
    """What came of comparing a baseline with what is computed here.

    Attributes:
        equal: prompts whose digests are equal.
        not_comparable: prompts of models whose binding is another here.
        reasons: what differs in these bindings, each once.
    """

    equal: int = 0
    not_comparable: int = 0
    reasons: tuple[str, ...] = ()


def golden(
    opened: Opened,
    prompts: Sequence[Prompt] | None = None,
    progress: Progress = lambda what, done, whole: None,
) -> Golden:
    """Compute the digests of a model on its backend.

    Args:
        opened: the model.
        prompts: of the corpus; None for all of them.
        progress: told of each prompt.
    """
    chosen = require_corpus(opened.model) if prompts is None else prompts
    digests = {}
    for done, prompt in enumerate(chosen):
        progress(f"computing model {opened.checkpoint.sha256[:8]}", done, len(chosen))
        digests[prompt.id] = (prompt.sha256, logits_sha256(forward(opened.model, prompt)))
    binding = {name: plain(value) for name, value in opened.model.backend.binding().items()}
    return Golden(opened.statement(), binding, digests)


def compare(baseline: Iterable[Golden], here: Iterable[Golden]) -> Comparison:
    """Compare digests model by model.

    Raises:
        LockstepError: GOLDEN_MISMATCH, at the first prompt whose logits differ although model and
            binding are equal; MISSING_FIELD, a model or a prompt of the baseline is not here.
    """
    found = {_key(entry): entry for entry in here}
    equal = other = 0
    reasons: dict[str, None] = {}
    for entry in baseline:
        mine = found.get(_key(entry))
        if mine is None:
            raise LockstepError("MISSING_FIELD", "golden", str(_key(entry)), "not computed here")
        reason = not_comparable(entry.binding, mine.binding)
        if reason:
            reasons[reason] = None
            other += len(entry.prompts)
            continue
        for name, digests in entry.prompts.items():
            if name not in mine.prompts:
                raise LockstepError("MISSING_FIELD", f"golden: {name}", name, "not computed here")
            if mine.prompts[name] != digests:
                where = f"golden: {entry.model['dtype']}, prompt {name}"
                got = mine.prompts[name]
                raise LockstepError("GOLDEN_MISMATCH", where, digests[1], got[1], _REMAKE)
            equal += 1
    return Comparison(equal, other, tuple(reasons))


def read_baseline(path: Path) -> tuple[Golden, ...]:
    """Read a baseline.

    Raises:
        LockstepError: as `read_document`; BAD_VALUE, it has another form, or was made of another
            corpus.
    """
    document = read_document(path)
    try:
        if document["version"] != 1 or document["corpus_sha256"] != corpus_sha256():
            got = str(document["corpus_sha256"])
            raise LockstepError("BAD_VALUE", f"{path}:/corpus_sha256", corpus_sha256(), got)
        return tuple(
            Golden(
                entry["model"],
                entry["binding"],
                {p["id"]: (p["sha256"], p["logits_sha256"]) for p in entry["prompts"]},
            )
            for entry in document["entries"]
        )
    except (KeyError, TypeError) as fault:
        raise LockstepError("BAD_VALUE", str(path), "golden digests", repr(fault)) from None


def write_baseline(path: Path, entries: Iterable[Golden]) -> None:
    """Write a baseline, whole or not at all: a new claim."""
    document = {
        "version": 1,
        "corpus_sha256": corpus_sha256(),
        "entries": [entry.document() for entry in entries],
    }
    write_file(path, lcj.encode(document))


def corpus_sha256() -> str:
    """Give the digest of the corpus as the specification declares it, in hex."""
    return hashlib.sha256(lcj.encode({"corpus": spec.load("fidelity.json")["corpus"]})).hexdigest()


def _key(entry: Golden) -> tuple[str, str, str]:
    return entry.binding["backend"], entry.model["dtype"], entry.model["sha256"]
