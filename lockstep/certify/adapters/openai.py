"""Servers that speak OpenAI's /v1/completions, of which nothing else is known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from lockstep.certify import numbers
from lockstep.certify.adapters.adapter import Adapter, Description, ServerError
from lockstep.certify.ask import (
    Answer,
    Ask,
    Token,
    beside,
    integers,
    member,
    named,
    output_of,
)
from lockstep.certify.observation import Top

if TYPE_CHECKING:
    from lockstep.certify.client import Client

_BY_ID = "token_id:"


class OpenAI(Adapter):
    """A server of unknown make."""

    name = "openai"
    declared: ClassVar[tuple[str, ...]] = (
        "token_prompts",
        "token_ids",
        "logprobs",
        "top_logprobs",
        "stream",
        "seed",
        "echo",
        "cancel",
    )

    def call(self, ask: Ask) -> tuple[str, dict[str, Any]]:
        """Give the path and the body that ask for it."""
        body: dict[str, Any] = {
            "model": self.model,
            "prompt": ask.prompt if isinstance(ask.prompt, str) else list(ask.prompt),
            "max_tokens": ask.max_new,
            "n": 1,
            "frequency_penalty": 0,
            "presence_penalty": 0,
            **ask.numbers(),
        }
        if ask.top_k is not None:
            body["top_k"] = ask.top_k or -1
        if ask.seed is not None:
            body["seed"] = ask.seed
        if ask.top is not None:
            body["logprobs"] = ask.top
        if ask.echo:
            body["echo"] = True
        if ask.stream:
            body |= {"stream": True, "stream_options": {"include_usage": True}}
        return "/v1/completions", body

    def reading(self, ask: Ask) -> Completion:
        """Give what reads the answer."""
        return Completion(ask, self.cached)

    async def describe(self, client: Client) -> Description:
        """Read what the list of models says."""
        entry = await listed_model(client, self.model)
        return Description(
            model=text_of(entry, "id"),
            model_source="/v1/models",
            context=numbers.as_integer(member(entry, "max_model_len")),
        )


class Completion:
    """An answer of /v1/completions or /v1/chat/completions, whole or in pieces.

    Args:
        ask: what was asked.
        cached: path of cached tokens; None where they are not reported.
    """

    def __init__(self, ask: Ask, cached: str | None) -> None:
        self._ask = ask
        self._cached_path = cached
        self._texts: list[str] = []
        self._ids: list[int] | None = None
        self._tokens: list[Token] | None = None
        self._finish: str | None = None
        self._cached: int | None = None
        self._usage: Any = None
        self._model: str | None = None

    def take(self, document: Any) -> bool:
        """Take a document, and give whether it has brought a token."""
        if not isinstance(document, dict):
            raise ValueError("no object")
        if document.get("error") is not None:
            raise ServerError(str(document["error"]))
        model = document.get("model")
        if isinstance(model, str) and not numbers.is_number(model):
            if self._model not in (None, model):
                raise ServerError("an answer of two models")
            self._model = model
        if isinstance(document.get("usage"), dict):
            self._usage = document["usage"]
        if self._cached_path is not None:
            cached = numbers.as_integer(numbers.at(document, self._cached_path))
            self._cached = self._cached if cached is None else cached
        choices = document.get("choices")
        if not isinstance(choices, list) or not choices:
            return False
        if len(choices) != 1 or not isinstance(choices[0], dict):
            raise ValueError("more than one choice, or one that is no object")
        if numbers.as_integer(choices[0].get("index")) not in (0, None):
            raise ValueError("a choice of another index than 0")
        return self._choice(choices[0])

    def answer(self) -> Answer:
        """Give what came."""
        if self._finish is None:
            raise ValueError("the answer broke off before it had a finish_reason")
        tokens, prompt = self._tokens, None
        if self._ask.echo and tokens is not None:
            tokens, prompt = self._parted(tokens)
        text = "".join(self._texts)
        return Answer(
            output_of(text, self._finish, self._ids, tokens, prompt),
            text,
            self._cached,
            numbers.as_integer(member(self._usage, "prompt_tokens")),
            self._model,
        )

    def _choice(self, choice: dict[str, Any]) -> bool:
        inner = choice.get("delta") or choice.get("message") or {}
        text = choice.get("text", member(inner, "content"))
        if isinstance(text, str):
            self._texts.append(text)
        ids = integers(choice.get("token_ids"))
        if ids is not None:
            self._ids = [*(self._ids or ()), *ids]
        tokens = _tokens(choice.get("logprobs"))
        if tokens is not None:
            self._tokens = [*(self._tokens or ()), *tokens]
        if choice.get("finish_reason") is not None:
            self._finish = str(choice["finish_reason"])
        return bool(text or ids or tokens)

    def _parted(self, tokens: list[Token]) -> tuple[list[Token], list[str | None] | None]:
        """Part the positions of an echoed prompt from those of the output."""
        count = numbers.as_integer(member(self._usage, "completion_tokens"))
        if self._ids is not None:
            count = len(self._ids)
        if count is None or count >= len(tokens):
            return tokens, None
        start = len(tokens) - count
        return tokens[start:], [one.logprob for one in tokens[:start]]


async def listed_model(client: Client, name: str) -> Any:
    """Give the entry of a model in /v1/models; None where it is not listed.

    Raises:
        httpx.HTTPError, StatusError, ValueError.
    """
    entries = member(await client.document("/v1/models"), "data")
    for entry in entries if isinstance(entries, list) else []:
        if member(entry, "id") == name:
            return entry
    return None


def text_of(document: Any, path: str) -> str | None:
    """Give a text or the text of a number at a path; None where there is none."""
    found = numbers.at(document, path)
    return str(found) if isinstance(found, str) and found else None


def _tokens(scores: Any) -> list[Token] | None:
    """Read the log-probabilities of a choice, in the form of completions or of chats."""
    if not isinstance(scores, dict):
        return None
    content = scores.get("content")
    if isinstance(content, list):
        return [_of_chat(entry) for entry in content]
    given = scores.get("token_logprobs")
    if not isinstance(given, list):
        return None
    names = beside(scores.get("tokens"), given)
    tops = beside(scores.get("top_logprobs"), given)
    return [_of_completion(*entry) for entry in zip(names, given, tops, strict=True)]


def _of_completion(name: Any, value: Any, top: Any) -> Token:
    token_id, text = _id_or_text(name)
    found = None
    if isinstance(top, dict):
        found = tuple(
            Top(named(*_id_or_text(other)), numbers.as_logprob(logprob) or "NaN")
            for other, logprob in top.items()
        )
    return Token(token_id, text, numbers.as_logprob(value), found)


def _of_chat(entry: Any) -> Token:
    token_id, text = _id_or_text(member(entry, "token"))
    told = numbers.as_integer(member(entry, "id"))
    top = member(entry, "top_logprobs")
    found = None
    if isinstance(top, list):
        found = tuple(
            Top(_chat_name(one), numbers.as_logprob(member(one, "logprob")) or "NaN") for one in top
        )
    return Token(
        told if told is not None else token_id,
        text,
        numbers.as_logprob(member(entry, "logprob")),
        found,
    )


def _chat_name(entry: Any) -> str:
    told = numbers.as_integer(member(entry, "id"))
    return named(told, None) if told is not None else named(*_id_or_text(member(entry, "token")))


def _id_or_text(name: Any) -> tuple[int | None, str | None]:
    if not isinstance(name, str) or numbers.is_number(name):
        return None, None
    if name.startswith(_BY_ID) and name[len(_BY_ID) :].isdecimal():
        return int(name[len(_BY_ID) :]), None
    return None, name
