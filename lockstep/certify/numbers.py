"""JSON whose numbers stay the texts that a server wrote.

A log-probability that went through a float is another text by the next release of a library, so
it never does: what is compared, and what the certificate holds, is what stood in the answer.
"""

from __future__ import annotations

import json
import re
from typing import Any

_NUMBER = re.compile(r"-?(0|[1-9][0-9]{0,15})(\.[0-9]{1,40})?([eE][+-]?[0-9]{1,3})?|-?Infinity|NaN")
"""What the schema of the certificate takes."""


class Number(str):
    """The text of a number, told apart from a string of the same characters by its type."""

    __slots__ = ()


def parse(text: str | bytes) -> Any:
    """Read JSON; every number is a `Number`.

    Raises:
        ValueError: it is no JSON, or nested too deep.
    """
    try:
        return json.loads(text, parse_float=Number, parse_int=Number, parse_constant=Number)
    except RecursionError:
        raise ValueError("nested too deep") from None


def is_number(value: Any) -> bool:
    """Whether a number stood here."""
    return isinstance(value, Number)


def as_integer(value: Any) -> int | None:
    """Give an integer that is 0 or more; None for whatever else."""
    if not isinstance(value, Number) or not value.isdecimal() or len(value) > 15:
        return None
    return int(value)


def as_logprob(value: Any) -> str | None:
    """Give the text of a number; None for null and for what is none.

    Raises:
        ValueError: a number longer than a certificate holds.
    """
    if not isinstance(value, Number):
        return None
    if not _NUMBER.fullmatch(value):
        raise ValueError("a number of more digits than a certificate holds")
    return str(value)


def at(document: Any, path: str) -> Any:
    """Give what stands at a path of member names joined by dots, places among them; else None."""
    for name in path.split("."):
        if isinstance(document, list) and name.isdecimal() and int(name) < len(document):
            document = document[int(name)]
        elif isinstance(document, dict):
            document = document.get(name)
        else:
            return None
    return document
