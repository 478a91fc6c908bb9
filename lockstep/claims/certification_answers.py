"""Two answers beside each other, and one beside its request [CERT-10, CERT-14, CERT-17]."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any

from lockstep.certify.observation import Output
from lockstep.certify.requests import Request

_NO_TEXT = hashlib.sha256(b"").hexdigest()
KINDS = ("tokens", "shape", "logprobs")
_EXACT = Context(prec=4000)
"""More digits than two numbers of the schema can span."""
_FOUR = Context(prec=4, rounding=ROUND_HALF_UP)


def kind(left: Output, right: Output) -> str | None:
    """Give what differs between two outputs, the gravest first; None where nothing does."""
    if (listed(left), left.text_sha256) != (listed(right), right.text_sha256):
        return "tokens"
    if _shape(left) != _shape(right):
        return "shape"
    return None if left == right else "logprobs"


def listed(output: Output) -> tuple[Any, ...] | None:
    """Give the ids of an output, or where they are not reported its token texts."""
    return output.tokens if output.tokens is not None else output.token_texts


def says(output: Output) -> bool:
    """Whether an output has anything that a user reads: ids, token texts or text."""
    return listed(output) is not None or output.text_sha256 is not None


def is_empty(output: Output) -> bool:
    """Whether nothing stands in an output: no token, or where none is reported no text."""
    if listed(output) is not None:
        return not listed(output)
    return output.text_sha256 == _NO_TEXT


def _shape(output: Output) -> tuple[Any, ...]:
    return (
        output.finish,
        output.tokens is None,
        output.token_texts is None,
        _size(output.logprobs),
        None if output.top is None else [len(at) for at in output.top],
        _size(output.prompt_logprobs),
    )


def _size(values: Sequence[Any] | None) -> int | None:
    return None if values is None else len(values)


def size(output: Output) -> int | None:
    """Give how many tokens an output has; None where they are not reported."""
    return _size(listed(output))


def lacks(output: Output, observable: str, rescores: bool) -> bool:
    """Whether an answer does not have what the observable needs [CERT-16]."""
    if observable == "text":
        return output.text_sha256 is None
    if listed(output) is None:
        return True
    if observable == "tokens":
        return False
    return output.logprobs is None or (rescores and output.prompt_logprobs is None)


def malformed(output: Output, request: Request, number: int, prompt: int | None) -> bool:
    """Whether an answer cannot be one to its request [CERT-10].

    Args:
        output: the answer.
        request: the request.
        number: of the round.
        prompt: how many numbers of the prompt there must be; None where that is not known.
    """
    n, most = size(output), request.max_new
    top = request.fields(number)["top"] or 0
    sized = [len(one) for one in (output.tokens, output.token_texts) if one is not None]
    lists = [len(one) for one in (output.logprobs, output.top) if one is not None]
    told = output.prompt_logprobs
    return any(
        (
            len(set(sized)) > 1,
            n is not None and any(one != n for one in lists),
            n is not None and n > most,
            n is not None and output.finish == "length" and n != most,
            None in (output.logprobs or ()),
            any(not 1 <= len(at) <= top + 1 for at in output.top or ()),
            None in (told or ())[1:],
            told is not None and prompt is not None and len(told) != prompt,
            not all(_finite(one) for one in _all_numbers(output)),
        )
    )


def _all_numbers(output: Output) -> list[str]:
    numbers = [*(output.logprobs or ()), *(output.prompt_logprobs or ())]
    numbers += [entry.logprob for at in output.top or () for entry in at]
    return [one for one in numbers if one is not None]


def _finite(number: str) -> bool:
    return Decimal(number).is_finite()


def agreeing(left: Output, right: Output, what: str) -> int | None:
    """Give how many leading positions agree in tokens, or in log-probabilities.

    Returns:
        None where the lists are not there, or, of log-probabilities, none differs.
    """
    if what == "tokens":
        if left.tokens is not None and right.tokens is not None:
            return leading(left.tokens, right.tokens)
        if left.token_texts is not None and right.token_texts is not None:
            return leading(left.token_texts, right.token_texts)
        return None
    found = []
    for name in ("logprobs", "top"):
        one, other = getattr(left, name), getattr(right, name)
        if None not in (one, other) and one != other:
            found.append(leading(one, other))
    return min(found, default=None)


def leading(left: Sequence[Any], right: Sequence[Any]) -> int:
    """Give the length of the common beginning of two sequences."""
    at = 0
    while at < min(len(left), len(right)) and left[at] == right[at]:
        at += 1
    return at


def delta(left: str | None, right: str | None) -> str | None:
    """Give the absolute difference of two numbers, with four digits [CERT-17]."""
    if left is None or right is None or not (_finite(left) and _finite(right)):
        return None
    apart = abs(_EXACT.subtract(Decimal(left), Decimal(right)))
    if apart == 0:
        return "0"
    rounded = _FOUR.plus(apart)
    exponent = rounded.adjusted()
    digits = "".join(map(str, rounded.as_tuple().digits)).ljust(4, "0")
    return f"{digits[0]}.{digits[1:4]}e{'+' if exponent >= 0 else '-'}{abs(exponent):02d}"
