"""A strict reader of the tables of lockstep.toml: what is unknown or of another type is told."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from difflib import get_close_matches
from typing import Any, NoReturn

from lockstep.errors import LockstepError

_PRINTABLE = re.compile(r"[ -~]{0,4096}")


class Table:
    """One table of a file; a key is taken once, and `close` refuses what is left.

    Every getter gives None, or an empty value, where the key is absent.

    Raises:
        LockstepError: USAGE at `file:/table/key`.
    """

    def __init__(self, values: Mapping[str, Any], place: str) -> None:
        self._left = dict(values)
        self._known: list[str] = []
        self._place = place

    def text(self, key: str, among: Collection[str] = ()) -> str | None:
        """Take a text of printable ASCII."""
        value = self._take(key, str, "a text")
        if value is None:
            return None
        if not _PRINTABLE.fullmatch(value):
            self.refuse(key, "printable ASCII", None)
        if among and value not in among:
            self.refuse(key, f"one of {', '.join(among)}", value)
        return str(value)

    def flag(self, key: str) -> bool:
        """Take a truth value."""
        return bool(self._take(key, bool, "true or false"))

    def integer(self, key: str, least: int, most: int) -> int | None:
        """Take an integer within bounds."""
        value = self._take(key, int, "an integer")
        if value is None:
            return None
        if not least <= value <= most:
            self.refuse(key, f"{least} to {most}", value)
        return int(value)

    def texts(self, key: str, among: Collection[str] = ()) -> tuple[str, ...]:
        """Take a list of texts."""
        value = self._take(key, list, "a list of texts") or []
        for entry in value:
            if not isinstance(entry, str) or not _PRINTABLE.fullmatch(entry):
                self.refuse(key, "a list of texts of printable ASCII", None)
            if among and entry not in among:
                self.refuse(key, f"names of {', '.join(among)}", entry)
        return tuple(value)

    def integers(self, key: str, least: int, most: int) -> tuple[int, ...]:
        """Take a list of integers within bounds."""
        value = self._take(key, list, "a list of integers") or []
        for entry in value:
            if type(entry) is not int or not least <= entry <= most:
                self.refuse(key, f"a list of integers from {least} to {most}", entry)
        return tuple(value)

    def named(self, key: str) -> dict[str, str]:
        """Take a table of texts."""
        value = self._take(key, dict, "a table of texts") or {}
        for name, entry in value.items():
            if not isinstance(entry, str) or not _PRINTABLE.fullmatch(entry):
                self.refuse(f"{key}/{name}", "a text of printable ASCII", None)
        return dict(value)

    def anything(self, key: str) -> dict[str, Any]:
        """Take a table whatever is in it."""
        return dict(self._take(key, dict, "a table") or {})

    def table(self, key: str) -> Table:
        """Take a table of its own; an empty one where it is absent."""
        return Table(self._take(key, dict, "a table") or {}, f"{self._place}/{key}")

    def close(self) -> None:
        """Refuse what nobody took."""
        for key in self._left:
            near = get_close_matches(key, self._known, 1)
            known = ", ".join(sorted(self._known))
            hint = f"Rename it to `{near[0]}`." if near else f"Known here: {known}."
            raise LockstepError("USAGE", f"{self._place}/{key}", "no such key", None, hint)

    def refuse(self, key: str, expected: str, got: object) -> NoReturn:
        """Raise a refusal of a key."""
        raise LockstepError("USAGE", f"{self._place}/{key}", expected, got, f"Change `{key}`.")

    def _take(self, key: str, kind: type, what: str) -> Any:
        self._known.append(key)
        value = self._left.pop(key, None)
        if value is None:
            return None
        # TOML's truth values are Python's integers too.
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            self.refuse(key, what, type(value).__name__)
        return value
