"""Text Generation Inference, by its own /generate and /generate_stream: text in, ids out."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from lockstep.certify import numbers
from lockstep.certify.adapters.adapter import Adapter, Description, Resolved, ServerError
from lockstep.certify.adapters.openai import text_of
from lockstep.certify.ask import Answer, Ask, Token, beside, member, named, output_of
from lockstep.certify.observation import Top

if TYPE_CHECKING:
    from lockstep.certify.client import Client


class TGI(Adapter):
    """A server of text-generation-inference."""

    name = "tgi"
    declared = ("token_ids", "logprobs", "top_logprobs", "stream", "seed", "cancel")
    form = "text"
    metrics = "/metrics"
    distributions = ("text-generation-server", "torch", "transformers")
    startup = re.compile(r"(?i)\bversion\b|Args \{|prefix caching|attention")

    def call(self, ask: Ask) -> tuple[str, dict[str, Any]]:
        """Give the path and the body that ask for it; greedy is the absence of a temperature."""
        parameters: dict[str, Any] = {
            "max_new_tokens": ask.max_new,
            "do_sample": ask.temperature != "0",
            "repetition_penalty": 1,
            "frequency_penalty": 0,
            "return_full_text": False,
            "details": True,
        }
        if ask.temperature != "0":
            told = ask.numbers()
            parameters["temperature"] = told["temperature"]
            if told["top_p"] != 1:
                parameters["top_p"] = told["top_p"]
            if ask.top_k:
                parameters["top_k"] = ask.top_k
        if ask.seed is not None:
            parameters["seed"] = ask.seed
        if ask.top:
            parameters["top_n_tokens"] = ask.top
        inputs = ask.prompt if isinstance(ask.prompt, str) else " ".join(map(str, ask.prompt))
        path = "/generate_stream" if ask.stream else "/generate"
        return path, {"inputs": inputs, "parameters": parameters}

    def reading(self, ask: Ask) -> Streamed:
        """Give what reads the answer."""
        return Streamed()

    async def describe(self, client: Client) -> Description:
        """Read /info."""
        info = await client.document("/info")
        told = [
            Resolved(name.replace("_", "-"), value, "/info")
            for name in ("model_dtype", "max_batch_total_tokens", "max_concurrent_requests")
            if (value := text_of(info, name)) is not None
        ]
        return Description(
            version=text_of(info, "version"),
            version_source="/info",
            model=text_of(info, "model_id"),
            model_source="/info",
            context=numbers.as_integer(member(info, "max_total_tokens")),
            settings=tuple(told),
        )


class Streamed:
    """An answer: an event for each token, the last of them with figures; or one document."""

    def __init__(self) -> None:
        self._tokens: list[Token] = []
        self._text: str | None = None
        self._details: Any = None

    def take(self, document: Any) -> bool:
        """Take a document, and give whether it has brought a token."""
        if not isinstance(document, dict):
            raise ValueError("no object")
        if document.get("error") is not None:
            raise ServerError(str(document["error"]))
        details = document.get("details")
        if isinstance(document.get("token"), dict):
            self._tokens.append(_token(document["token"], document.get("top_tokens")))
        elif isinstance(member(details, "tokens"), list):
            tokens = member(details, "tokens")
            self._tokens += map(_token, tokens, beside(member(details, "top_tokens"), tokens))
        if isinstance(document.get("generated_text"), str):
            self._text, self._details = document["generated_text"], details
        return bool(self._tokens)

    def answer(self) -> Answer:
        """Give what came."""
        if self._text is None:
            raise ValueError("the answer broke off before its last event")
        finish = member(self._details, "finish_reason")
        kind = {"eos_token": "stop", "stop_sequence": "stop"}.get(str(finish), finish)
        return Answer(
            output_of(self._text, kind, None, self._tokens),
            self._text,
            None,
            numbers.as_integer(member(self._details, "input_length")),
        )


def _token(entry: Any, top: Any) -> Token:
    found = None
    if isinstance(top, list):
        found = tuple(
            Top(
                named(numbers.as_integer(member(one, "id")), str(member(one, "text"))),
                numbers.as_logprob(member(one, "logprob")) or "NaN",
            )
            for one in top
        )
    text = member(entry, "text")
    return Token(
        numbers.as_integer(member(entry, "id")),
        text if isinstance(text, str) else None,
        numbers.as_logprob(member(entry, "logprob")),
        found,
    )
