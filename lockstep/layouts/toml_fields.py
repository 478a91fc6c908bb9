"""A strict reader of TOML tables: each key asked for once, any other refused."""

import re
import tomllib
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from lockstep.errors import LockstepError

LARGEST_FILE_BYTES = 65_536
"""A declaration takes some hundred bytes, a set some thousand."""


def read_toml(path: Path) -> tuple[bytes, dict[str, Any]]:
    """Read a TOML file, giving its bytes and its table.

    Raises:
        LockstepError: FILE_UNREADABLE or LIMIT_SIZE at the file.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise LockstepError("FILE_UNREADABLE", str(path), "a file", error.strerror) from error
    if len(data) > LARGEST_FILE_BYTES:
        raise LockstepError("LIMIT_SIZE", str(path), f"{LARGEST_FILE_BYTES} bytes", len(data))
    try:
        return data, tomllib.loads(data.decode("utf-8"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise LockstepError(
            "FILE_UNREADABLE", str(path), "TOML 1.0 in UTF-8", str(error), "Correct the file."
        ) from error


class Fields:
    """One table of a file; every getter takes its key, and `close` refuses what is left.

    Every getter raises LockstepError MISSING_FIELD, WRONG_TYPE or BAD_VALUE at `file:/key`.
    """

    def __init__(self, table: dict[str, Any], file: str, pointer: str) -> None:
        self._left = dict(table)
        self._known: list[str] = []
        self._file = file
        self._pointer = pointer

    def place(self, key: str) -> str:
        """Name a key's place as `file:/key`."""
        return f"{self._file}:{self._pointer}/{key}"

    def _take(self, key: str, kind: type, default: Any = None) -> Any:
        self._known.append(key)
        if key not in self._left:
            if default is None:
                near = get_close_matches(key, self._left, 1)
                hint = f"Rename `{near[0]}`." if near else f"Add `{key}`."
                raise LockstepError("MISSING_FIELD", self.place(key), kind.__name__, hint=hint)
            return default
        value = self._left.pop(key)
        # TOML's booleans are Python ints too.
        if not isinstance(value, kind) or isinstance(value, bool):
            raise LockstepError(
                "WRONG_TYPE",
                self.place(key),
                kind.__name__,
                type(value).__name__,
                f"Write `{key}` as {kind.__name__}.",
            )
        return value

    def number(self, key: str, least: int, most: int, default: int | None = None) -> int:
        """Take an integer from `least` to `most`."""
        value: int = self._take(key, int, default)
        if not least <= value <= most:
            raise LockstepError(
                "BAD_VALUE", self.place(key), f"{least} to {most}", value, f"Change `{key}`."
            )
        return value

    def optional_number(self, key: str, least: int, most: int) -> int | None:
        """Take an integer that may be absent."""
        self._known.append(key)
        return self.number(key, least, most) if key in self._left else None

    def text(self, key: str, pattern: re.Pattern[str]) -> str:
        """Take a string that matches the pattern from end to end."""
        return self._match(key, self._take(key, str), pattern)

    def optional_text(self, key: str, pattern: re.Pattern[str]) -> str | None:
        """Take a string that may be absent."""
        self._known.append(key)
        return self.text(key, pattern) if key in self._left else None

    def choice(self, key: str, words: tuple[str, ...], default: str | None = None) -> str:
        """Take one of the words."""
        value: str = self._take(key, str, default)
        if value not in words:
            raise LockstepError(
                "BAD_VALUE",
                self.place(key),
                f"one of {', '.join(words)}",
                value,
                f"Change `{key}`.",
            )
        return value

    def texts(self, key: str, pattern: re.Pattern[str]) -> tuple[str, ...]:
        """Take a list of strings, one or more, that match the pattern."""
        values: list[Any] = self._take(key, list)
        if not values:
            raise LockstepError("BAD_VALUE", self.place(key), "one or more", "none")
        for value in values:
            if not isinstance(value, str):
                raise LockstepError("WRONG_TYPE", self.place(key), "strings", type(value).__name__)
            self._match(key, value, pattern)
        return tuple(values)

    def table(self, key: str) -> "Fields":
        """Take a table."""
        return Fields(self._take(key, dict), self._file, f"{self._pointer}/{key}")

    def tables(self, key: str) -> tuple["Fields", ...]:
        """Take a list of tables, one or more; a string stands for a table with that name."""
        entries: list[Any] = self._take(key, list)
        if not entries:
            raise LockstepError("BAD_VALUE", self.place(key), "one or more", "none")
        tables = []
        for index, entry in enumerate(entries):
            entry = {"name": entry} if isinstance(entry, str) else entry
            if not isinstance(entry, dict):
                raise LockstepError("WRONG_TYPE", self.place(key), "tables", type(entry).__name__)
            tables.append(Fields(entry, self._file, f"{self._pointer}/{key}/{index}"))
        return tuple(tables)

    def close(self) -> None:
        """Refuse the keys that nothing asked for."""
        for key in self._left:
            raise LockstepError(
                "UNKNOWN_FIELD",
                self.place(key),
                f"one of {', '.join(self._known)}",
                key,
                f"Remove or rename `{key}`; what can be derived is not declared.",
            )

    def _match(self, key: str, value: str, pattern: re.Pattern[str]) -> str:
        if not pattern.fullmatch(value):
            raise LockstepError(
                "BAD_VALUE",
                self.place(key),
                f"text like {pattern.pattern}",
                value,
                f"Change `{key}`.",
            )
        return value
