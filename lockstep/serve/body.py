"""Reading the body of a call: JSON as it stands, and each field by the one form that it may have.

Fractions are kept as decimals: what a call writes is what the engine's integers compare with
[ENG-12]. Nothing is coerced, and no field is passed over in silence.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from decimal import Decimal
from typing import Any, NoReturn

from lockstep.errors import LockstepError

_SHOWN = 60
_OF_DOCUMENTS = ("BAD_VALUE", "MISSING_FIELD", "UNKNOWN_FIELD", "WRONG_TYPE")
"""Codes whose registered advice is for those who write certificates."""


def parse_body(data: bytes) -> dict[str, Any]:
    """Give the object that a body is.

    Raises:
        LockstepError: BAD_ENCODING, MALFORMED_JSON, DUPLICATE_KEY, BAD_UNICODE, LIMIT_DEPTH or
            NOT_AN_OBJECT.
    """
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as fault:
        raise LockstepError("BAD_ENCODING", f"byte {fault.start}", "UTF-8") from None
    try:
        value = json.loads(
            text, parse_float=Decimal, parse_constant=_constant, object_pairs_hook=_members
        )
        # What came of escapes: a lone surrogate is no text.
        json.dumps(value, ensure_ascii=False, default=str).encode("utf-8")
    except UnicodeEncodeError:
        raise LockstepError("BAD_UNICODE", "", "no lone surrogate") from None
    except RecursionError:
        raise LockstepError("LIMIT_DEPTH", "", "a nesting of less depth") from None
    except ValueError as fault:
        raise LockstepError("MALFORMED_JSON", "", "one JSON value", str(fault)[:_SHOWN]) from None
    if not isinstance(value, dict):
        raise LockstepError("NOT_AN_OBJECT", "", "an object", type(value).__name__)
    return value


class Body:
    """The fields of a call, each to be taken once.

    A field that is null counts as left out, as in OpenAI's.

    Args:
        members: the object.
        pointer: of the object within the body.
    """

    def __init__(self, members: Mapping[str, Any], pointer: str = "") -> None:
        self._members = {name: value for name, value in members.items() if value is not None}
        self._pointer = pointer
        self._taken: set[str] = set()

    def take(self, name: str) -> Any:
        """Give a field as it is, None where it is left out."""
        self._taken.add(name)
        return self._members.get(name)

    def text(self, name: str, default: str = "") -> str:
        """Give a string."""
        value = self.take(name)
        if value is None:
            return default
        if not isinstance(value, str):
            self._wrong(name, "a string", value)
        return value

    def flag(self, name: str, default: bool = False) -> bool:
        """Give a truth value."""
        value = self.take(name)
        if value is None:
            return default
        if not isinstance(value, bool):
            self._wrong(name, "true or false", value)
        return value

    def integer(self, name: str, least: int, most: int) -> int | None:
        """Give an integer within bounds, None where it is left out."""
        value = self.take(name)
        if value is None:
            return None
        if type(value) is not int:
            self._wrong(name, "an integer", value)
        if not least <= value <= most:
            self.refuse("BAD_VALUE", name, f"{least} to {most}", value)
        return int(value)

    def decimal(self, name: str, default: str) -> str:
        """Give a number as a fraction in the form of [ENG-12]; its range is not looked at."""
        value = self.take(name)
        if value is None:
            return default
        if type(value) not in (int, Decimal):
            self._wrong(name, "a number", value)
        number = Decimal(value)
        if number < 0 or number >= 1000 or number != round(number, 9):
            self.refuse("BAD_VALUE", name, "0 to 999 with at most 9 decimal places", value)
        return f"{abs(number):.9f}".rstrip("0").rstrip(".")

    def integers(self, name: str, most: int) -> tuple[int, ...]:
        """Give a list of at most so many integers."""
        value = self.take(name)
        if value is None:
            return ()
        if not isinstance(value, list) or any(type(entry) is not int for entry in value):
            self._wrong(name, "a list of integers", value)
        if len(value) > most:
            self.refuse("BAD_VALUE", name, f"at most {most} elements", len(value))
        return tuple(value)

    def close(self, neutral: Mapping[str, tuple[Any, ...]], ignored: Collection[str]) -> None:
        """Refuse whatever was not taken.

        Args:
            neutral: fields that are known and not acted on, each with the values at which acting
                on it would change nothing.
            ignored: fields that are accepted and have no effect.

        Raises:
            LockstepError: FIELD_UNSUPPORTED, UNKNOWN_FIELD.
        """
        for name in sorted(set(self._members) - self._taken - set(ignored)):
            value = self._members[name]
            if name not in neutral:
                known = sorted(self._taken | set(neutral) | set(ignored))
                self.refuse("UNKNOWN_FIELD", name, f"one of {', '.join(known)}", None)
            if not any(_same(value, other) for other in neutral[name]):
                allowed = [json.dumps(other) for other in neutral[name]]
                self.refuse("FIELD_UNSUPPORTED", name, " or ".join(["no field", *allowed]), value)

    def refuse(self, code: str, name: str, expected: str, got: object) -> NoReturn:
        """Raise a refusal of a field."""
        shown = None if got is None else str(got)[:_SHOWN]
        hint = "Mend the field, or leave it out." if code in _OF_DOCUMENTS else None
        raise LockstepError(code, f"{self._pointer}/{name}", expected, shown, hint)

    def _wrong(self, name: str, expected: str, value: Any) -> NoReturn:
        self.refuse("WRONG_TYPE", name, expected, type(value).__name__)


def _same(value: Any, other: Any) -> bool:
    """Whether a field's value is this one; true and 1 are two values, 0 and 0.0 one."""
    return bool(value == other) and isinstance(value, bool) == isinstance(other, bool)


def _constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members: dict[str, Any] = {}
    for name, value in pairs:
        if name in members:
            raise LockstepError("DUPLICATE_KEY", f"/{name[:_SHOWN]}", "each member once")
        members[name] = value
    return members
