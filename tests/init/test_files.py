"""What `lockstep init` writes: read by the certifier, trusted by the verifier, run nightly."""

from __future__ import annotations

import re
import shlex
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from lockstep.certificate.statement import KINDS, predicate_type
from lockstep.certify.config import read_config
from lockstep.cli import main
from lockstep.errors import LockstepError
from lockstep.init import files
from lockstep_verify.cli import main as verify
from tests.certify.fake_endpoint import Behaviour, FakeEndpoint
from tests.docs.documents import command_line

ASKED = {
    "nothing": files.Asked(),
    "launch": files.Asked(launch='X="a b" serve --port {port}', source="a[b] @ git+file:///c@d"),
    "endpoint": files.Asked(endpoint="http://127.0.0.1:8000", controlled=True),
}
NAMES = {
    files.CONFIGURATION, files.POLICY, files.KEY, files.IGNORED, files.WORKFLOW,
}  # fmt: skip


def call(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    monkeypatch.setattr(sys, "argv", list(words))
    return main() if words[0] == "lockstep" else verify()


def written(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("asked", ASKED.values(), ids=ASKED)
def test_the_configuration_says_what_was_asked(asked: files.Asked, tmp_path: Path) -> None:
    path = tmp_path / "lockstep.toml"
    path.write_text(files.configuration(asked))
    config = read_config(path)
    assert config.endpoint == asked.endpoint
    assert config.controlled == asked.controlled
    command = None if config.launch is None else config.launch.text
    assert command == (None if asked.endpoint else asked.launch or files.BUILT_IN)


def test_an_endpoint_is_not_stated_to_be_the_users_own_for_them(tmp_path: Path) -> None:
    path = tmp_path / "lockstep.toml"
    path.write_text(files.configuration(files.Asked(endpoint="http://127.0.0.1:8000")))
    assert read_config(path).controlled is False


def commented(text: str) -> Iterator[str]:
    """Give the keys that stand there as a comment, uncommented."""
    for line in text.splitlines():
        if re.match(r"# (\[[a-z.]+\]|[a-z_]+ = )", line):
            yield line.removeprefix("# ")


def test_its_commented_keys_are_read_too(tmp_path: Path) -> None:
    text = files.configuration(files.Asked())
    lines = list(commented(text))
    assert len(lines) >= 10
    path = tmp_path / "lockstep.toml"
    path.write_text(re.sub(r"(?m)^# (?=\[[a-z.]+\]|[a-z_]+ = )", "", text))
    config = read_config(path)
    assert (config.positive, config.prompts) != (None, None)


def test_a_plan_is_made_a_key_signs_and_the_policy_verifies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    with FakeEndpoint(Behaviour()) as fake:
        made = ["lockstep", "init", "--endpoint", fake.url, "--i-control-this-endpoint"]
        assert call(monkeypatch, *made) == 0
        assert written(tmp_path) == NAMES
        assert stat.S_IMODE((tmp_path / files.KEY).stat().st_mode) == 0o600
        assert call(monkeypatch, "lockstep", "certify", "--plan") == 0
        assert "cells" in capsys.readouterr().out
        small = ["--cases", "full_hit", "--cache", "warm", "--filler", "none", "--repeats", "2"]
        signed = ["--key", files.KEY, "--certificate", "a.cert.json", *small, "--order", "fixed"]
        assert call(monkeypatch, "lockstep", "certify", *signed) in (0, 3)
    state = ["--state", str(tmp_path / "state")]
    assert call(monkeypatch, "lockstep-verify", "--trust", files.POLICY, *state, "a.cert.json") == 0


def test_the_policy_trusts_every_kind(tmp_path: Path) -> None:
    files.write(tmp_path, files.Asked(), "me", 1)
    text = (tmp_path / files.POLICY).read_text()
    assert all(f'"{predicate_type(kind)}"' in text for kind in KINDS)


@pytest.mark.parametrize("name", sorted(NAMES))
def test_nothing_is_overwritten_and_nothing_half_written(name: str, tmp_path: Path) -> None:
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / name).write_text("mine")
    with pytest.raises(LockstepError, match="USAGE") as refused:
        files.write(tmp_path, files.Asked(), "me", 1)
    assert refused.value.pointer == str(tmp_path / name)
    assert written(tmp_path) == {name}
    assert (tmp_path / name).read_text() == "mine"


def test_a_failure_on_the_way_leaves_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(files.keys, "sole_policy", fail)
    with pytest.raises(KeyboardInterrupt):
        files.write(tmp_path, files.Asked(), "me", 1)
    assert written(tmp_path) == set()


@pytest.mark.parametrize("asked", ASKED.values(), ids=ASKED)
def test_the_workflow_is_yaml_whose_commands_exist(asked: files.Asked) -> None:
    # YAML 1.1 reads the key `on` as true.
    document: Any = yaml.safe_load(files.workflow(asked))
    assert {"name", True, "permissions", "concurrency", "jobs"} == set(document)
    steps = document["jobs"]["certify"]["steps"]
    assert all(("run" in step) != ("uses" in step) for step in steps)
    assert (steps[2]["env"]["LOCKSTEP_SOURCE"] == asked.source) == (asked.source is not None)
    lines = [line.strip() for step in steps for line in step.get("run", "").splitlines()]
    told = [shlex.split(line) for line in lines if line.startswith("lockstep")]
    assert [words[0] for words in told] == ["lockstep", "lockstep-verify"]
    command = command_line()
    name, *arguments = told[0][1:]
    context = command.commands[name].make_context(name, arguments)
    assert context.params["sarif"] == Path("lockstep-results/certify.sarif")
    uploaded = [step["with"] for step in steps if "upload" in step.get("uses", "")]
    assert [one.get("sarif_file", one.get("path")) for one in uploaded] == [
        "lockstep-results/certify.sarif",
        "lockstep-results",
    ]


def test_a_server_that_is_there_is_not_started_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    both = ("--endpoint", "http://a", "--launch", "b {port}")
    assert call(monkeypatch, "lockstep", "init", *both) == 2
    assert written(tmp_path) == set()


@pytest.mark.parametrize(
    ("option", "text"),
    [("--launch", "a\nb {port}"), ("--launch", "a server without a port"), ("--source", "")],
)
def test_what_certify_or_pip_could_not_run_is_not_written(
    option: str,
    text: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert call(monkeypatch, "lockstep", "init", option, text) == 2
    assert option in capsys.readouterr().err
    assert written(tmp_path) == set()


@pytest.mark.parametrize(
    ("endpoint", "code"),
    [
        ("https://api.openai.com", "ENDPOINT_NOT_CONTROLLED"),
        ("http://me:secret@127.0.0.1:8000", "USAGE"),
        ("127.0.0.1:8000", "USAGE"),
    ],
)
def test_an_endpoint_that_would_be_refused_is_not_written(
    endpoint: str,
    code: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    own = ("--endpoint", endpoint, "--i-control-this-endpoint")
    assert call(monkeypatch, "lockstep", "init", *own) in (2, 3)
    told = capsys.readouterr().err
    assert code in told
    assert "secret" not in told
    assert written(tmp_path) == set()
