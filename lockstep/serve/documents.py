"""Answers in OpenAI's form, whole and in pieces, with vLLM's fields where a call asks for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lockstep.serve.call import Call
from lockstep.serve.choice import Choice, Piece, PromptScores
from lockstep.serve.scores import json_number
from lockstep.serve.text import Texts, token_bytes, token_name
from lockstep.serve.ticket import Scored


@dataclass(frozen=True)
class Head:
    """What every document of an answer begins with.

    Attributes:
        id: of the answer.
        created: Unix time in seconds.
        model: the name that is served.
        mark: says mode and fault in few words, as `system_fingerprint`.
        server: what the member `lockstep` says of the server.
    """

    id: str
    created: int
    model: str
    mark: str
    server: dict[str, Any]


def answer(head: Head, call: Call, choices: Sequence[Choice]) -> dict[str, Any]:
    """Give a whole answer."""
    document = _begin(head, "chat.completion" if call.chat else "text_completion")
    document["choices"] = [_choice(choice) for choice in choices]
    document["usage"] = usage(call, choices)
    if call.chat and choices[0].prompt_scores is not None and call.prompt_listed:
        document["prompt_logprobs"] = _listed(choices[0], choices[0].prompt_scores)
    if call.chat and call.token_ids:
        document["prompt_token_ids"] = list(call.prompts[0])
    document["lockstep"] = {**head.server, "choices": [told(choice) for choice in choices]}
    return document


def piece(head: Head, choice: Choice, added: Piece, first: bool) -> dict[str, Any]:
    """Give a piece of a stream: what an update added to a choice."""
    call = choice.call
    document = _begin(head, "chat.completion.chunk" if call.chat else "text_completion")
    entry: dict[str, Any] = {"index": choice.index}
    prompt = added.prompt if call.echo else None
    if call.chat:
        entry["delta"] = {"role": "assistant", "content": added.text} if first else (
            {"content": added.text}
        )  # fmt: skip
        entry["logprobs"] = _chat_scores(choice, added.scored)
    else:
        shown = call.shown[choice.prompt] if first and call.echo else ""
        entry["text"] = shown + added.text
        start = 0 if prompt is not None else added.offset
        entry["logprobs"] = _completion_scores(choice, added.tokens, added.scored, prompt, start)
    entry["finish_reason"] = added.reason
    if added.reason is not None:
        entry["stop_reason"] = choice.stopped_by
    if call.token_ids:
        entry["token_ids"] = list(added.tokens)
        if first:
            entry["prompt_token_ids"] = list(choice.prompt_tokens)
    if first and call.prompt_listed and added.prompt is not None:
        entry["prompt_logprobs"] = _listed(choice, added.prompt)
    document["choices"] = [entry]
    if added.reason is not None:
        document["lockstep"] = {**head.server, "choices": [told(choice)]}
    return document


def usage_piece(head: Head, call: Call, choices: Sequence[Choice]) -> dict[str, Any]:
    """Give the piece that tells the usage at the end of a stream."""
    document = _begin(head, "chat.completion.chunk" if call.chat else "text_completion")
    return {**document, "choices": [], "usage": usage(call, choices)}


def usage(call: Call, choices: Sequence[Choice]) -> dict[str, Any]:
    """Count tokens: each prompt once, whatever n is; cached ones of each prompt's first choice."""
    firsts = choices[:: call.n]
    prompt = sum(map(len, call.prompts))
    completion = sum(len(choice.tokens) for choice in choices)
    cached = sum(choice.ticket.cached for choice in firsts)
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
        "prompt_tokens_details": {"cached_tokens": cached},
    }


def told(choice: Choice) -> dict[str, Any]:
    """Give what the server noted of a choice: its seed, where it ran, and in what company."""
    ticket = choice.ticket
    return {
        "index": choice.index,
        "seed": ticket.request.sampling.seed,
        "execution": ticket.execution,
        "request": ticket.request.id,
        "cached_tokens": ticket.cached,
        "batch_requests_max": ticket.width,
    }


def _begin(head: Head, kind: str) -> dict[str, Any]:
    return {
        "id": head.id,
        "object": kind,
        "created": head.created,
        "model": head.model,
        "system_fingerprint": head.mark,
    }


def _choice(choice: Choice) -> dict[str, Any]:
    call = choice.call
    entry: dict[str, Any] = {"index": choice.index}
    if call.chat:
        entry["message"] = {"role": "assistant", "content": choice.text}
        entry["logprobs"] = _chat_scores(choice, choice.scored)
    else:
        entry["text"] = (call.shown[choice.prompt] if call.echo else "") + choice.text
        prompt = choice.prompt_scores if call.echo else None
        entry["logprobs"] = _completion_scores(choice, choice.tokens, choice.scored, prompt, 0)
        if call.prompt_listed and choice.prompt_scores is not None:
            entry["prompt_logprobs"] = _listed(choice, choice.prompt_scores)
    entry["finish_reason"] = choice.reason
    entry["stop_reason"] = choice.stopped_by
    if call.token_ids:
        entry["token_ids"] = list(choice.tokens)
        if not call.chat:
            entry["prompt_token_ids"] = list(choice.prompt_tokens)
    return entry


def _chat_scores(choice: Choice, scored: Sequence[Scored]) -> dict[str, Any] | None:
    if choice.call.top is None:
        return None
    texts, as_id = choice.texts, choice.call.names_ids

    def entry(token: int, logprob: float) -> dict[str, Any]:
        return {
            "token": token_name(texts, token, as_id),
            "logprob": json_number(logprob),
            "bytes": token_bytes(texts, token),
        }

    content = [
        {
            **entry(one.token, one.logprob),
            "top_logprobs": [entry(token, logprob) for token, logprob in one.top],
        }
        for one in scored
    ]
    return {"content": content, "refusal": None}


def _completion_scores(
    choice: Choice,
    tokens: Sequence[int],
    scored: Sequence[Scored],
    prompt: PromptScores | None,
    start: int,
) -> dict[str, Any] | None:
    """Give the four lists of OpenAI's legacy form; an echoed prompt's first token has no score."""
    call, texts = choice.call, choice.texts
    if call.top is None:
        return None
    ids = [*(choice.prompt_tokens if prompt is not None else ()), *tokens]
    scores: list[Scored | None] = [*(prompt or ()), *scored]
    offsets = []
    for token in ids:
        offsets.append(start)
        start += len(texts.decode((token,)))
    top = call.top
    return {
        "tokens": [token_name(texts, token, call.names_ids) for token in ids],
        "token_logprobs": [None if one is None else json_number(one.logprob) for one in scores],
        "top_logprobs": [None if one is None else _named(call, texts, one, top) for one in scores],
        "text_offset": offsets,
    }


def _named(call: Call, texts: Texts, one: Scored, top: int) -> dict[str, float]:
    """Give the top tokens of a position by name, and its own after them if it is none of them.

    Two tokens of one name would be one member: then each is named by its id.
    """
    best = dict(one.top[:top])
    best.setdefault(one.token, one.logprob)
    names = [token_name(texts, token, call.names_ids) for token in best]
    if len(set(names)) < len(names):
        names = [f"token_id:{token}" for token in best]
    return {name: json_number(logprob) for name, logprob in zip(names, best.values(), strict=True)}


def _listed(choice: Choice, scores: PromptScores) -> list[dict[str, Any] | None]:
    """Give a prompt's scores by id, as vLLM's prompt_logprobs; null for its first token."""
    return [None if one is None else _by_id(choice, one) for one in scores]


def _by_id(choice: Choice, one: Scored) -> dict[str, Any]:
    ranked = {token: (logprob, rank) for rank, (token, logprob) in enumerate(one.top, 1)}
    ranked.setdefault(one.token, (one.logprob, one.rank))
    return {
        str(token): {
            "logprob": json_number(logprob),
            "rank": rank,
            "decoded_token": choice.texts.decode((token,)),
        }
        for token, (logprob, rank) in ranked.items()
    }
