"""Canonical JSON of integers: encode it, and read it with the first offence named (LCJ-1 to 11).

Nearly every text that is ever read is canonical. So it is first read leniently by the standard
library's scanner and encoded again; where the result equals the text and holds no float, no wide
integer and no deep nesting, no rule can be broken: a repeated name, an odd escape or spare white
space would each have changed the bytes. Only otherwise does the exact reader look for the first
offence.
"""

import json
from typing import Any

from lockstep_verify import limits
from lockstep_verify.bytes import decode_utf8
from lockstep_verify.errors import Refusal

_ENCODER = json.JSONEncoder(
    ensure_ascii=False,
    check_circular=False,
    allow_nan=False,
    sort_keys=True,
    separators=(",", ":"),
)


def utf16_order(name: str) -> bytes:
    """Give the sort key of a name: its UTF-16 code units, big-endian (LCJ-10)."""
    return name.encode("utf-16-be", "surrogatepass")


def _sorted(value: Any) -> Any:
    if type(value) is dict:
        return {name: _sorted(value[name]) for name in sorted(value, key=utf16_order)}
    if type(value) is list:
        return [_sorted(item) for item in value]
    return value


_PRESORTED = json.JSONEncoder(
    ensure_ascii=False, check_circular=False, allow_nan=False, separators=(",", ":")
)


def encode_text(value: Any) -> str:
    """Encode a value of dicts, lists, strings, integers, booleans and None as LCJ text."""
    text = _ENCODER.encode(value)
    if text.isascii() or max(text) <= "\uffff":
        # Without characters above U+FFFF, code-point order is code-unit order.
        return text
    return _PRESORTED.encode(_sorted(value))


def encode(value: Any) -> bytes:
    """Encode a value as LCJ, in UTF-8 (LCJ-10)."""
    return encode_text(value).encode("utf-8")


_MANY = 8
"""From so many elements on, judging them as a whole is cheaper than one by one."""


def _within_profile(container: Any, depth: int) -> bool:
    """Tell whether a parsed container holds neither floats, wide integers nor deep nesting."""
    if depth > limits.DEPTH:
        return False
    values = container.values() if type(container) is dict else container
    if len(values) > _MANY and set(map(type, values)) == {int}:
        return bool(min(values) >= -limits.INTEGER and max(values) <= limits.INTEGER)
    for value in values:
        kind = type(value)
        if kind is str:
            continue
        if kind is int:
            if not -limits.INTEGER <= value <= limits.INTEGER:
                return False
        elif kind is dict or kind is list:
            if not _within_profile(value, depth + 1):
                return False
        elif kind is float:
            return False
    return True


def _read_canonical(text: str) -> dict[str, Any] | None:
    """Give the value of a text that breaks no rule; None where the exact reader must look."""
    # A text holding none of these as its first character is no object.
    if not text.startswith("{"):
        return None
    try:
        value = json.loads(text)
        if _within_profile(value, 1) and encode_text(value) == text:
            return dict(value) if type(value) is not dict else value
    except (ValueError, RecursionError):
        pass
    return None


def _first_difference(left: str, right: str) -> int:
    """Give the length of the longest common beginning, by halving."""
    low, high = 0, min(len(left), len(right))
    while low < high:
        middle = (low + high + 1) // 2
        if left[low:middle] == right[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def require_few_marks(text: str, limit: int) -> None:
    """Refuse a text of more values than any document has, before memory is spent on them (BYTES-5).

    Raises:
        Refusal: LIMIT_SIZE.
    """
    marks = text.count(",") + text.count("[") + text.count("{")
    if marks > limit:
        raise Refusal("LIMIT_SIZE", "", f"at most {limit} commas and opening brackets", marks)


def parse(data: bytes, noncanonical: str, marks: int = limits.PAYLOAD_MARKS) -> dict[str, Any]:
    """Read an LCJ text.

    Args:
        data: the bytes, whose size has been judged.
        noncanonical: the code for a valid text in another form than LCJ.
        marks: the commas and opening brackets that the text may hold.

    Raises:
        Refusal: BAD_ENCODING, LIMIT_SIZE, MALFORMED_JSON, LIMIT_DEPTH, DUPLICATE_KEY,
            NUMBER_OUT_OF_PROFILE, BAD_UNICODE, TRAILING_DATA, NOT_AN_OBJECT, or `noncanonical`.
    """
    text = decode_utf8(data)
    require_few_marks(text, marks)
    canonical = _read_canonical(text)
    if canonical is not None:
        return canonical
    from lockstep_verify.json_reader import read

    value = read(text)
    again = encode_text(value)
    if again != text:
        place = _first_difference(text, again)
        raise Refusal(
            noncanonical,
            expected=f"at byte {len(text[:place].encode())}: {again[place : place + 24]}",
            got=text[place : place + 24],
        )
    return value
