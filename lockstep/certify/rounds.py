"""A round of a cell: what each of its requests asks for, and what was seen of it [CERT-5 to 9]."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING

from lockstep.certify.ask import Ask
from lockstep.certify.exchange import Exchanged, Replies, submit
from lockstep.certify.observation import Output, Round
from lockstep.certify.requests import Plan, Request, text_of

if TYPE_CHECKING:
    from lockstep.certify.cells import PlannedCell
    from lockstep.certify.dialogue import Dialogue

Place = Callable[[Output], int]
"""Gives the place of an output in the table of outputs, which it enters where it is new."""


async def run_round(
    dialogue: Dialogue,
    plan: Plan,
    cell: PlannedCell,
    lifetime: int,
    number: int,
    place: Place,
    run_id: str,
) -> Round:
    """Make a round of a cell; the arguments are those of `exchanged`, and `place` takes outputs.

    Raises:
        httpx.HTTPError, StatusError: the cache could not be reset.
    """
    seen = await exchanged(dialogue, plan, cell, lifetime, number, run_id)
    return observed(seen, lifetime, number, place)


async def exchanged(
    dialogue: Dialogue,
    plan: Plan,
    cell: PlannedCell,
    lifetime: int,
    number: int,
    run_id: str,
    own: Sequence[Ask] = (),
) -> Exchanged:
    """Send the requests of a round of a cell, and give what became of them.

    Args:
        dialogue: with the server.
        plan: its parameters.
        cell: which one.
        lifetime: of the server.
        number: of the round within it.
        run_id: parts the salts of this run from those of another.
        own: what the first places ask for, where the plan does not say it.

    Raises:
        httpx.HTTPError, StatusError: the cache could not be reset.
    """
    salt = f"{run_id}-{cell.case}-{cell.control or 'none'}-{cell.filler}-{cell.order}"
    salted = dialogue.salts and cell.cache in ("cold", "off")
    if cell.cache == "cold" and not salted:
        await dialogue.reset()
    present = cell.present(number)

    def ask(at: int, replies: Replies) -> Ask | None:
        wanted = own[at] if at < len(own) else _ask(plan, present[at], number, replies)
        if wanted is None:
            return None
        apart = f"{salt}-{lifetime}-{number}" + (f"-{at}" if cell.cache == "off" else "")
        return replace(
            wanted, salt=_short(apart) if salted else None, reuse=cell.cache != "off",
            stream="stream" in plan["offers"],
        )  # fmt: skip

    leaving = frozenset(at for at, one in enumerate(present) if one.role == "cancelled")
    return await submit(dialogue, cell.waves, cell.submission(number), ask, leaving)


def observed(
    seen: Exchanged,
    lifetime: int,
    number: int,
    place: Place,
    scores: tuple[str | None, ...] | None = None,
) -> Round:
    """Give a round as it is recorded."""
    answers = [reply.answer for reply in seen.replies]
    return Round(
        lifetime,
        number,
        outputs=tuple(None if one is None else place(one.output) for one in answers),
        start_us=tuple(reply.start or 0 for reply in seen.replies),
        first_us=tuple(reply.first for reply in seen.replies),
        end_us=tuple(reply.end or 0 for reply in seen.replies),
        cached=_reported([None if one is None else one.cached for one in answers]),
        prompt_tokens=_reported([None if one is None else one.prompt_tokens for one in answers]),
        peak_running=seen.peak,
        polls=seen.polls,
        failures=tuple(reply.failure for reply in seen.replies if reply.failure is not None),
        scores=scores,
    )


def _ask(plan: Plan, request: Request, number: int, replies: Replies) -> Ask | None:
    """Put a request into the form that adapters take."""
    prompt: tuple[int, ...] | str = request.prompt
    if plan["form"] == "text":
        prompt = text_of(request.prompt)
    if request.rescores is not None:
        scored = _rescored(plan, request.rescores, replies)
        if scored is None:
            return None
        prompt = scored
    return Ask(prompt=prompt, echo=request.echo, **request.fields(number))


def _rescored(plan: Plan, at: int, replies: Replies) -> tuple[int, ...] | str | None:
    """Give the prompt that an earlier request had, with its own output behind it."""
    reply = replies[at]
    if reply.answer is None or reply.ask is None:
        return None
    prompt = reply.ask.prompt
    if isinstance(prompt, str):
        return None if reply.answer.text is None else prompt + reply.answer.text
    tokens = reply.answer.output.tokens
    return None if tokens is None else (*prompt, *tokens)


def _reported(values: Sequence[int | None]) -> tuple[int | None, ...] | None:
    return None if all(value is None for value in values) else tuple(values)


def _short(text: str) -> str:
    """Give a salt of at most 64 characters, which some servers bound."""
    return sha256(text.encode("ascii")).hexdigest()[:32]
