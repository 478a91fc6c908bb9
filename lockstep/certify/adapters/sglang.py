"""SGLang's server, by its own /generate: ids in, ids and log-probabilities out."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from lockstep.certify import numbers
from lockstep.certify.adapters.adapter import Adapter, Description, Resolved, ServerError
from lockstep.certify.adapters.openai import text_of
from lockstep.certify.ask import Answer, Ask, Token, beside, integers, member, named, output_of
from lockstep.certify.observation import Top

if TYPE_CHECKING:
    from lockstep.certify.client import Client

_TOLD = (
    ("attention_backend", "attention-backend"),
    ("sampling_backend", "sampling-backend"),
    ("dtype", "dtype"),
    ("page_size", "page-size"),
    ("chunked_prefill_size", "chunked-prefill-size"),
    ("tp_size", "tp-size"),
    ("random_seed", "random-seed"),
)
_DISABLED = (
    ("disable_radix_cache", "prefix_cache"),
    ("disable_cuda_graph", "graphs"),
    ("disable_overlap_schedule", "overlap_schedule"),
)
_ENABLED = (
    ("enable_deterministic_inference", "enable-deterministic-inference"),
    ("enable_torch_compile", "compile"),
)


class SGLang(Adapter):
    """A server of SGLang."""

    name = "sglang"
    declared = (
        "token_prompts",
        "token_ids",
        "logprobs",
        "top_logprobs",
        "stream",
        "seed",
        "echo",
        "cancel",
        "reset",
    )
    metrics = "/metrics"
    resets = ("/flush_cache",)
    distributions = ("sglang", "sgl-kernel", "flashinfer-python", "torch", "triton", "transformers")
    startup = re.compile(r"(?i)\bversion\b|server_args=|deterministic|radix|attention backend")

    def call(self, ask: Ask) -> tuple[str, dict[str, Any]]:
        """Give the path and the body that ask for it."""
        sampling: dict[str, Any] = {
            "max_new_tokens": ask.max_new,
            **ask.numbers(),
            "min_p": 0,
            "frequency_penalty": 0,
            "presence_penalty": 0,
            "repetition_penalty": 1,
            "skip_special_tokens": False,
            "n": 1,
        }
        if ask.top_k is not None:
            sampling["top_k"] = ask.top_k or -1
        if ask.ignore_eos is not None:
            sampling["ignore_eos"] = bool(ask.ignore_eos)
        if ask.seed is not None:
            sampling["sampling_seed"] = ask.seed
        prompt = "text" if isinstance(ask.prompt, str) else "input_ids"
        body: dict[str, Any] = {
            prompt: ask.prompt if isinstance(ask.prompt, str) else list(ask.prompt),
            "sampling_params": sampling,
            "stream": ask.stream,
            "return_logprob": ask.top is not None,
        }
        if ask.top is not None:
            body |= {
                "top_logprobs_num": ask.top,
                "logprob_start_len": 0 if ask.echo else -1,
                "return_text_in_logprobs": False,
            }
        return "/generate", body

    def reading(self, ask: Ask) -> Generated:
        """Give what reads the answer."""
        return Generated(ask, self.cached)

    async def describe(self, client: Client) -> Description:
        """Read /server_info and /model_info, or what they were called before."""
        source, info = await _either(client, "/server_info", "/get_server_info")
        _, model = await _either(client, "/model_info", "/get_model_info")
        told = [
            Resolved(name, value, source)
            for key, name in _TOLD
            if (value := text_of(info, key)) is not None
        ]
        for wanted, keys in ((False, _DISABLED), (True, _ENABLED)):
            for key, name in keys:
                value = member(info, key)
                if isinstance(value, bool):
                    state = "on" if value is wanted else "off"
                    told.append(Resolved(name, state, f"{source} {key}"))
        return Description(
            version=text_of(info, "version"),
            version_source=source,
            model=text_of(info, "served_model_name") or text_of(model, "model_path"),
            model_source=source,
            context=numbers.as_integer(member(info, "context_length"))
            or numbers.as_integer(member(info, "max_req_input_len")),
            block_size=numbers.as_integer(member(info, "page_size")),
            chunk=numbers.as_integer(member(info, "chunked_prefill_size")),
            settings=tuple(told),
        )


async def _either(client: Client, path: str, before: str) -> tuple[str, Any]:
    """Give the document of the first of two paths that the server has, and the path."""
    from lockstep.certify.client import StatusError

    try:
        return path, await client.document(path)
    except StatusError as fault:
        if fault.status != 404:
            raise
    return before, await client.document(before)


class Generated:
    """An answer of /generate; each document of a stream has all that came so far.

    Where a server was told to stream only what is new, lists grow shorter than the count of
    tokens that stands beside them, and are put one behind the other.
    """

    def __init__(self, ask: Ask, cached: str | None) -> None:
        self._ask = ask
        self._cached = cached
        self._last: Any = None
        self._text = ""
        self._ids: tuple[int, ...] | None = None
        self._tokens: list[Token] | None = None
        self._prompt: list[str | None] | None = None

    def take(self, document: Any) -> bool:
        """Take a document, and give whether it has brought a token."""
        if not isinstance(document, dict):
            raise ValueError("no object")
        if document.get("error") is not None:
            told = member(document["error"], "message")
            raise ServerError(str(told if told is not None else document["error"]))
        self._last = document
        meta = document.get("meta_info")
        count = numbers.as_integer(member(meta, "completion_tokens")) or 0
        text = document.get("text")
        if isinstance(text, str):
            self._text = text if text.startswith(self._text) else self._text + text
        ids = integers(document.get("output_ids"))
        if ids is not None:
            self._ids = ids if len(ids) >= count else (*(self._ids or ()), *ids)
        tokens = _tokens(meta)
        if tokens is not None:
            self._tokens = tokens if len(tokens) >= count else [*(self._tokens or ()), *tokens]
        prompt = member(meta, "input_token_logprobs")
        if self._ask.echo and isinstance(prompt, list) and prompt:
            self._prompt = [_logprob(entry) for entry in prompt]
        return bool(count or text or ids)

    def answer(self) -> Answer:
        """Give what came."""
        finish = numbers.at(self._last, "meta_info.finish_reason")
        if finish is None:
            raise ValueError("the answer broke off before it had a finish_reason")
        told = member(finish, "type") if isinstance(finish, dict) else finish
        if told == "abort":
            raise ServerError(str(member(finish, "message")))
        cached = None if self._cached is None else numbers.at(self._last, self._cached)
        return Answer(
            output_of(self._text, told, self._ids, self._tokens, self._prompt),
            self._text,
            numbers.as_integer(cached),
            numbers.as_integer(numbers.at(self._last, "meta_info.prompt_tokens")),
        )


def _tokens(meta: Any) -> list[Token] | None:
    own = member(meta, "output_token_logprobs")
    if not isinstance(own, list):
        return None
    tops = beside(member(meta, "output_top_logprobs"), own)
    return [
        Token(_id(entry), None, _logprob(entry), _top(top))
        for entry, top in zip(own, tops, strict=True)
    ]


def _top(entries: Any) -> tuple[Top, ...] | None:
    if not isinstance(entries, list):
        return None
    return tuple(Top(named(_id(one), None), _logprob(one) or "NaN") for one in entries)


def _logprob(entry: Any) -> str | None:
    return numbers.as_logprob(entry[0]) if isinstance(entry, list) and entry else None


def _id(entry: Any) -> int | None:
    return numbers.as_integer(entry[1]) if isinstance(entry, list) and len(entry) > 1 else None
