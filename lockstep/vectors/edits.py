"""Mutations: what one edit of a case does to a JSON value or to bytes."""

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lockstep.vectors import keys
from lockstep.vectors.blob import Blob, make, splice

Edit = dict[str, Any]


class BadCase(ValueError):
    """Thrown when a case asks for something that its parent does not have."""


def stage(edit: Edit) -> int:
    """Say when an edit applies: 0 values, 1 encoded parts, 2 the signed envelope, 3 its text."""
    if "in" in edit:
        return 3 if edit["in"] == "envelope" else 1
    return 2 if str(edit["at"]).startswith("/envelope") else 0


def _steps(pointer: str) -> list[str]:
    return [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]


def _index(container: Any, step: str) -> Any:
    if not isinstance(container, list):
        return step
    return len(container) if step == "-" else int(step)


def _holders(value: Any, steps: list[str]) -> Iterator[Any]:
    """Yield each container that the steps lead to; `*` stands for every element."""
    if not steps:
        yield value
    elif steps[0] == "*":
        for item in value if isinstance(value, list) else value.values():
            yield from _holders(item, steps[1:])
    else:
        yield from _holders(value[_index(value, steps[0])], steps[1:])


def _get(value: Any, pointer: str) -> Any:
    for step in _steps(pointer):
        value = value[_index(value, step)]
    return value


def _value(edit: Edit) -> Any:
    """Give an edit's new value; `json` is for what TOML cannot write, null among it."""
    return json.loads(edit["json"]) if "json" in edit else copy.deepcopy(edit["value"])


def _matches(holder: Any, where: dict[str, Any]) -> bool:
    return all(holder.get(name) in allowed for name, allowed in where.items())


def _apply_one(root: Any, holder: Any, step: str, edit: Edit) -> None:
    key = _index(holder, step)
    match edit["op"]:
        case "set":
            if isinstance(holder, dict) and key not in holder:
                raise BadCase(f"{edit['at']} does not exist; insert makes new members")
            holder[key] = _value(edit)
        case "insert":
            if isinstance(holder, list):
                holder.insert(key, _value(edit))
            else:
                if key in holder:
                    raise BadCase(f"{edit['at']} exists; set changes it")
                holder[key] = _value(edit)
        case "remove":
            del holder[key]
        case "add":
            holder[key] += edit["number"]
        case "suffix":
            holder[key] += edit["text"]
        case "upper":
            holder[key] = holder[key].upper()
        case "rename":
            holder[edit["to"]] = holder.pop(key)
        case "reverse":
            holder[key].reverse()
        case "copy":
            holder[key] = copy.deepcopy(_get(root, edit["from"]))
        case "duplicate":
            holder.insert(key + 1, copy.deepcopy(holder[key]))
        case "swap":
            other = int(_steps(edit["with"])[-1])
            holder[key], holder[other] = holder[other], holder[key]
        case "add_order":
            holder[key] = keys.add_order_base64(holder[key])
        case _:
            raise BadCase(f"no edit of values is named {edit['op']}")


def edit_value(root: Any, edit: Edit) -> None:
    """Apply an edit to a JSON value in place; the last step of `at` is what changes.

    Raises:
        BadCase: the place is not as the edit needs it, or nothing changed.
    """
    before = copy.deepcopy(root)
    *way, last = _steps(edit["at"])
    for holder in list(_holders(root, way)):
        if _matches(holder, edit.get("where", {})):
            _apply_one(root, holder, last, edit)
    if root == before and edit["op"] not in ("rename", "set"):
        raise BadCase(f"{edit['op']} at {edit['at']} changed nothing")


def edit_blob(blob: Blob, edit: Edit, files: Path) -> Blob:
    """Apply an edit to bytes.

    Raises:
        BadCase: the text to be replaced does not stand there exactly once.
    """
    match edit["op"]:
        case "replace":
            find = edit["find"].encode("utf-8")
            count = blob.data.count(find)
            if count != edit.get("occurrences", 1):
                raise BadCase(f"{edit['find']!r} stands {count} times")
            return splice(blob, blob.data.index(find), len(find), make(edit["by"], files))
        case "append":
            return splice(blob, len(blob.data), 0, make(edit["by"], files))
        case "prepend":
            return splice(blob, 0, 0, make(edit["by"], files))
        case "cut":
            at = edit["offset"] if edit["offset"] >= 0 else len(blob.data) + edit["offset"]
            return splice(blob, at, edit["delete"], make(edit.get("by", {"text": ""}), files))
        case "whole":
            return make(edit["by"], files)
        case "encode":
            return Blob(blob.data.decode("utf-8").encode(edit["as"]))
        case "gzip":
            return Blob(_stored_gzip(blob.data))
        case "add_order":
            return Blob(keys.add_order(blob.data))
    raise BadCase(f"no edit of bytes is named {edit['op']}")


def _stored_gzip(data: bytes) -> bytes:
    """Wrap bytes in gzip without compressing, so that no library's version shows."""
    import zlib

    size = len(data).to_bytes(2, "little")
    complement = (0xFFFF - len(data)).to_bytes(2, "little")
    body = b"\x01" + size + complement + data
    check = zlib.crc32(data).to_bytes(4, "little") + len(data).to_bytes(4, "little")
    return b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff" + body + check
