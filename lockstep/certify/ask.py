"""What one request asks for, and what came back: the same for every kind of server."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from lockstep.certify.numbers import as_integer, as_logprob
from lockstep.certify.observation import Output, Top

_TOKEN_BYTES = 256
"""Bytes of a token's text that a certificate holds."""
_NOT_A_WORD = re.compile(r"[^A-Za-z0-9_.-]")


@dataclass(frozen=True)
class Ask:
    """One request, before an adapter puts it into words.

    Attributes:
        prompt: token ids, or a text.
        max_new: the most tokens to answer with.
        temperature: text of a number.
        top_p: text of a number.
        top_k: 0 for no limit; None where the field is not sent.
        seed: None where the field is not sent.
        ignore_eos: 1 to go on behind an end of sequence, else 0; sent to servers that know it,
            None where the field is not sent.
        top: likeliest tokens at each position; None where no log-probabilities are asked for.
        echo: whether log-probabilities of the prompt are asked for.
        stream: whether tokens are to come one by one.
        salt: parts the server's prefix cache from others; None for none.
        reuse: whether the server may reuse prefixes at all.
    """

    prompt: tuple[int, ...] | str
    max_new: int
    temperature: str = "0"
    top_p: str = "1"
    top_k: int | None = 0
    seed: int | None = None
    ignore_eos: int | None = 1
    top: int | None = None
    echo: bool = False
    stream: bool = True
    salt: str | None = None
    reuse: bool = True

    def numbers(self) -> dict[str, float | int]:
        """Give temperature and top_p as numbers, whole ones as integers."""
        told = {"temperature": self.temperature, "top_p": self.top_p}
        return {name: int(text) if text.isdecimal() else float(text) for name, text in told.items()}


@dataclass(frozen=True)
class Answer:
    """A whole answer.

    Attributes:
        output: as it is recorded.
        text: what `output` has the digest of; None where no text came.
        cached: tokens of the prompt from the cache, None where it is not reported.
        prompt_tokens: length of the prompt as the server counts it, None likewise.
        model: that the server says it answered with, None likewise.
    """

    output: Output
    text: str | None
    cached: int | None
    prompt_tokens: int | None
    model: str | None = None


@dataclass(frozen=True)
class Token:
    """A token as a server shows it: id, text or both.

    Attributes:
        id: None where it is not reported.
        text: None where it is not reported.
        logprob: text of the number; None where it is null or not reported.
        top: the likeliest tokens; None where they are not reported.
    """

    id: int | None
    text: str | None
    logprob: str | None
    top: tuple[Top, ...] | None


def integers(values: Any) -> tuple[int, ...] | None:
    """Give token ids; None where they are not reported, or no list of ids."""
    if not isinstance(values, list):
        return None
    found = tuple(as_integer(value) for value in values)
    return None if None in found else tuple(value for value in found if value is not None)


def named(token_id: int | None, text: str | None) -> str:
    """Give a token's name as a certificate has it: by its id, else by its text."""
    return f"id:{token_id}" if token_id is not None else f"utf8:{hexed(text or '')}"


def hexed(text: str) -> str:
    """Give the hex of a token's text."""
    return text.encode("utf-8", "surrogatepass")[:_TOKEN_BYTES].hex()


def logprobs(values: Any) -> tuple[str | None, ...] | None:
    """Give the texts of numbers; None where there is no list of them."""
    return tuple(as_logprob(value) for value in values) if isinstance(values, list) else None


def output_of(
    text: str | None,
    finish: Any,
    ids: Sequence[int] | None,
    tokens: Sequence[Token] | None,
    prompt_logprobs: Sequence[str | None] | None = None,
) -> Output:
    """Put an output together, each field None where the server does not report it.

    Args:
        text: the whole text.
        finish: as reported.
        ids: of the tokens, where they are reported by themselves.
        tokens: where log-probabilities are reported, each position's.
        prompt_logprobs: where they are reported.
    """
    shown = tuple(tokens) if tokens is not None else None
    if ids is None and shown is not None and all(one.id is not None for one in shown):
        ids = tuple(one.id for one in shown if one.id is not None)
    texts = None
    if ids is None and shown is not None and all(one.text is not None for one in shown):
        texts = tuple(hexed(one.text or "") for one in shown)
    listed = None
    if shown is not None and any(one.top is not None for one in shown):
        listed = tuple(one.top or () for one in shown)
    return Output(
        tokens=tuple(ids) if ids is not None else None,
        token_texts=texts,
        text_sha256=digest(text) if text is not None else None,
        finish=word(finish),
        logprobs=tuple(one.logprob for one in shown) if shown is not None else None,
        top=listed,
        prompt_logprobs=tuple(prompt_logprobs) if prompt_logprobs is not None else None,
    )


def digest(text: str) -> str:
    """Give the SHA-256 of a text in UTF-8, in hex."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def word(value: Any) -> str | None:
    """Give a short word of a server as a certificate takes it; None for what is none."""
    if not isinstance(value, str) or not value:
        return None
    return _NOT_A_WORD.sub("_", value)[:64]


def beside(values: Any, others: Sequence[Any]) -> list[Any]:
    """Give a list that goes with another one of the same length; else as many None."""
    if isinstance(values, list) and len(values) == len(others):
        return values
    return [None] * len(others)


def member(document: Any, name: str) -> Any:
    """Give a member of an object; None where there is none, or it is no object."""
    return document.get(name) if isinstance(document, Mapping) else None
