"""The index of published figures: each maps to a certificate's file and a JSON pointer.

A README table whose last column holds a figure's id, in back quotes, publishes that figure.
"""

import base64
import json
import re
from pathlib import Path
from typing import Any

from lockstep.evidence.figures import FIGURES
from lockstep.evidence.words import WORDS

_ROW = re.compile(r"^\|(?P<text>[^|]+)\|(?P<value>[^|]+)\|\s*`(?P<id>[a-z0-9-]+)`\s*\|$", re.M)
_PLACE = re.compile(r"0|[1-9][0-9]{0,6}")
"""Of a list's entry, as RFC 6901 writes it; the bound is the verifier's."""


def statement_of(certificate: bytes) -> dict[str, Any]:
    """Give the statement that a certificate carries, without judging it."""
    found = json.loads(base64.b64decode(json.loads(certificate)["payload"]))
    if not isinstance(found, dict):
        raise ValueError("the payload is no object")
    return found


def kind_of(certificate: bytes) -> str:
    """Name the kind of claim that a certificate makes, without judging it."""
    kind: str = statement_of(certificate)["predicateType"].split(":")[-2]
    return kind


def at_pointer(document: Any, pointer: str) -> Any:
    """Give the value at an RFC 6901 pointer.

    Raises:
        KeyError: nothing is there.
    """
    value = document
    for step in pointer.split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        if isinstance(value, list):
            if not _PLACE.fullmatch(name) or int(name) >= len(value):
                raise KeyError(pointer)
            value = value[int(name)]
        else:
            value = value[name]
    return value


def build_index(folder: Path, before: Path | None = None) -> dict[str, Any]:
    """Give the index over the certificates of a folder: id → {file, pointer, value}.

    Args:
        folder: the certificates.
        before: the index until now; its figures of certificates made elsewhere are kept, their
            values read anew.
    """
    chosen = {
        name: (file, pointer) for file, entries in FIGURES.items() for name, pointer in entries
    }
    if before is not None and before.is_file():
        for name, entry in json.loads(before.read_bytes())["figures"].items():
            if entry["file"] not in FIGURES and (folder / entry["file"]).is_file():
                chosen[name] = (entry["file"], entry["pointer"])
    statements = {
        file: statement_of((folder / file).read_bytes()) for file in {f for f, _ in chosen.values()}
    }
    figures = {
        name: {"file": file, "pointer": pointer, "value": at_pointer(statements[file], pointer)}
        for name, (file, pointer) in chosen.items()
    }
    return {"version": 1, "figures": figures}


def markdown(index: dict[str, Any]) -> str:
    """Give the table of an index's figures as a README publishes it: figure, value, id."""
    order = [name for entries in FIGURES.values() for name, _ in entries]
    names = [name for name in order if name in index["figures"]]
    names += sorted(index["figures"].keys() - set(names))
    lines = ["| figure | value | id |", "|---|---|---|"]
    for name in names:
        entry = index["figures"][name]
        last = entry["pointer"].rpartition("/")[2]
        what = WORDS.get(name) or WORDS.get(last, last.replace("_", " "))
        of = WORDS.get(entry["file"], entry["file"])
        lines.append(f"| {of}: {what} | {printed(entry['value'])} | `{name}` |")
    return "\n".join(lines)


def published_figures(text: str) -> dict[str, str]:
    """Give the figures of a README's tables: id → the value as printed."""
    return {row["id"]: row["value"].strip() for row in _ROW.finditer(text)}


def printed(value: object) -> str:
    """Give a figure as a README prints it: thousands set off by commas."""
    return f"{value:,}" if type(value) is int else str(value)


def faults(folder: Path, readme: str) -> list[str]:
    """List what disagrees between index, certificates and README; nothing if all is well."""
    index = json.loads((folder / "index.json").read_bytes())
    figures = index["figures"]
    found: list[str] = []
    for name, entry in figures.items():
        try:
            value = at_pointer(
                statement_of((folder / entry["file"]).read_bytes()), entry["pointer"]
            )
        except (OSError, KeyError, ValueError) as fault:
            found.append(f"{name}: {entry['file']}{entry['pointer']}: {fault!r}")
            continue
        if value != entry["value"] or type(value) is not type(entry["value"]):
            found.append(f"{name}: index {entry['value']}, certificate {value}")
    files = {entry["file"] for entry in figures.values()}
    for certificate in sorted(folder.glob("*.cert.json")):
        if certificate.name not in files:
            found.append(f"{certificate.name}: backs no figure of the index")
    shown = published_figures(readme)
    for name, text in shown.items():
        if name not in figures:
            found.append(f"README: {name} is not in the index")
        elif printed(figures[name]["value"]) != text:
            found.append(f"README: {name} is {text}, the index says {figures[name]['value']}")
    found += [f"{name}: in the index, not in the README" for name in figures if name not in shown]
    return found
