"""Text to tokens and back for a server: whole texts, single tokens, and text as it grows."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Protocol

from lockstep.engine.tokenizer import BYTES, TOKENIZER, Tokenizer, byte_tokenizer
from lockstep.errors import LockstepError

REPLACEMENT = "\ufffd"
"""Stands in a text for bytes that are none of UTF-8."""


class Texts(Protocol):
    """What a tokenizer does, of the library or of bytes."""

    sha256: str
    """Digest of tokenizer.json, in hex."""

    def encode(self, text: str) -> tuple[int, ...]:
        """Give a text's tokens."""

    def decode(self, tokens: tuple[int, ...]) -> str:
        """Give the text of tokens; what is no text shows as U+FFFD."""


class ByteTexts:
    """The tokenizer of a tiny model, whose tokens are bytes, without a library."""

    def __init__(self) -> None:
        document = byte_tokenizer()[TOKENIZER]
        text = (json.dumps(document, indent=2, sort_keys=True) + "\n").encode("ascii")
        self.sha256 = hashlib.sha256(text).hexdigest()

    def encode(self, text: str) -> tuple[int, ...]:
        """Give a text's bytes."""
        return tuple(text.encode("utf-8"))

    def decode(self, tokens: tuple[int, ...]) -> str:
        """Give the text of bytes."""
        return bytes(token for token in tokens if token < BYTES).decode("utf-8", "replace")


class NoTexts:
    """In place of a tokenizer that is not there: text in is refused, text out is empty.

    Args:
        fault: why there is none.
    """

    sha256 = ""

    def __init__(self, fault: LockstepError) -> None:
        self._fault = fault

    def encode(self, text: str) -> tuple[int, ...]:
        """Refuse.

        Raises:
            LockstepError: why there is no tokenizer.
        """
        raise self._fault

    def decode(self, tokens: tuple[int, ...]) -> str:
        """Give an empty text."""
        return ""


def open_texts(folder: Path | None, vocab_size: int) -> Texts:
    """Give a model's tokenizer; that of bytes for a tiny model, which has no folder.

    Raises:
        LockstepError: TOKENIZER_MALFORMED, and those of a JSON file [MODEL-2].
    """
    if folder is None:
        return ByteTexts()
    try:
        return Tokenizer(folder, vocab_size)
    except LockstepError as fault:
        if fault.code not in ("FILE_UNREADABLE", "LIBRARY_MISSING"):
            raise
        return NoTexts(fault)


def token_name(texts: Texts, token: int, as_id: bool) -> str:
    """Give what a token is called: its text, or `token_id:N` where it has none by itself."""
    text = "" if as_id else texts.decode((token,))
    return f"token_id:{token}" if not text or REPLACEMENT in text else text


def token_bytes(texts: Texts, token: int) -> list[int] | None:
    """Give a token's text in UTF-8; None where it has none by itself."""
    text = texts.decode((token,))
    return None if not text or REPLACEMENT in text else list(text.encode("utf-8"))


class Growing:
    """A text that grows token by token, and ends before a stop string.

    Args:
        texts: the tokenizer.
        stops: texts that end it; none of them is empty.

    Attributes:
        text: what is settled so far.
        stopped: the stop string that ended it, None while none did.
    """

    def __init__(self, texts: Texts, stops: tuple[str, ...] = ()) -> None:
        self.text = ""
        self.stopped: str | None = None
        self._texts = texts
        self._stops = stops
        self._held = max(map(len, stops), default=1) - 1
        self._tokens: list[int] = []

    def add(self, token: int) -> str:
        """Add a token and give what is settled by it, which may be nothing."""
        self._tokens.append(token)
        whole = self._texts.decode(tuple(self._tokens))
        found = [(whole.find(stop), stop) for stop in self._stops]
        found = [(place, stop) for place, stop in found if place >= 0]
        if found:
            place, self.stopped = min(found)
            return self._settle(whole[:place])
        # An incomplete character, and what may yet become a stop string, wait for more.
        whole = whole.rstrip(REPLACEMENT)
        return self._settle(whole[: len(whole) - self._held] if self._held else whole)

    def end(self) -> str:
        """Give what was still held back."""
        if self.stopped is not None:
            return ""
        return self._settle(self._texts.decode(tuple(self._tokens)))

    def _settle(self, text: str) -> str:
        if len(text) <= len(self.text):
            return ""
        added, self.text = text[len(self.text) :], text
        return added
