"""Before anything is planned: which kind of server it is, what it says, and what it can."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from lockstep import spec
from lockstep.certify.adapters.adapter import Adapter, Description
from lockstep.certify.adapters.catalogue import ADAPTERS
from lockstep.certify.ask import Ask, member
from lockstep.certify.client import Client, StatusError
from lockstep.certify.config import Config
from lockstep.certify.dialogue import Dialogue, Reply
from lockstep.certify.requests import FILE, text_of
from lockstep.errors import LockstepError

PROBED = tuple(range(20, 32))
"""The prompt of probes; no case has it."""
_OPTIONAL = ((), ("top_k",), ("top_k", "stream_options"))
"""Fields beyond OpenAI's own that a server of unknown make may refuse, tried in turn."""
_NOT_TAKEN = frozenset({400, 415, 422, 501})
"""Statuses by which a server says that it cannot take a request as it is put; only these have it
put otherwise. Any other end is a failure: a weaker form would hide it, and weaken the claim."""
_FAILED = (
    "A failure does not say that the form is not taken, so no other was tried. Ask again; where "
    "the server fails at prompts of token ids, ask it by texts (`form`); where it fails at a "
    "field, leave that out (`omit`)."
)


@dataclass(frozen=True)
class Found:
    """What probing found.

    Attributes:
        offers: capabilities, in the order of the data.
        form: of prompts.
        observable: the most that can be compared.
        missing: observables that the server does not report, for people.
        description: what it says of itself.
        alone: seconds of a request by itself.
        beside: seconds that one more request at the same time takes.
        notes: what else people are told of the plan.
    """

    offers: tuple[str, ...]
    form: str
    observable: str
    missing: tuple[str, ...]
    description: Description
    alone: float
    beside: float
    notes: tuple[str, ...] = ()


async def choose_adapter(client: Client, config: Config) -> Adapter:
    """Give the adapter that the user names, or else that of the paths that the server answers.

    Raises:
        LockstepError: ENDPOINT_DOWN; USAGE, the model cannot be known.
    """
    name = config.adapter or await _detected(client)
    model = config.model or await _only_model(client)
    return ADAPTERS[name](model)


async def _detected(client: Client) -> str:
    version = await _document(client, "/version")
    if member(version, "kernels_sha256") is not None:
        return "lockstep"
    if member(version, "version") is not None:
        return "vllm"
    if member(await _document(client, "/props"), "build_info") is not None:
        return "llamacpp"
    for path in ("/model_info", "/get_model_info"):
        if member(await _document(client, path), "model_path") is not None:
            return "sglang"
    if member(await _document(client, "/info"), "max_total_tokens") is not None:
        return "tgi"
    return "openai"


async def _only_model(client: Client) -> str:
    entries = member(await _document(client, "/v1/models"), "data")
    names = [member(one, "id") for one in entries] if isinstance(entries, list) else []
    if len(names) != 1 or not isinstance(names[0], str):
        listed = ", ".join(str(name) for name in names[:8]) or "none"
        raise LockstepError("USAGE", "--model", "the name of a model", f"{listed} are served")
    return names[0]


async def _document(client: Client, path: str) -> Any:
    """Give a document; None where the server has none at this path."""
    import httpx

    try:
        return await client.document(path)
    except (httpx.ConnectError, httpx.ConnectTimeout) as fault:
        raise _down(client, str(fault)) from None
    except (StatusError, ValueError, httpx.HTTPError):
        return None


def _down(client: Client, why: str) -> LockstepError:
    told = client.endpoint.hide(why)[:200] or "no connection"
    return LockstepError("ENDPOINT_DOWN", "--endpoint", "a server that answers", told)


async def probe(dialogue: Dialogue, plan: Mapping[str, Any]) -> Found:
    """Find out what a server can, by a few requests and by what it says.

    Args:
        dialogue: with the server; fields that it refuses are omitted from now on.
        plan: the parameters that the user chose.

    Raises:
        LockstepError: ENDPOINT_DOWN, it does not answer; ENDPOINT_REFUSES, it takes none of
            the forms of a request, or fails at one.
    """
    import httpx

    try:
        description = await dialogue.adapter.describe(dialogue.client)
    except (httpx.ConnectError, httpx.ConnectTimeout) as fault:
        raise _down(dialogue.client, str(fault)) from None
    except (StatusError, ValueError, httpx.HTTPError):
        description = Description()
    overrides = dialogue.overrides
    able = (set(dialogue.adapter.declared) | set(overrides.offers)) - set(overrides.lacks)
    form, first = await _form(dialogue, able, plan)
    if form == "text":
        able.discard("token_prompts")
    able -= _not_reported(first)
    if "token_ids" not in able and form == "tokens":
        # What was answered can be sent again as ids, or not at all.
        able.discard("echo")
    await _drop(able, "echo", lambda: _echoes(dialogue, form))
    if not dialogue.salts:
        await _drop(able, "reset", lambda: _resets(dialogue))
    alone, beside = await _times(dialogue, form)
    offers = tuple(name for name in spec.load(FILE)["capabilities"] if name in able)
    reported = "logprobs" if "logprobs" in able else "tokens"
    if reported == "tokens" and not _has_tokens(first):
        reported = "text"
    observables = spec.load(FILE)["observables"]
    missing = tuple(observables[observables.index(reported) + 1 :])
    return Found(offers, form, reported, missing, description, alone, beside)


async def _form(dialogue: Dialogue, able: set[str], plan: Mapping[str, Any]) -> tuple[str, Reply]:
    """Give the form of prompts that the server takes, and its first answer."""
    wanted = plan.get("form", dialogue.adapter.form)
    forms = [wanted] if "form" in plan or wanted == "text" else ["tokens", "text"]
    omit = dialogue.overrides.omit
    reply = Reply()
    for form in forms:
        for fields in _OPTIONAL if dialogue.adapter.name == "openai" else ((),):
            dialogue.overrides = replace(dialogue.overrides, omit=(*omit, *fields))
            reply = await _sent(dialogue, _ask(form, "stream" in able, top=1))
            if reply.answer is not None:
                return form, reply
            if reply.failure is not None and reply.failure.kind == "refused":
                raise _down(dialogue.client, reply.failure.detail)
            if not _not_taken(reply):
                raise _unanswered(reply, _FAILED)
    raise _unanswered(reply)


def _not_taken(reply: Reply) -> bool:
    return reply.failure is not None and reply.failure.status in _NOT_TAKEN


def _unanswered(reply: Reply, hint: str | None = None) -> LockstepError:
    told = reply.failure
    why = "no answer" if told is None else f"{told.kind} {told.status or ''} {told.detail}"
    return LockstepError("ENDPOINT_REFUSES", "--endpoint", "an answer to a request", why, hint)


def _ask(form: str, stream: bool, **fields: Any) -> Ask:
    prompt = PROBED if form == "tokens" else text_of(PROBED)
    return Ask(prompt=prompt, max_new=4, stream=stream, **fields)


async def _sent(dialogue: Dialogue, ask: Ask) -> Reply:
    reply = Reply()
    await dialogue.send(ask, lambda: time.perf_counter_ns() // 1000, reply)
    return reply


def _not_reported(reply: Reply) -> set[str]:
    """Give capabilities that the first answer shows not to be there."""
    output = reply.answer.output if reply.answer is not None else None
    lacking = set()
    if output is None or output.tokens is None:
        lacking.add("token_ids")
    if output is None or output.logprobs is None or None in output.logprobs:
        lacking |= {"logprobs", "top_logprobs", "echo"}
    elif output.top is None:
        lacking.add("top_logprobs")
    if reply.first is None:
        lacking |= {"stream", "cancel"}
    return lacking


def _has_tokens(reply: Reply) -> bool:
    output = reply.answer.output if reply.answer is not None else None
    return output is not None and (output.tokens or output.token_texts) is not None


async def _drop(able: set[str], name: str, works: Callable[[], Awaitable[bool]]) -> None:
    if name in able and not await works():
        able.discard(name)


async def _echoes(dialogue: Dialogue, form: str) -> bool:
    reply = await _sent(dialogue, replace(_ask(form, True, top=1, echo=True), max_new=1))
    if reply.answer is None:
        # What fails is asked again in rounds, where a failure counts.
        return not _not_taken(reply)
    return reply.answer.output.prompt_logprobs is not None


async def _resets(dialogue: Dialogue) -> bool:
    import httpx

    with suppress(httpx.HTTPError, StatusError):
        await dialogue.reset()
        return bool(dialogue.overrides.resets or dialogue.adapter.resets)
    return False


async def _times(dialogue: Dialogue, form: str) -> tuple[float, float]:
    """Measure what a request takes alone, and what four more at once add each; for a budget."""
    ask = replace(_ask(form, True, top=1), max_new=16)
    begun = time.perf_counter()
    await _sent(dialogue, ask)
    alone = time.perf_counter() - begun
    await asyncio.gather(*(_sent(dialogue, ask) for _ in range(5)))
    return alone, max(0.0, time.perf_counter() - begun - 2 * alone) / 4
