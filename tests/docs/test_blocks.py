"""Every block of the documentation is of a known kind, and its commands exist as written."""

from __future__ import annotations

import json
import re
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

from lockstep_verify.cli import _parser
from tests.docs.documents import (
    ROOT,
    SKIPS,
    Block,
    blocks,
    command_line,
    commands,
    documents,
    matches,
    parsed,
    steps,
)

NOT_RUN = {"fresh": 1, "gpu": 1, "install": 1, "minutes": 4, "yours": 4}
"""Blocks that are not run, by reason: one more is a decision, and stands here."""

ALL = [block for document in documents() for block in blocks(document)]


def test_blocks_that_are_not_run_are_counted() -> None:
    told = Counter(block.options["skip"].partition(":")[0] for block in ALL if not block.runs
                   and "skip" in block.options)  # fmt: skip
    assert set(NOT_RUN) == set(SKIPS)
    assert {**dict.fromkeys(SKIPS, 0), **told} == NOT_RUN
    assert sum(1 for block in ALL if block.runs) > 2 * sum(NOT_RUN.values())


def test_lockstep_commands_have_the_options_that_they_name() -> None:
    root = command_line()
    seen = 0
    for block in ALL:
        if block.language not in ("sh", "console"):
            continue
        for program, *arguments in commands(block):
            if program == "lockstep":
                _accepted(root, arguments, block)
            elif program == "lockstep-verify":
                _parser().parse_args(arguments)
            elif program == "make":
                _targets(arguments, block)
            else:
                continue
            seen += 1
    assert seen > 40


def _accepted(root: Any, arguments: list[str], block: Block) -> None:
    command, words = root, list(arguments)
    while hasattr(command, "commands") and words and not words[0].startswith("-"):
        assert words[0] in command.commands, f"{block.place}: {' '.join(arguments)}"
        command = command.commands[words.pop(0)]
    if command is not root and not {"--help"} & set(words):
        command.make_context(command.name, words)


def _targets(arguments: list[str], block: Block) -> None:
    known = set(re.findall(r"(?m)^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8")))
    named = {word for word in arguments if "=" not in word and not word.startswith("-")}
    assert named <= known, block.place


@pytest.mark.parametrize(
    "block",
    [block for block in ALL if block.language in ("toml", "json", "yaml", "python")],
    ids=lambda block: block.place,
)
def test_data_and_programs_are_read(block: Block) -> None:
    if block.language == "toml":
        assert tomllib.loads(block.text)
    elif block.language == "yaml":
        assert yaml.safe_load(block.text)
    elif block.language == "python":
        compile(block.text, block.place, "exec")
    elif block.document != "conformance/README.md":
        # There lines of a protocol stand, abridged with an ellipsis.
        assert json.loads(block.text)


def test_no_command_stands_outside_of_a_fence() -> None:
    for document in documents():
        text = re.sub(r"(?ms)^```.*?^```", "", (ROOT / document).read_text("utf-8"))
        found = re.findall(r"(?m)^(?: {4}|\t)(?:\$ )?(?:lockstep|make|pip|python)\b.*", text)
        assert not found, document


@pytest.mark.parametrize(
    ("shown", "printed", "same"),
    [
        ("a\nb", "a\nb\n", True),
        ("a\n...\nd", "a\nb\nc\nd\n", True),
        ("a ... c", "a b b c", True),
        ("a\nb", "a\nc", False),
        ("a", "a\nb", False),
        ("a.c", "abc", False),
        ("", "a", False),
    ],
)
def test_what_is_shown_is_compared(shown: str, printed: str, same: bool) -> None:
    assert matches(shown, printed) is same


def test_a_console_and_its_commands_are_taken_apart() -> None:
    text = "```console\n$ A=1 one 'x y' | two > f && three # no\nout\n$ four \\\n> five\n```\n"
    (block,) = parsed("a", text)
    assert steps(block)[0] == ("A=1 one 'x y' | two > f && three # no", "out")
    assert list(commands(block)) == [["one", "x y"], ["two"], ["three"], ["four", "five"]]


@pytest.mark.parametrize("info", ["", "bash", "sh slow", 'sh run="x"', "sh skip=x"])
def test_an_unknown_info_string_is_refused(info: str) -> None:
    with pytest.raises(ValueError, match="info string"):
        list(parsed("a", f"```{info}\nx\n```\n"))


def test_a_console_without_a_command_is_refused() -> None:
    (block,) = parsed("a", "```console\nout\n```\n")
    with pytest.raises(ValueError, match="begins with a command"):
        steps(block)


def test_every_document_is_looked_at() -> None:
    assert {"README.md", "docs/certify.md"} <= set(documents())
    assert all(Path(ROOT, document).is_file() for document in documents())
