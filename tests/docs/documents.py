"""The blocks of the documentation: what each is, whether it is run, and what it is to print.

A fence's info string begins with a language, and says besides:

- `skip="REASON: …"`: it is not run, for one of the reasons of `SKIPS`;
- `file="NAME"`: it is written to that file, where the blocks after it find it;
- `exit="N"`: the exit status that its last command is to have, 0 without it;
- `beside="yes"`: it is started and goes on beside the blocks after it.

A block `sh` is run. A block `console` has commands behind `$ ` and what they print below, where
`...` stands for anything. Every other language is read by what reads it.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]

SKIPS = {
    "fresh": "tests/fresh runs it, in a clone of its own",
    "gpu": "needs a GPU",
    "install": "installs or fetches something",
    "minutes": "takes minutes; a make target or another test runs the same",
    "yours": "of a server, a model or a cluster that only the reader has",
}
"""Reasons for which a block is not run."""
LANGUAGES = frozenset({"sh", "console", "toml", "json", "yaml", "python", "text"})
OPTIONS = frozenset({"skip", "file", "exit", "beside"})

_FENCE = re.compile(r"(?ms)^```(?P<info>[^`\n]*)\n(?P<text>.*?)^```[ \t]*$")
_OPTION = re.compile(r'([a-z]+)="([^"]*)"')


@dataclass(frozen=True)
class Block:
    """A fenced block.

    Attributes:
        document: path in the checkout.
        line: of its fence, from 1.
        language: the first word of its info string.
        options: the rest of it.
        text: what stands between the fences.
    """

    document: str
    line: int
    language: str
    options: dict[str, str]
    text: str

    @property
    def place(self) -> str:
        """Where it stands."""
        return f"{self.document}:{self.line}"

    @property
    def runs(self) -> bool:
        """Whether it has commands that are to be run here."""
        return self.language in ("sh", "console") and "skip" not in self.options


@cache
def command_line() -> Any:
    """Give the command `lockstep` with all of its commands, made once."""
    import typer.main

    from lockstep.cli import application

    return typer.main.get_command(application())


def documents() -> list[str]:
    """Give the documents whose blocks are tested, as paths in the checkout."""
    found = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md"]
    found += [ROOT / "conformance" / "README.md", ROOT / "layouts" / "README.md"]
    found += sorted((ROOT / "docs").rglob("*.md"))
    return [path.relative_to(ROOT).as_posix() for path in found]


def blocks(document: str) -> list[Block]:
    """Give a document's blocks in order.

    Raises:
        ValueError: an info string is not of the form above.
    """
    return list(parsed(document, (ROOT / document).read_text("utf-8")))


def parsed(document: str, text: str) -> Iterator[Block]:
    """Give the blocks of a text, as `blocks`."""
    for found in _FENCE.finditer(text):
        line = text.count("\n", 0, found.start()) + 1
        language, _, rest = found["info"].strip().partition(" ")
        options = dict(_OPTION.findall(rest))
        if language not in LANGUAGES or _OPTION.sub("", rest).strip() or options.keys() - OPTIONS:
            raise ValueError(f"{document}:{line}: no known info string: {found['info']!r}")
        yield Block(document, line, language, options, found["text"])


def steps(block: Block) -> list[tuple[str, str]]:
    """Give a console's commands, each with what it is to print.

    Raises:
        ValueError: it does not begin with a command.
    """
    made: list[tuple[list[str], list[str]]] = []
    for line in block.text.splitlines():
        if line.startswith("$ "):
            made.append(([line[2:]], []))
        elif not made:
            raise ValueError(f"{block.place}: a console begins with a command")
        elif line.startswith("> ") and not made[-1][1]:
            made[-1][0].append(line[2:])
        else:
            made[-1][1].append(line)
    return [("\n".join(command), "\n".join(printed)) for command, printed in made]


def commands(block: Block) -> Iterator[list[str]]:
    """Give the words of each simple command of a block, its assignments and redirections left out.

    What stands between `;`, `&&`, `||`, `|` and line ends is a command.
    """
    text = block.text
    if block.language == "console":
        text = "\n".join(command for command, _ in steps(block))
    text = text.replace("\\\n", " ")
    for line in text.splitlines():
        lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
        lexer.whitespace_split = True
        words: list[str] = []
        skip = False
        for word in [*lexer, ";"]:
            if set(word) <= set(";&|()"):
                if words:
                    yield words
                words = []
            elif set(word) <= set("<>"):
                skip = True
            elif skip:
                skip = False
            elif words or not re.match(r"[A-Za-z_]+=", word):
                words.append(word)


def rows(text: str, heading: str) -> list[list[str]]:
    """Give the cells of the table of a document whose first column has a heading."""
    lines = text.splitlines()
    at = next(at for at, line in enumerate(lines) if line.startswith(f"| {heading} |"))
    found = []
    for line in lines[at + 2 :]:
        if not line.startswith("|"):
            break
        found.append([cell.strip() for cell in line.strip("|").split("|")])
    return found


def matches(shown: str, printed: str) -> bool:
    """Say whether something was printed as shown, where `...` stands for anything."""
    wanted = [re.escape(line.rstrip()) for line in shown.strip().splitlines()]
    pattern = "\n".join(wanted).replace(re.escape("..."), ".*?")
    got = "\n".join(line.rstrip() for line in printed.strip().splitlines())
    return re.fullmatch(pattern, got, re.DOTALL) is not None
