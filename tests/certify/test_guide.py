"""docs/certify.md: its commands run, its configurations are read, its tables are the data's."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main

from lockstep import spec
from lockstep.certify import config_table
from lockstep.certify.adapters.catalogue import ADAPTERS, is_verified
from lockstep.certify.config import read_config
from lockstep.cli import application, main
from lockstep_verify.cli import main as verify
from tests.certify.fake_endpoint import Behaviour, FakeEndpoint

GUIDE = (spec.root().parent / "docs" / "certify.md").read_text("utf-8")
URL = "http://127.0.0.1:8000"
SMALL = """
[certify]
adapter = "vllm"
[certify.plan]
cases = ["full_hit"]
cache = ["warm"]
filler = ["none"]
order = ["fixed"]
repeats = 4
max_new = 4
top = 1
"""
"""Beside the guide's commands: they are run against a server that computes nothing."""


def blocks(kind: str) -> list[str]:
    return re.findall(rf"```{kind}\n(.*?)```", GUIDE, re.DOTALL)


def commands() -> Iterator[list[str]]:
    for block in blocks("sh"):
        for line in block.splitlines():
            yield shlex.split(line)


def test_all_fences_are_of_a_kind_that_is_tested() -> None:
    assert set(re.findall(r"^```(\S*)$", GUIDE, re.MULTILINE)) == {"sh", "toml", ""}
    assert sum(1 for _ in commands()) >= 8


def test_its_commands_have_the_options_that_they_name() -> None:
    for program, *arguments in commands():
        command: Any = typer.main.get_command(application())
        if program == "lockstep":
            while hasattr(command, "commands"):
                command = command.commands[arguments.pop(0)]
            command.make_context(command.name, arguments)


@pytest.mark.slow
def test_its_commands_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lockstep.toml").write_text(SMALL)
    (tmp_path / "eval.jsonl").write_text('{"prompt": [1, 2, 3], "max_tokens": 4}\n' * 2)
    (tmp_path / "score.py").write_text("import sys\nfor _ in sys.stdin: print(1)\n")
    ran = 0
    with FakeEndpoint(Behaviour()) as fake:
        for words in commands():
            if "--launch" in words:
                continue  # Of a real server, and of the built-in one: test_builtin.py has that.
            told = [word.replace(URL, fake.url) for word in words]
            told = [word.replace("python3 ", f"{sys.executable} ") for word in told]
            monkeypatch.setattr(sys, "argv", told)
            assert (main() if told[0] == "lockstep" else verify()) == 0, told
            ran += 1
    assert ran >= 5
    written = {path.name for path in tmp_path.iterdir()}
    assert {"server.cert.json", "certify.xml", "certify.sarif", "keys"} <= written


def test_its_configurations_are_read_and_have_every_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known: set[str] = set()
    take = config_table.Table._take

    def noted(self: config_table.Table, key: str, kind: type, what: str) -> object:
        known.add(f"{self._place.partition(':')[2]}/{key}")
        return take(self, key, kind, what)

    monkeypatch.setattr(config_table.Table, "_take", noted)
    path = tmp_path / "lockstep.toml"
    whole, *others = blocks("toml")
    assert others
    for text in (*others, whole):
        path.write_text(text)
        read_config(path)
    table, named = "", set[str]()
    for line in whole.splitlines():
        if heading := re.match(r"\[([a-z.]+)\]", line):
            table = "/" + heading[1].replace(".", "/")
            named.add(table)
        elif key := re.match(r"([a-z_]+) = ", line):
            named.add(f"{table}/{key[1]}")
    # A positive control's command has the keys of a launch.
    same = {f"/certify/positive/{key}" for key in ("environment", "ready_seconds", "interpreter")}
    assert known - named == same
    assert named <= known


def rows(heading: str) -> list[list[str]]:
    """Give the rows of the table that begins with a heading."""
    lines = GUIDE.splitlines()
    at = next(at for at, line in enumerate(lines) if line.startswith(f"| {heading} |"))
    found = []
    for line in lines[at + 2 :]:
        if not line.startswith("|"):
            break
        found.append([cell.strip() for cell in line.strip("|").split("|")])
    return found


def test_its_tables_are_those_of_the_data() -> None:
    data = spec.load("certification.json")
    verdicts = [name for row in rows("verdict") for name in re.findall(r"`([a-z_]+)`", row[0])]
    assert verdicts == data["cell_verdicts"]
    told = {int(row[0]): row[1] for row in rows("exit")}
    assert set(told) == {one["exit"] for one in data["exits"]} | {2, 4, 6}
    assert all(one["verdict"] in told[one["exit"]] for one in data["exits"])
    for name, asked, form, gauge, _, verified in rows("adapter"):
        adapter = ADAPTERS[name.strip("`")]("m")
        assert form.startswith({"tokens": "ids", "text": "text"}[adapter.form])
        assert gauge == (f"`{adapter.running[0]}`" if adapter.running else "none")
        assert verified == ("yes" if is_verified(adapter.name) else "no")
        assert asked.startswith("`/")
    assert [row[0].strip("`") for row in rows("adapter")] == list(ADAPTERS)
