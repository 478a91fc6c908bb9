"""The one exception type of the verifier; codes and what they mean come from spec/errors.json."""

from functools import cache
from typing import Any

from lockstep_verify import spec


@cache
def registry() -> dict[str, dict[str, Any]]:
    """Give the entries of spec/errors.json by code."""
    return {entry["code"]: entry for entry in spec.load("errors.json")["codes"]}


class Refusal(Exception):
    """Thrown when a rule refuses a document; carries what a person needs to act on it.

    Args:
        code: a code of spec/errors.json; anything else is a defect of the verifier.
        pointer: RFC 6901, relative to the document in question.
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
        """Give code and place in one line."""
        return f"{self.code} at {self.pointer or 'the document'}"
