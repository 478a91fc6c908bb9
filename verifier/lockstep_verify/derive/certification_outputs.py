"""What is compared of answers, and whether they are well-formed (CERT-9, CERT-10, CERT-14)."""

from __future__ import annotations

import hashlib
from fractions import Fraction
from typing import Any, NamedTuple

from lockstep_verify.derive.certification_plan import AT
from lockstep_verify.errors import Refusal

Document = dict[str, Any]
_NO_TEXT = hashlib.sha256(b"").hexdigest()


class Answer(NamedTuple):
    """What the rules ask of one entry of `outputs`.

    Attributes:
        tokens: number of the class of equal tokens and text.
        shape: likewise of equal shape besides.
        whole: likewise of all that is compared.
        says: whether it has ids, token texts or text at all.
        size: tokens, or None where they are not reported.
        empty: whether nothing stands in it that could be compared.
        broken: malformed whatever was asked.
        lacks: what the observable needs is missing.
        widest: the most entries of `top` at a position.
    """

    tokens: int
    shape: int
    whole: int
    says: bool
    size: int | None
    empty: bool
    broken: bool
    lacks: bool
    widest: int


def answers(outputs: list[Document], observable: str) -> list[Answer]:
    """Give what counts of each output, and refuse one that stands twice (step 3)."""
    numbers: dict[Any, int] = {}
    known: set[Any] = set()
    found = []
    for i, one in enumerate(outputs):
        fields = _frozen(one)
        if fields in known:
            raise Refusal("BAD_VALUE", f"{AT}/outputs/{i}", "distinct outputs", "one twice")
        known.add(fields)
        ids, texts, text, finish, logprobs, top, prompt = fields
        listed = ids if ids is not None else texts
        tokens = listed, text
        lengths = None if top is None else tuple(map(len, top))
        nulls = tuple(value is None for value in (ids, texts))
        shape = (finish, nulls, _length(logprobs), lengths, _length(prompt))
        rest = (texts, logprobs, top, prompt)
        classes = (("t", tokens), ("s", tokens, shape), ("w", tokens, shape, rest))
        same, alike, equal = (numbers.setdefault(key, len(numbers)) for key in classes)
        says = listed is not None or text is not None
        size = _length(ids if ids is not None else texts)
        needed = {"text": [text], "tokens": [listed], "logprobs": [listed, logprobs]}
        lacks = None in needed[observable]
        widest = max(map(len, top), default=0) if top is not None else 0
        empty = size == 0 or (size is None and text == _NO_TEXT)
        broken = _broken(fields, size)
        found.append(Answer(same, alike, equal, says, size, empty, broken, lacks, widest))
    return found


def _frozen(one: Document) -> tuple[Any, ...]:
    top = one["top"]
    if top is not None:
        top = tuple(tuple((entry["token"], entry["logprob"]) for entry in at) for at in top)
    lists = ("tokens", "token_texts", "logprobs", "prompt_logprobs")
    ids, texts, logprobs, prompt = (None if one[n] is None else tuple(one[n]) for n in lists)
    return ids, texts, one["text_sha256"], one["finish"], logprobs, top, prompt


def _length(values: Any) -> int | None:
    return None if values is None else len(values)


def _broken(fields: tuple[Any, ...], size: int | None) -> bool:
    """Whether an answer is malformed whatever was asked (CERT-10)."""
    ids, texts, _, _, logprobs, top, prompt = fields
    if ids is not None and texts is not None and len(ids) != len(texts):
        return True
    if logprobs is not None and (None in logprobs or size not in (None, len(logprobs))):
        return True
    if top is not None and (size not in (None, len(top)) or () in top):
        return True
    if prompt is not None and None in prompt[1:]:
        return True
    given = [*(logprobs or ()), *(prompt or ()), *(value for at in top or () for _, value in at)]
    return any(value is not None and value[-1] in "yN" for value in given)


def malformed(
    answer: Answer, output: Document, request: Document, number: int, prompt: Any
) -> bool:
    """Whether an answer is no answer to its request (CERT-10).

    Args:
        answer: what counts of it.
        output: the entry itself.
        request: its request.
        number: of the round, by which a neighbour's fields vary.
        prompt: how many numbers of the prompt there must be, None where that is not known.
    """
    varying, top = request["varying"], request["top"]
    if varying is not None and varying["field"] == "top":
        top = varying["values"][number % len(varying["values"])]
    size, most = answer.size, request["max_new"]
    if answer.broken or answer.widest > (top or 0) + 1:
        return True
    if size is not None and (size > most or (output["finish"] == "length" and size != most)):
        return True
    told = output["prompt_logprobs"]
    return told is not None and prompt is not None and len(told) != prompt


def contrast(
    left: Answer, right: Answer, one: Document, other: Document
) -> tuple[str, int | None, str | None]:
    """Give kind, position and delta of two outputs that differ (CERT-14, CERT-17).

    Args:
        left: what counts of the first.
        right: what counts of the second.
        one: the first itself.
        other: the second itself.
    """
    kind = "logprobs"
    if left.tokens != right.tokens:
        kind = "tokens"
    elif left.shape != right.shape:
        kind = "shape"
    position = None if kind == "shape" else agree(one, other, kind)
    apart = None
    numbers = one["logprobs"] or ()
    # `top` of a malformed answer may go further than its log-probabilities.
    if kind == "logprobs" and position is not None and position < len(numbers):
        apart = delta(numbers[position], other["logprobs"][position])
    return kind, position, apart


def agree(left: Document, right: Document, what: str) -> int | None:
    """Give how many leading positions of two outputs agree; None where there are no lists.

    Args:
        left: an output.
        right: another.
        what: `tokens`, or `logprobs`, where the likeliest tokens count too.
    """
    if what == "tokens":
        names = [
            n for n in ("tokens", "token_texts") if left[n] is not None and right[n] is not None
        ]
        pairs = [(left[n], right[n]) for n in names[:1]]
    else:
        names = ["logprobs", "top"]
        pairs = [(left[n], right[n]) for n in names if left[n] is not None and left[n] != right[n]]
    if not pairs:
        return None
    return min(_prefix(a, b) for a, b in pairs)


def _prefix(left: list[Any], right: list[Any]) -> int:
    both = zip(left, right, strict=False)
    return next((i for i, (a, b) in enumerate(both) if a != b), min(len(left), len(right)))


def delta(left: str | None, right: str | None) -> str | None:
    """Give the absolute difference of two numbers with four digits (CERT-17)."""
    if left is None or right is None or left[-1] in "yN" or right[-1] in "yN":
        return None
    value = abs(Fraction(left) - Fraction(right))
    if value == 0:
        return "0"
    exponent = len(str(value.numerator)) - len(str(value.denominator))
    exponent -= value < Fraction(10) ** exponent
    digits = int(value / Fraction(10) ** exponent * 1000 + Fraction(1, 2))
    if digits == 10_000:
        digits, exponent = 1000, exponent + 1
    text = str(digits)
    return f"{text[0]}.{text[1:]}e{'-' if exponent < 0 else '+'}{abs(exponent):02d}"
