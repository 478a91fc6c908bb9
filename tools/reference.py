"""The reference of the documentation, made from the spec and from the command line.

`make docs` puts these pages beside those of docs/ (`tools/docs_site.py`); none is committed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]


@cache
def pages() -> dict[str, str]:
    """Give the pages of the reference, made once: Markdown by path below docs/."""
    made = {
        "reference/index.md": _index(),
        "reference/cli.md": _command_line(),
        "reference/verifier.md": _verifier(),
        "reference/errors.md": _errors(),
    }
    for kind in kinds():
        made[f"reference/kinds/{kind}.md"] = _kind(kind)
    return made


def kinds() -> list[str]:
    """Give the claim kinds, in the producer's order."""
    from lockstep.certificate.statement import KINDS

    return list(KINDS)


def members(kind: str) -> list[tuple[str, str]]:
    """Give each leaf of a kind's predicate as a pointer, with its class [LEDGER-1, LEDGER-2]."""
    schema = _load(f"schemas/{kind}.schema.json")
    return list(_leaves(schema, schema, "attested", "", ()))


def _leaves(
    node: dict[str, Any], root: dict[str, Any], outer: str, place: str, seen: tuple[str, ...]
) -> Iterator[tuple[str, str]]:
    """Go through a schema; what refers to itself is gone through once."""
    sort = node.get("x-class")
    while "$ref" in node:
        name = node["$ref"].rpartition("/")[2]
        if name in seen:
            return
        seen, node = (*seen, name), root["$defs"][name]
        sort = sort or node.get("x-class")
    sort = sort or outer
    if node.get("properties"):
        for name, child in node["properties"].items():
            yield from _leaves(child, root, sort, f"{place}/{name}", seen)
    elif "items" in node:
        yield from _leaves(node["items"], root, sort, f"{place}/*", seen)
    else:
        yield place, sort


def _load(name: str) -> Any:
    return json.loads((ROOT / "spec" / name).read_text("utf-8"))


def _index() -> str:
    lines = [
        "# Reference",
        "",
        "Made from `spec/` and from the command line when this site was built.",
        "",
        "- [The command `lockstep`](cli.md)",
        "- [The command `lockstep-verify`](verifier.md)",
        "- [Codes](errors.md)",
        *(f"- [Kind `{kind}`](kinds/{kind}.md)" for kind in kinds()),
    ]
    return "\n".join(lines) + "\n"


def _kind(kind: str) -> str:
    """Give every leaf of a kind, by its class."""
    title = _load(f"schemas/{kind}.schema.json")["title"]
    told = {
        "derived": "The verifier computes these and compares.",
        "witnessed": "Their bytes are bound by digest.",
        "attested": "The signer's word.",
    }
    lines = [f"# Kind `{kind}`", "", f"{title}. Rules: `spec/`.", ""]
    leaves = members(kind)
    for sort, says in told.items():
        places = [place for place, found in leaves if found == sort]
        if places:
            lines += [f"## {sort.capitalize()}", "", f"{says} {len(places)} members.", ""]
            lines += [f"- `{place}`" for place in places] + [""]
    return "\n".join(lines)


def _errors() -> str:
    registry = _load("errors.json")
    lines = ["# Codes", "", "| exit | meaning |", "|---|---|"]
    lines += [f"| {number} | {meaning} |" for number, meaning in registry["exit"].items()]
    lines += ["", "`lockstep-verify --explain CODE` prints what stands here.", ""]
    for entry in registry["codes"]:
        lines += [
            f"## `{entry['code']}`",
            "",
            f"Exit {entry['exit']}, {entry['family']}, since version {entry['since']}. "
            f"{_escaped(entry['meaning'])}",
            "",
            f"- for example: {_escaped(entry['example'])}",
            f"- to do: {_escaped(entry['action'])}",
            "",
        ]
    return "\n".join(lines)


def _escaped(text: str) -> str:
    """Keep what looks like a tag from being one."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace("*", "\\*").replace("_", "\\_")


def _command_line() -> str:
    """Give each command's help, as it prints it."""
    import typer.main

    from lockstep.cli import application

    root: Any = typer.main.get_command(application())
    lines = ["# The command `lockstep`", "", "```text", _help(root, "lockstep"), "```", ""]
    for name in sorted(root.commands):
        lines += _commands(root.commands[name], f"lockstep {name}")
    return "\n".join(lines)


def _commands(command: Any, name: str) -> Iterator[str]:
    yield from (f"## `{name}`", "", "```text", _help(command, name), "```", "")
    for child in sorted(getattr(command, "commands", {})):
        yield from _commands(command.commands[child], f"{name} {child}")


def _help(command: Any, name: str) -> str:
    context = command.context_class(command, info_name=name, max_content_width=90)
    return str(command.get_help(context)).strip()


def _verifier() -> str:
    """Give the verifier's help; it is asked as a program, as a producer asks it."""
    import subprocess
    import sys

    ask = [sys.executable, "-m", "lockstep_verify", "--help"]
    done = subprocess.run(ask, capture_output=True, text=True, check=True, env={"COLUMNS": "90"})
    text = done.stdout.strip()
    return f"# The command `lockstep-verify`\n\n```text\n{text}\n```\n"
