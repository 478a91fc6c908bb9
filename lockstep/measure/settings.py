"""What was asked of a server, read back from the bytes that were sent [PROBE-12 to PROBE-14]."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from lockstep import spec
from lockstep.certify import numbers
from lockstep.measure.observation import Body
from lockstep.measure.window import FILE

_TEXT = re.compile(r"[ -~]{0,400}")
_WORDS = {True: "on", False: "off", None: "null"}


class Resolved(NamedTuple):
    """A setting that changes what is measured.

    Attributes:
        name: of `settings` of the data.
        requested: None where nobody asked.
        resolved: as it was sent; None where it was not, and the server's own default holds.
        cause: how it came about, of `causes` of the data.
    """

    name: str
    requested: str | None
    resolved: str | None
    cause: str


def read_back(route: str, sent: bytes) -> Body:
    """Give what a request said besides its prompt, out of the bytes that went out.

    Args:
        route: path of the call.
        sent: the body, a JSON object.

    Raises:
        ValueError: it is none.
    """
    document = numbers.parse(sent)
    if not isinstance(document, dict):
        raise ValueError("no object was sent")
    unshared = spec.load(FILE)["unshared"]
    leaves = {
        name: value
        for name, value in _leaves(document, "")
        if not any(name == one or name.startswith(f"{one}.") for one in unshared)
    }
    return Body(route, tuple(sorted(leaves.items())))


def _leaves(value: Any, name: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for member, entry in value.items():
            yield from _leaves(entry, f"{name}.{member}" if name else member)
    else:
        yield name, _word(value)


def _word(value: Any) -> str:
    """Give the text of a leaf; `numbers` has made texts of numbers."""
    if value is None or isinstance(value, bool):
        return _WORDS[value]
    if isinstance(value, str):
        text = str(value)
        if _TEXT.fullmatch(text):
            return text
        return f"sha256:{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()}"
    told = json.dumps(value, separators=(",", ":"))
    return f"sha256:{hashlib.sha256(told.encode('ascii')).hexdigest()}"


def resolved(requested: Mapping[str, str], bodies: Sequence[Body]) -> tuple[Resolved, ...]:
    """Give every setting of the data: what was asked for beside what was sent.

    Args:
        requested: by name.
        bodies: all that one arm was sent.
    """
    found = []
    for entry in spec.load(FILE)["settings"]:
        name = entry["name"]
        values = {_value(entry, body) for body in bodies}
        sent = values.pop() if len(values) == 1 else "varies" if values else None
        asked = requested.get(name)
        found.append(Resolved(name, asked, sent, _cause(asked, sent)))
    return tuple(found)


def _value(entry: Mapping[str, Any], body: Body) -> str | None:
    fields = dict(body.fields)
    at = next((name for name in entry["at"] if name in fields), None)
    value = entry["routes"].get(body.route) if at is None else fields[at]
    return None if value is None else str(entry["same"].get(value, value))


def _cause(requested: str | None, sent: str | None) -> str:
    if requested is None:
        return "unchosen" if sent is None else "harness"
    if sent is None:
        return "dropped"
    return "requested" if requested == sent else "altered"
