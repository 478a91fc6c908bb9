"""Write the extract of a published hunt document: its facts without its prose.

Usage: python tools/extract_published.py ORIGINAL > conformance/published/seed-004.json

Structure, keys, names, numbers, flags, nulls and the signature stay as they are.
Each text that is written for people becomes the empty string; a null in its
place stays null, because whether something was said is derived ([PUB-18]).
"""

from __future__ import annotations

import argparse
import json
import pathlib
import sys
from typing import Any

PROSE = frozenset(
    {"cite", "detail", "note", "frontier_reason", "pad_model", "holds", "does_not_hold"}
)


def emptied(value: Any, prose: bool = False) -> Any:
    """Give ``value`` with every text under a key of prose emptied."""
    if isinstance(value, dict):
        return {name: emptied(member, prose or name in PROSE) for name, member in value.items()}
    if isinstance(value, list):
        return [emptied(item, prose) for item in value]
    return "" if prose and isinstance(value, str) else value


def lines(document: dict[str, Any]) -> str:
    """Lay the document out with one row, engine or guard a line, so that edits diff well."""
    members = []
    for name, value in document.items():
        if isinstance(value, list) and value and isinstance(value[0], dict):
            items = ",\n".join(json.dumps(item) for item in value)
            members.append(f"{json.dumps(name)}: [\n{items}\n]")
        else:
            members.append(f"{json.dumps(name)}: {json.dumps(value)}")
    return "{\n" + ",\n".join(members) + "\n}\n"


def main() -> None:
    """Read the path of the original from the command line and write the extract to stdout."""
    parser = argparse.ArgumentParser(description="Empty a published document's prose.")
    parser.add_argument("original", type=pathlib.Path)
    document = json.loads(parser.parse_args().original.read_bytes())
    sys.stdout.write(lines(emptied(document)))


if __name__ == "__main__":
    main()
