"""Messages to one prompt, by a fixed plain template that no model's folder changes.

A model's own chat template is a program in its folder; this server runs none. Each message is its
role, a colon, a space, its text and a newline; `assistant:` at the end asks for the answer.
"""

from __future__ import annotations

from typing import Any

from lockstep.errors import LockstepError

NAME = "lockstep/plain/1"
"""What the template is called where the server tells of itself."""

ROLES = ("system", "developer", "user", "assistant")

OPENING = "assistant:"
"""What the answer follows."""


def prompt_of(messages: Any) -> str:
    """Give the prompt of the field `messages`.

    Raises:
        LockstepError: MISSING_FIELD, WRONG_TYPE, BAD_VALUE or UNKNOWN_FIELD, with its pointer.
    """
    if messages is None:
        raise LockstepError("MISSING_FIELD", "/messages", "a list of messages")
    if not isinstance(messages, list):
        raise LockstepError("WRONG_TYPE", "/messages", "a list", type(messages).__name__)
    if not messages:
        raise LockstepError("BAD_VALUE", "/messages", "one message or more", "none")
    lines = [_line(message, f"/messages/{place}") for place, message in enumerate(messages)]
    return "".join(lines) + OPENING


def _line(message: Any, pointer: str) -> str:
    if not isinstance(message, dict):
        raise LockstepError("WRONG_TYPE", pointer, "an object", type(message).__name__)
    for name in ("role", "content"):
        if message.get(name) is None:
            raise LockstepError("MISSING_FIELD", f"{pointer}/{name}", "a member of each message")
    for name in sorted(set(message) - {"role", "content"}):
        if message[name] is not None:
            raise LockstepError("UNKNOWN_FIELD", f"{pointer}/{name}", "role and content alone")
    if message["role"] not in ROLES:
        expected = f"one of {', '.join(ROLES)}"
        raise LockstepError("BAD_VALUE", f"{pointer}/role", expected, str(message["role"])[:40])
    return f"{message['role']}: {_content(message['content'], f'{pointer}/content')}\n"


def _content(content: Any, pointer: str) -> str:
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        raise LockstepError("WRONG_TYPE", pointer, "a string or a list", type(content).__name__)
    texts = []
    for place, part in enumerate(content):
        text = part.get("text") if isinstance(part, dict) and part.get("type") == "text" else None
        if not isinstance(text, str):
            expected = "a part of type text with a text"
            raise LockstepError("FIELD_UNSUPPORTED", f"{pointer}/{place}", expected)
        texts.append(text)
    return "".join(texts)
