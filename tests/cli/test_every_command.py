"""What holds of every command: an example that is accepted, `--json`, one way to end."""

from __future__ import annotations

import json
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
import typer.main

from lockstep.cli import application, json_output, main
from lockstep.cli.tables import Table, show_table
from lockstep.observation.observe import ENGINES

ROOT: Any = typer.main.get_command(application())


EXAMPLE = re.compile(r"Examples?:\s+(lockstep .*(?:\n(?!\s*(?:lockstep |\n|$)).*)*)")
"""The first of them, which goes on until a line begins another or is empty."""


def commands(command: Any = ROOT, path: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    """Give every command that does something, by its words."""
    for name, child in getattr(command, "commands", {}).items():
        if hasattr(child, "commands"):
            if child.invoke_without_command:
                yield " ".join((*path, name)), child
            yield from commands(child, (*path, name))
        else:
            yield " ".join((*path, name)), child


ALL = dict(commands())


def test_there_are_commands() -> None:
    assert len(ALL) > 60
    assert set(ALL) >= json_output.WITHOUT


def test_every_commands_help_has_an_example_that_is_accepted() -> None:
    for name, command in ALL.items():
        found = EXAMPLE.search(command.help or "")
        assert found, name
        program, *words = shlex.split(re.split(r" (?:\||&&) |; ", found[1])[0])
        assert program == "lockstep"
        assert words[: len(name.split())] == name.split(), name
        command.make_context(name, words[len(name.split()) :])


def test_every_command_prints_json() -> None:
    for name, command in ALL.items():
        options = [option for one in command.params for option in getattr(one, "opts", ())]
        assert (options.count("--json") == 1) is (name not in json_output.WITHOUT), name


def test_the_help_of_observe_names_every_engine() -> None:
    (engine,) = (one for one in ALL["layouts observe"].params if one.name == "engine")
    named = re.findall(r"[a-z][a-z-]*", engine.help)
    assert [name for name in named if name != "or"] == list(ENGINES)


def one(does: Callable[[], Any]) -> typer.Typer:
    """Make an application of one command besides one that is not asked for."""
    app = typer.Typer(add_completion=False)
    app.command("one")(does)
    app.command("other")(lambda: None)
    json_output.add(app)
    return app


def told(
    does: Callable[[], Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> tuple[int, dict[str, Any]]:
    monkeypatch.setattr("lockstep.cli.application", lambda: one(does))
    monkeypatch.setattr(sys, "argv", ["lockstep", "one", "--json"])
    before = sys.stdout
    status = main()
    assert sys.stdout is before
    (line,) = capsys.readouterr().out.splitlines()
    document: dict[str, Any] = json.loads(line)
    assert (document["version"], document["command"]) == (1, "one")
    assert document["exit"] == status
    return status, document


def test_tables_and_lines_are_told_apart(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def does() -> None:
        print("said")
        show_table(Table("a table", ("x", "y"), (("1", "\x1b"),), ("/x",)))

    status, document = told(does, monkeypatch, capsys)
    assert status == 0
    assert document["lines"] == ["said"]
    assert document["tables"] == [
        {"title": "a table", "columns": ["x", "y"], "rows": [["1", "\x1b"]], "pointers": ["/x"]}
    ]
    assert document["error"] is None


def refuse() -> None:
    from lockstep.errors import LockstepError

    raise LockstepError("ENDPOINT_DOWN", "here")


def stop() -> None:
    raise typer.Exit(3)


def interrupt() -> None:
    raise KeyboardInterrupt


def fail() -> None:
    raise RuntimeError("x")


def lose() -> None:
    raise BrokenPipeError(32, "Broken pipe")


@pytest.mark.parametrize(
    ("does", "due", "error"),
    [
        (refuse, 6, "ENDPOINT_DOWN"),
        (stop, 3, None),
        (interrupt, 2, "interrupted"),
        (fail, 4, "INTERNAL"),
        (lose, 4, "INTERNAL"),
    ],
)
def test_however_it_ends_there_is_a_document(
    does: Callable[[], Any],
    due: int,
    error: str | None,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    status, document = told(does, monkeypatch, capsys)
    assert status == due
    if error is None:
        assert document["error"] is None
    else:
        assert error in f"{document['error']['code']} {document['error']['message']}"


@pytest.mark.parametrize(
    ("words", "command"),
    [
        (["group", "--json"], "group"),
        (["group", "--json", "inner"], "group inner"),
        (["group", "inner", "--json"], "group inner"),
        (["group", "--json", "inner", "--json"], "group inner"),
    ],
)
def test_a_group_that_is_a_command_gives_one_document_of_what_ran(
    words: list[str],
    command: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    group = typer.Typer()
    group.callback(invoke_without_command=True)(lambda: None)
    group.command("inner")(lambda: print("said"))
    app = typer.Typer(add_completion=False)
    app.add_typer(group, name="group")
    json_output.add(app)
    monkeypatch.setattr("lockstep.cli.application", lambda: app)
    monkeypatch.setattr(sys, "argv", ["lockstep", *words])
    assert main() == 0
    document = json.loads(capsys.readouterr().out)
    assert document["command"] == command
    assert document["lines"] == (["said"] if "inner" in words else [])


def test_without_the_option_nothing_is_held_back(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("lockstep.cli.application", lambda: one(lambda: print("said")))
    monkeypatch.setattr(sys, "argv", ["lockstep", "one"])
    assert main() == 0
    assert capsys.readouterr().out == "said\n"


def test_the_version_names_the_commit(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    heads = {head()}
    monkeypatch.setattr(sys, "argv", ["lockstep", "--version"])
    assert main() == 0
    heads.add(head())  # Somebody may have committed meanwhile.
    found = re.fullmatch(r"lockstep [0-9.]+ \(([0-9a-f]{12})\)\n", capsys.readouterr().out)
    assert found
    assert found[1] in heads


def head() -> str:
    ask = ["git", "-C", str(Path(__file__).parent), "rev-parse", "--short=12", "HEAD"]
    return subprocess.run(ask, capture_output=True, text=True, check=True).stdout.strip()


@pytest.mark.slow
@pytest.mark.parametrize("words", [["hunt", "--set", "engines", "-o", "x.cert.json"], ["demo"]])
def test_ctrl_c_ends_a_command_in_a_line_and_leaves_no_half_file(
    words: list[str], tmp_path: Path
) -> None:
    code = "import sys; from lockstep.cli import main; print('begun', flush=True); sys.exit(main())"
    keys = [sys.executable, "-c", code, "keys", "init"]
    environment = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    subprocess.run(keys, env=environment, cwd=tmp_path, check=True, capture_output=True)
    process = subprocess.Popen(
        [sys.executable, "-c", code, *words], cwd=tmp_path, env=environment, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdout.readline() == "begun\n"
    time.sleep(3)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=120)
    assert process.returncode == 2, said
    assert said.splitlines()[-1] == "lockstep: interrupted; nothing half-written is left."
    assert "Traceback" not in said
    assert not [path for path in tmp_path.rglob(".*cert.json*")]
    assert not (tmp_path / "x.cert.json").exists()
