"""The user's own prompts under the plan's conditions, and what their scorer says [CERT-24]."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lockstep.certify import numbers
from lockstep.certify.ask import Ask
from lockstep.certify.cells import PlannedCell
from lockstep.certify.exchange import Exchanged
from lockstep.certify.observation import CellSeen, PromptsSeen, Round
from lockstep.certify.requests import Plan
from lockstep.certify.rounds import Place, exchanged, observed
from lockstep.certify.scorer import Scorer
from lockstep.errors import LockstepError
from lockstep.limits import CERTIFIED_PROMPTS, CERTIFIED_PROMPTS_BYTES

if TYPE_CHECKING:
    from lockstep.certify.dialogue import Dialogue

DEFAULT_TOKENS = 128
"""Tokens of an answer to an item that names no number."""
_DECIMAL = re.compile(r"[0-9]{1,6}(\.[0-9]{1,9})?")
_WHOLE = re.compile(r"[0-9]{1,15}")


@dataclass(frozen=True)
class Item:
    """A line of the user's file.

    Attributes:
        line: its text, which the scorer gets as it is.
        ask: what it asks for.
    """

    line: str
    ask: Ask

    @property
    def units(self) -> int:
        """About how many tokens its prompt has: of a text, one for each four characters."""
        prompt = self.ask.prompt
        return -(-len(prompt) // 4) if isinstance(prompt, str) else len(prompt)


@dataclass(frozen=True)
class Prompts:
    """The user's file.

    Attributes:
        items: its lines.
        sha256: of its bytes, in hex.
        scorer: None without one.
    """

    items: tuple[Item, ...]
    sha256: str
    scorer: Scorer | None


def read_prompts(path: Path, top: int | None, scorer: Scorer | None) -> Prompts:
    """Read a file of JSON lines.

    An item has `prompt`, a text or a list of token ids, and if it likes `max_tokens`,
    `temperature`, `top_p`, `top_k` and `seed`, as the endpoint takes them; a temperature above 0
    needs a seed, without which two answers may differ by right. All else is the scorer's.

    Args:
        path: of the file.
        top: likeliest tokens to be asked for at each position; None for no log-probabilities.
        scorer: None without one.

    Raises:
        LockstepError: FILE_UNREADABLE, LIMIT_SIZE, or what is wrong with a line, by its number.
    """
    try:
        data = path.read_bytes()
    except OSError as fault:
        told = fault.strerror or "no file"
        raise LockstepError("FILE_UNREADABLE", str(path), "JSON lines", told) from None
    if len(data) > CERTIFIED_PROMPTS_BYTES:
        expected = f"at most {CERTIFIED_PROMPTS_BYTES} bytes"
        raise LockstepError("LIMIT_SIZE", str(path), expected, len(data))
    try:
        lines = data.decode("utf-8").split("\n")
    except UnicodeDecodeError as fault:
        raise LockstepError("BAD_ENCODING", str(path), "UTF-8", f"byte {fault.start}") from None
    items = tuple(
        _item(line, f"{path}, line {number}", top)
        for number, line in enumerate(lines, start=1)
        if line.strip()
    )
    if not 1 <= len(items) <= CERTIFIED_PROMPTS:
        expected = f"1 to {CERTIFIED_PROMPTS} items"
        raise LockstepError("LIMIT_SIZE", str(path), expected, len(items))
    return Prompts(items, sha256(data).hexdigest(), scorer)


async def run_round(
    dialogue: Dialogue,
    prompts: Prompts,
    plan: Plan,
    cell: PlannedCell,
    lifetime: int,
    number: int,
    place: Place,
    run_id: str,
    told: Callable[[str], None] = lambda _: None,
) -> Round:
    """Send the prompts under a condition once, and have the answers scored.

    Args:
        dialogue: with the server.
        prompts: what to send.
        plan: parameters of the plan, which say what fillers ask for.
        cell: the condition.
        lifetime: of the server.
        number: of the round within it.
        place: takes outputs.
        run_id: parts the salts of this run from those of another.
        told: is told why a scorer gave no scores.

    Raises:
        httpx.HTTPError, StatusError: the cache could not be reset.
    """
    asks = [item.ask for item in prompts.items]
    seen = await exchanged(dialogue, plan, cell, lifetime, number, run_id, asks)
    return observed(seen, lifetime, number, place, await _scores(prompts, seen, told))


def costed(prompts: Prompts, conditions: Sequence[PlannedCell]) -> tuple[PlannedCell, ...]:
    """Give conditions whose items have a size, by which a round's time is estimated."""
    found = []
    for cell in conditions:
        own = zip(cell.requests, prompts.items, strict=False)
        sized = [
            replace(request, prompt=(0,) * item.units, max_new=item.ask.max_new)
            for request, item in own
        ]
        found.append(replace(cell, requests=(*sized, *cell.requests[len(sized) :])))
    return tuple(found)


def collected(prompts: Prompts, conditions: tuple[CellSeen, ...]) -> PromptsSeen:
    """Give what was seen of the prompts.

    Args:
        prompts: what was sent.
        conditions: the rounds of each.
    """
    name = None if prompts.scorer is None else prompts.scorer.name
    return PromptsSeen(len(prompts.items), prompts.sha256, name, conditions)


def lines(document: Mapping[str, Any]) -> list[str]:
    """Say what moved, by a certificate's member `prompts`, and who moved it."""
    told = []
    for one in document["comparisons"]:
        pair, other = (called(document["conditions"][one[name]]) for name in ("a", "b"))
        answers = _rate(one["answers"], one["items_compared"], one["low_ppm"], one["high_ppm"])
        text = f"{pair}, again" if one["a"] == one["b"] else f"{pair} against {other}"
        text += f": answers {answers}"
        if document["scorer"] is not None:
            bounds = one["scores_low_ppm"], one["scores_high_ppm"]
            text += f"; scores {_rate(one['scores'], one['scores_compared'], *bounds)}"
        told.append(text)
        told += [f"  item {at['item']}: {_position(at['position'])}" for at in one["first"][:5]]
        if len(one["first"]) > 5:
            told.append(f"  and {len(one['first']) - 5} more, in the certificate")
    told.append(_EXPLAINED[document["verdict"]])
    return told


def called(condition: Mapping[str, Any]) -> str:
    """Give a condition as people call it."""
    told = [f"cache {condition['cache']}"]
    if condition["control"] is None:
        told += [
            name for name in (_BESIDE[condition["filler"]], _TURNED[condition["order"]]) if name
        ]
    return f"{'at once' if condition['control'] is None else 'one by one'} ({', '.join(told)})"


_BESIDE = {"none": "", "fixed": "beside others", "varying": "beside more or fewer others"}
_TURNED = {"fixed": "", "rotated": "order rotated"}
_EXPLAINED = {
    "UNKNOWN": "The engine's part is not known: a condition was not met in all of its rounds.",
    "ENGINE_MOVES": "The engine is a reason for the movement: answers to one prompt differ.",
    "SCORER_MOVES": "The engine is no reason: all answers are alike, and scores of them differ.",
    "STEADY": "The engine is no reason, at this sample: no answer and no score moved.",
}


def _position(position: int | None) -> str:
    if position is None:
        return "the texts differ; the server reports no tokens"
    return f"first diverging token {position}"


def _rate(moved: int, of: int, low: int, high: int) -> str:
    bounds = f"{low / 10_000:.2f} to {high / 10_000:.2f} %"
    return f"{moved} of {of} flip ({bounds} at 95 %)" if of else "not compared"


async def _scores(
    prompts: Prompts, seen: Exchanged, told: Callable[[str], None]
) -> tuple[str | None, ...] | None:
    """Give a score for each item; None as a whole without a scorer."""
    if prompts.scorer is None:
        return None
    replies = seen.replies[: len(prompts.items)]
    answered = {at: one.answer for at, one in enumerate(replies) if one.answer is not None}
    result = await prompts.scorer.score(
        [
            (at, prompts.items[at].line, answer.text, answer.output.tokens)
            for at, answer in answered.items()
        ]
    )
    if result.fault:
        told(f"no scores: {result.fault}")
    given = dict(zip(answered, result.scores, strict=True))
    return tuple(given.get(at) for at in range(len(prompts.items)))


def _item(line: str, where: str, top: int | None) -> Item:
    try:
        document = numbers.parse(line)
    except ValueError as fault:
        raise LockstepError("MALFORMED_JSON", where, "one JSON object", str(fault)[:80]) from None
    if not isinstance(document, dict):
        raise LockstepError("NOT_AN_OBJECT", where, "one JSON object", type(document).__name__)
    seed = _number(document, "seed", where, _WHOLE, None)
    temperature = _number(document, "temperature", where, _DECIMAL, "0")
    if seed is None and temperature is not None and float(temperature) > 0:
        hint = "Give the item a seed, or temperature 0: without, answers may differ by right."
        raise LockstepError("MISSING_FIELD", where, "seed", "temperature above 0", hint)
    top_k = _number(document, "top_k", where, _WHOLE, "0")
    tokens = _number(document, "max_tokens", where, _WHOLE, str(DEFAULT_TOKENS))
    ask = Ask(
        prompt=_prompt(document.get("prompt"), where),
        max_new=max(1, int(tokens or 1)),
        temperature=temperature or "0",
        top_p=_number(document, "top_p", where, _DECIMAL, "1") or "1",
        top_k=int(top_k or 0),
        seed=None if seed is None else int(seed),
        top=top,
    )
    return Item(line.strip(), ask)


def _prompt(value: Any, where: str) -> str | tuple[int, ...]:
    if isinstance(value, str) and not numbers.is_number(value) and value:
        return value
    if isinstance(value, list) and value:
        ids = [numbers.as_integer(one) for one in value]
        if None not in ids:
            return tuple(one for one in ids if one is not None)
    expected = "`prompt`, a text or a list of token ids, not empty"
    raise LockstepError("MISSING_FIELD", where, expected, type(value).__name__)


def _number(
    document: Mapping[str, Any], name: str, where: str, form: re.Pattern[str], default: str | None
) -> str | None:
    value = document.get(name)
    if value is None:
        return default
    if not numbers.is_number(value) or not form.fullmatch(value):
        raise LockstepError("BAD_VALUE", where, f"`{name}`, a number that is not negative", value)
    return str(value)
