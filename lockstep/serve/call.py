"""A call of /v1/completions or /v1/chat/completions, read and complete: nothing is left to chance.

What a call leaves open is settled here, once, and told in the answer: its seed, its length.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from lockstep.engine.sampling import LARGEST_SEED, LARGEST_TOP_K, Sampling
from lockstep.limits import (
    PROMPT_TOKENS,
    SERVED_CHOICES,
    SERVED_STOP_CHARACTERS,
    SERVED_STOPS,
    SERVED_TOP,
    TOKEN_ID,
)
from lockstep.serve import chat, origin
from lockstep.serve.body import Body
from lockstep.serve.text import Texts

DEFAULT_TOKENS = 16
"""Tokens of a completion that names no number, as in OpenAI's."""
DEFAULT_CHAT_TOKENS = 256
"""Tokens of a chat answer that names no number: a pool reserves what a request may emit."""

IGNORED = ("user", "metadata", "safety_identifier")
"""Fields that are accepted and have no effect, by their meaning."""

_EITHER: dict[str, tuple[Any, ...]] = {
    "frequency_penalty": (0,),
    "presence_penalty": (0,),
    "repetition_penalty": (1,),
    "length_penalty": (1,),
    "logit_bias": ({},),
    "min_tokens": (0,),
    "use_beam_search": (False,),
    "skip_special_tokens": (True,),
    "spaces_between_special_tokens": (True,),
    "include_stop_str_in_output": (False,),
    "detokenize": (True,),
    "add_special_tokens": (False,),
    "truncate_prompt_tokens": (),
    "priority": (0,),
    "bad_words": ([],),
    "allowed_token_ids": (),
    "store": (False,),
    "response_format": ({"type": "text"},),
}
NEUTRAL_COMPLETION: dict[str, tuple[Any, ...]] = {**_EITHER, "best_of": (1,), "suffix": ("",)}
"""Known fields of /v1/completions that are not acted on, with the values that ask for nothing."""
NEUTRAL_CHAT: dict[str, tuple[Any, ...]] = {
    **_EITHER,
    "tools": ([],),
    "tool_choice": ("none",),
    "parallel_tool_calls": (True, False),
    "functions": ([],),
    "function_call": ("none",),
    "echo": (False,),
    "add_generation_prompt": (True,),
    "continue_final_message": (False,),
    "chat_template": (),
    "chat_template_kwargs": ({},),
    "modalities": (["text"],),
    "reasoning_effort": (),
    "service_tier": ("auto", "default"),
}
"""Likewise of /v1/chat/completions."""


@dataclass(frozen=True)
class Call:
    """What is asked.

    Attributes:
        chat: whether it is a chat.
        prompts: token ids, a list for each prompt.
        shown: the text of each prompt, for echo.
        name: what choices are named by: the call's `inference_id`.
        n: choices of each prompt.
        max_new: tokens that a choice of each prompt may emit, 0 where prompts are only scored.
        sampling: how tokens are chosen; its seed is the call's own or a drawn one.
        top: log-probabilities beside each token's own; None for none at all.
        prompt_top: likewise for the tokens of prompts.
        prompt_listed: whether prompts' log-probabilities are asked for by `prompt_logprobs`.
        echo: whether the prompt stands before the text.
        stops: texts that end a choice.
        stop_tokens: tokens that end it.
        ignore_eos: whether the model's own do not.
        salt: parts prefix caches.
        stream: whether pieces are sent as they come.
        usage: whether a stream ends with the usage.
        token_ids: whether the ids of prompt and output are told.
        names_ids: whether tokens are named by their ids.
    """

    chat: bool
    prompts: tuple[tuple[int, ...], ...]
    shown: tuple[str, ...]
    name: str
    n: int
    max_new: tuple[int, ...]
    sampling: Sampling
    top: int | None
    prompt_top: int | None
    prompt_listed: bool
    echo: bool
    stops: tuple[str, ...]
    stop_tokens: tuple[int, ...]
    ignore_eos: bool
    salt: str
    stream: bool
    usage: bool
    token_ids: bool
    names_ids: bool


def read_call(
    members: dict[str, Any],
    is_chat: bool,
    texts: Texts,
    model: str,
    longest: int,
    draw: Callable[[], int],
) -> Call:
    """Read a call's body.

    Args:
        members: the body's object.
        is_chat: which of the two it is.
        texts: the tokenizer.
        model: the name that is served.
        longest: tokens that prompt and output may have together.
        draw: gives a seed, where the call has none.

    Raises:
        LockstepError: MODEL_UNKNOWN, or what is wrong with a field, with its pointer.
    """
    body = Body(members)
    _require_model(body, model)
    prompts, shown = _chat_prompt(body, texts) if is_chat else _prompts(body, texts)
    echo = not is_chat and body.flag("echo")
    listed = body.integer("prompt_logprobs", 0, SERVED_TOP)
    top = _chat_top(body) if is_chat else body.integer("logprobs", 0, SERVED_TOP)
    prompt_top = top if listed is None and echo else listed
    if listed is not None and echo and top is not None:
        prompt_top = max(listed, top)
    n = body.integer("n", 1, SERVED_CHOICES) or 1
    if n * len(prompts) > SERVED_CHOICES:
        body.refuse("BAD_VALUE", "n", f"{SERVED_CHOICES} choices in all", n * len(prompts))
    stream = body.flag("stream")
    call = Call(
        chat=is_chat,
        prompts=prompts,
        shown=shown,
        name=origin.name(body),
        n=n,
        max_new=_lengths(body, is_chat, prompts, longest, prompt_top is not None or echo),
        sampling=_sampling(body, draw),
        top=top,
        prompt_top=prompt_top,
        prompt_listed=listed is not None,
        echo=echo,
        stops=_stops(body),
        stop_tokens=body.integers("stop_token_ids", SERVED_STOPS),
        ignore_eos=body.flag("ignore_eos"),
        salt=origin.salt(body),
        stream=stream,
        usage=_usage(body, stream),
        token_ids=body.flag("return_token_ids"),
        names_ids=body.flag("return_tokens_as_token_ids"),
    )
    body.close(NEUTRAL_CHAT if is_chat else NEUTRAL_COMPLETION, IGNORED)
    return call


def _require_model(body: Body, model: str) -> None:
    name = body.text("model")
    if not name:
        body.refuse("MISSING_FIELD", "model", model, None)
    if name != model:
        body.refuse("MODEL_UNKNOWN", "model", model, name)


def _chat_prompt(body: Body, texts: Texts) -> tuple[tuple[tuple[int, ...], ...], tuple[str, ...]]:
    prompt = chat.prompt_of(body.take("messages"))
    return (texts.encode(prompt),), (prompt,)


def _prompts(body: Body, texts: Texts) -> tuple[tuple[tuple[int, ...], ...], tuple[str, ...]]:
    """Read a text, token ids, or a list of either."""
    value = body.take("prompt")
    if value is None:
        body.refuse("MISSING_FIELD", "prompt", "a text or token ids", None)
    if isinstance(value, list) and not value:
        body.refuse("EMPTY_PROMPT", "prompt", "a text or token ids", "an empty list")
    single = not isinstance(value, list) or all(type(entry) is int for entry in value)
    given = [value] if single else value
    if len(given) > SERVED_CHOICES:
        body.refuse("BAD_VALUE", "prompt", f"at most {SERVED_CHOICES} prompts", len(given))
    prompts, shown = [], []
    for place, entry in enumerate(given):
        name = "prompt" if single else f"prompt/{place}"
        tokens = _prompt(body, name, entry, texts)
        prompts.append(tokens)
        shown.append(entry if isinstance(entry, str) else texts.decode(tokens))
    return tuple(prompts), tuple(shown)


def _prompt(body: Body, name: str, entry: Any, texts: Texts) -> tuple[int, ...]:
    if isinstance(entry, str):
        tokens = texts.encode(entry)
    elif isinstance(entry, list) and all(type(token) is int for token in entry):
        tokens = tuple(entry)
        if any(not 0 <= token <= TOKEN_ID for token in tokens):
            body.refuse("TOKEN_OUT_OF_RANGE", name, f"ids from 0 to {TOKEN_ID}", None)
    else:
        body.refuse("WRONG_TYPE", name, "a text or a list of token ids", type(entry).__name__)
    if not tokens:
        body.refuse("EMPTY_PROMPT", name, "one token or more", "none")
    if len(tokens) > PROMPT_TOKENS:
        body.refuse("SEQUENCE_TOO_LONG", name, f"at most {PROMPT_TOKENS} tokens", len(tokens))
    return tokens


def _chat_top(body: Body) -> int | None:
    wanted, top = body.flag("logprobs"), body.integer("top_logprobs", 0, SERVED_TOP)
    if top and not wanted:
        body.refuse("BAD_VALUE", "top_logprobs", "logprobs to be true", "it is not")
    return (top or 0) if wanted else None


def _lengths(
    body: Body, is_chat: bool, prompts: tuple[tuple[int, ...], ...], longest: int, scores: bool
) -> tuple[int, ...]:
    """Give what a choice of each prompt may emit; what does not fit is refused by the engine."""
    given = body.integer("max_tokens", 0, PROMPT_TOKENS)
    if is_chat:
        later = body.integer("max_completion_tokens", 0, PROMPT_TOKENS)
        if later is not None and given is not None and later != given:
            body.refuse("BAD_VALUE", "max_completion_tokens", f"max_tokens, {given}", later)
        given = later if given is None else given
    if given == 0 and not scores:
        body.refuse("BAD_VALUE", "max_tokens", "1 or more, where no prompt is scored", 0)
    if given is not None:
        return (given,) * len(prompts)
    most = DEFAULT_CHAT_TOKENS if is_chat else DEFAULT_TOKENS
    return tuple(max(1, min(most, longest - len(prompt))) for prompt in prompts)


def _sampling(body: Body, draw: Callable[[], int]) -> Sampling:
    top_k = body.integer("top_k", -1, LARGEST_TOP_K)
    seed = body.integer("seed", 0, LARGEST_SEED)
    return Sampling(
        temperature=body.decimal("temperature", "1"),
        top_k=max(0, top_k or 0),
        top_p=body.decimal("top_p", "1"),
        min_p=body.decimal("min_p", "0"),
        seed=draw() if seed is None else seed,
        beacon=origin.beacon(body),
    )


def _stops(body: Body) -> tuple[str, ...]:
    value = body.take("stop")
    if value is None:
        return ()
    stops = value if isinstance(value, list) else [value]
    if any(not isinstance(stop, str) for stop in stops):
        body.refuse("WRONG_TYPE", "stop", "a text or a list of texts", None)
    if len(stops) > SERVED_STOPS or any(
        not 1 <= len(stop) <= SERVED_STOP_CHARACTERS for stop in stops
    ):
        expected = f"at most {SERVED_STOPS} texts of 1 to {SERVED_STOP_CHARACTERS} characters"
        body.refuse("BAD_VALUE", "stop", expected, None)
    return tuple(stops)


def _usage(body: Body, stream: bool) -> bool:
    options = body.take("stream_options")
    if options is None:
        return False
    if not stream:
        body.refuse("BAD_VALUE", "stream_options", "stream to be true", "it is not")
    if not isinstance(options, dict):
        body.refuse("WRONG_TYPE", "stream_options", "an object", type(options).__name__)
    inner = Body(options, "/stream_options")
    usage = inner.flag("include_usage")
    inner.close({"continuous_usage_stats": (False,), "include_obfuscation": (False,)}, ())
    return usage
