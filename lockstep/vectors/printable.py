"""What an implementation under test writes, made fit for a terminal."""

SHOWN_CHARACTERS = 200
"""The longest text of an implementation that is printed."""


def printable(text: str) -> str:
    """Escape everything but U+0020 to U+007E, and cut what is long [OUT-4]."""
    safe = "".join(x if " " <= x <= "~" else f"\\u{{{ord(x):x}}}" for x in text[:SHOWN_CHARACTERS])
    return safe + ("..." if len(text) > SHOWN_CHARACTERS else "")
