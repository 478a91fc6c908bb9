"""An exact JSON reader: one pass, the first offence in reading order (LCJ-1 to LCJ-9).

It is slow beside the standard library's and runs on texts that are not canonical only.
"""

import json
import re
from typing import Any, NoReturn

from lockstep_verify import limits
from lockstep_verify.errors import Refusal

_BEGIN_WHITE = frozenset(" \t\n\r")
_WHITE = re.compile(r"[ \t\n\r]*")
_BODY = re.compile(r'(?:[^"\\\x00-\x1f]++|\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4}))*+')
_LEXEME = re.compile(r"[0-9+\-.eE]*")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,15}")
_SURROGATE = re.compile("[\ud800-\udfff]")
_NOT_NUMBERS = ("NaN", "Infinity", "-Infinity")
_BEGIN_NOT_NUMBERS = frozenset("NI-")
_BEGIN_NUMBERS = frozenset("-0123456789")
_LITERALS = (("true", True), ("false", False), ("null", None))


def read(text: str) -> dict[str, Any]:
    """Read one JSON object and nothing else from a decoded text.

    Raises:
        Refusal: MALFORMED_JSON, LIMIT_DEPTH, DUPLICATE_KEY, NUMBER_OUT_OF_PROFILE, BAD_UNICODE,
            TRAILING_DATA, NOT_AN_OBJECT; `got` names the byte at which the offence was noticed.
    """
    reader = _Reader(text)
    reader.skip_white()
    value = reader.value(0)
    if reader.at != len(text):
        reader.refuse("TRAILING_DATA", "the end of the text")
    if type(value) is not dict:
        raise Refusal("NOT_AN_OBJECT", expected="an object")
    return value


class _Reader:
    """A text and the place up to which it has been read."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def refuse(self, code: str, expected: str, at: int | None = None) -> NoReturn:
        at = self.at if at is None else at
        raise Refusal(
            code,
            expected=expected,
            got=f"byte {len(self.text[:at].encode())}: {self.text[at : at + 24]}",
        )

    def peek(self) -> str:
        return self.text[self.at : self.at + 1]

    def skip_white(self) -> None:
        if self.peek() not in _BEGIN_WHITE:
            return
        match = _WHITE.match(self.text, self.at)
        assert match is not None  # noqa: S101 - the pattern matches the empty string
        self.at = match.end()

    def value(self, depth: int) -> Any:
        first = self.peek()
        if first == '"':
            return self.string()
        if first == "{" or first == "[":
            if depth == limits.DEPTH:
                self.refuse("LIMIT_DEPTH", f"at most {limits.DEPTH} open brackets")
            self.at += 1
            return self.object(depth + 1) if first == "{" else self.array(depth + 1)
        if first in _BEGIN_NOT_NUMBERS:
            for name in _NOT_NUMBERS:
                if self.text.startswith(name, self.at):
                    self.refuse("NUMBER_OUT_OF_PROFILE", "an integer")
        if first in _BEGIN_NUMBERS:
            return self.number()
        for name, value in _LITERALS:
            if self.text.startswith(name, self.at):
                self.at += len(name)
                return value
        self.refuse("MALFORMED_JSON", "a value")

    def number(self) -> int:
        match = _LEXEME.match(self.text, self.at)
        assert match is not None  # noqa: S101 - the pattern matches the empty string
        lexeme = match.group()
        if not _NUMBER.fullmatch(lexeme):
            self.refuse("MALFORMED_JSON", "a number")
        # Sixteen digits hold every admitted integer and keep int() away from long strings.
        if not _INTEGER.fullmatch(lexeme) or abs(int(lexeme)) > limits.INTEGER:
            self.refuse("NUMBER_OUT_OF_PROFILE", "an integer of magnitude below 2^53, shortest")
        self.at = match.end()
        return int(lexeme)

    def string(self) -> str:
        start = self.at
        match = _BODY.match(self.text, start + 1)
        assert match is not None  # noqa: S101 - the pattern matches the empty string
        self.at = match.end()
        first = self.peek()
        if first == "\\":
            self.refuse("MALFORMED_JSON", "an escape of RFC 8259")
        if first != '"':
            self.refuse("MALFORMED_JSON", "a closing quote, or the escape of a control")
        self.at += 1
        body = match.group()
        if "\\" not in body:
            return body
        # Only escapes that were matched above are left for the library to resolve.
        value = str(json.loads(self.text[start : self.at]))
        if _SURROGATE.search(value):
            self.refuse("BAD_UNICODE", "paired surrogates", self.at - 1)
        return value

    def array(self, depth: int) -> list[Any]:
        items: list[Any] = []
        self.skip_white()
        if self.peek() == "]":
            self.at += 1
            return items
        while True:
            items.append(self.value(depth))
            self.skip_white()
            if self.separator("]"):
                return items

    def object(self, depth: int) -> dict[str, Any]:
        members: dict[str, Any] = {}
        self.skip_white()
        if self.peek() == "}":
            self.at += 1
            return members
        while True:
            if self.peek() != '"':
                self.refuse("MALFORMED_JSON", "a name")
            start = self.at
            name = self.string()
            if name in members:
                self.refuse("DUPLICATE_KEY", "each name once", start)
            self.skip_white()
            if self.peek() != ":":
                self.refuse("MALFORMED_JSON", "a colon")
            self.at += 1
            self.skip_white()
            members[name] = self.value(depth)
            self.skip_white()
            if self.separator("}"):
                return members

    def separator(self, closing: str) -> bool:
        """Read a comma (and the white space after it) or the closing bracket; tell which."""
        first = self.peek()
        if first != closing and first != ",":
            self.refuse("MALFORMED_JSON", f"a comma or {closing}")
        self.at += 1
        if first == closing:
            return True
        self.skip_white()
        return False
