"""The committed corpus of prompts, made for any vocabulary by a rule [FID-1]."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from lockstep import spec
from lockstep.engine.digest import u64s
from lockstep.engine.model import Model
from lockstep.errors import LockstepError


@dataclass(frozen=True)
class Prompt:
    """A prompt of the corpus.

    Attributes:
        id: its name.
        tokens: its token ids.
        positions: where its logits are looked at, ascending.
    """

    id: str
    tokens: tuple[int, ...]
    positions: tuple[int, ...]

    @property
    def sha256(self) -> str:
        """The digest of the token ids, in hex."""
        return hashlib.sha256(u64s(self.tokens)).hexdigest()


def corpus(vocab_size: int) -> tuple[Prompt, ...]:
    """Give the prompts of spec/fidelity.json for a vocabulary of so many tokens."""
    return tuple(
        Prompt(
            entry["id"],
            _tokens(entry["id"], entry["tokens"], vocab_size),
            tuple(p for first, last in entry["positions"] for p in range(first, last + 1)),
        )
        for entry in spec.load("fidelity.json")["corpus"]
    )


def require_corpus(model: Model) -> tuple[Prompt, ...]:
    """Give the corpus for a model.

    Raises:
        LockstepError: SEQUENCE_TOO_LONG, the model's longest sequence is shorter than a prompt;
            TOKEN_OUT_OF_RANGE, its vocabulary has fewer than two tokens.
    """
    config = model.config
    if config.vocab_size < 2:
        raise LockstepError("TOKEN_OUT_OF_RANGE", "/vocab_size", "2 or more", config.vocab_size)
    prompts = corpus(config.vocab_size)
    for prompt in prompts:
        if len(prompt.tokens) > config.max_position_embeddings:
            raise LockstepError(
                "SEQUENCE_TOO_LONG",
                f"corpus: {prompt.id}",
                f"at most {config.max_position_embeddings} tokens",
                len(prompt.tokens),
            )
    return prompts


def _tokens(name: str, count: int, vocab_size: int) -> tuple[int, ...]:
    """Take numbers of 32 bits from SHA-256 in counter mode; token 0 is none of them."""
    blocks = -(-4 * count // 32)
    stream = b"".join(
        hashlib.sha256(f"lockstep/corpus/1/{name}/{counter}".encode("ascii")).digest()
        for counter in range(blocks)
    )
    numbers = (int.from_bytes(stream[4 * i : 4 * i + 4], "big") for i in range(count))
    return tuple(1 + number % (vocab_size - 1) for number in numbers)
