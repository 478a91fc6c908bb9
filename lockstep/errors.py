"""The one exception type of the producer; codes and what they mean come from spec/errors.json."""

from functools import cache
from typing import Any

from lockstep import spec


@cache
def registry() -> dict[str, dict[str, Any]]:
    """Give the entries of spec/errors.json by code."""
    return {entry["code"]: entry for entry in spec.load("errors.json")["codes"]}


class LockstepError(Exception):
    """Thrown when the producer cannot go on; says what happened, where, and what to do.

    Args:
        code: a code of spec/errors.json; anything else is a defect of the producer.
        pointer: RFC 6901 within the document or file in question, the file's path before it
            and a colon between them where a file is meant.
        expected: what the rule asks for.
        got: what stands there instead.
        hint: what to do, where it can be said better than in the registry.
    """

    def __init__(
        self,
        code: str,
        pointer: str = "",
        expected: object = None,
        got: object = None,
        hint: str | None = None,
    ) -> None:
        if code not in registry():
            raise KeyError(f"unregistered code {code}")
        super().__init__(code, pointer)
        self.code = code
        self.pointer = pointer
        self.expected = expected
        self.got = got
        self.hint = hint

    @property
    def exit(self) -> int:
        """The exit status that the registry gives to the code."""
        return int(registry()[self.code]["exit"])

    def __str__(self) -> str:
        """Give code, place, expectation and remedy in one line."""
        entry = registry()[self.code]
        text = f"{self.code} at {self.pointer or 'the document'}: {entry['meaning']}"
        if self.expected is not None:
            text += f" Expected {self.expected}"
            text += f", got {self.got}." if self.got is not None else "."
        return f"{text} {self.hint or entry['action']}"
