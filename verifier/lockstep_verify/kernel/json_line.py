"""One line of an export as JSON, and what Python's own reader would let pass or refuse."""

import json
from typing import Any, NoReturn


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a member given twice")
    return found


def _no_number(text: str) -> NoReturn:
    raise ValueError(f"the number {text}")


_decoder = json.JSONDecoder(
    object_pairs_hook=_pairs, parse_float=_no_number, parse_constant=_no_number
)


def decode(text: str) -> Any:
    """Read one JSON value without fractions, exponents or members given twice.

    Raises:
        ValueError: it is none.
        RecursionError: it nests too deeply.
    """
    return _decoder.decode(text)


def whole_number(digits: str) -> int:
    """Read a numeral of any length; Python's own reader has a bound of its own."""
    value = 0
    for start in range(0, len(digits), 4000):
        piece = digits[start : start + 4000]
        value = value * 10 ** len(piece) + int(piece)
    return value


def has_surrogate(text: str) -> bool:
    """Say whether a string holds half of a surrogate pair."""
    return any("\ud800" <= character <= "\udfff" for character in text)
