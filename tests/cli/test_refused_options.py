"""Options that a command cannot act on are told, at their names, before anything runs."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.core import TyperGroup

from lockstep.certificate import keys
from lockstep.cli import STATUSES
from lockstep.errors import LockstepError
from tests.docs.documents import command_line

SERVER = ("--endpoint", "http://127.0.0.1:1", "--i-control-this-endpoint")
FILE, FOLDER, NO_FOLDER = "file", "folder", "absent/one"
PLACES = [
    ("bench-sampling", "--output", "file/one"),
    ("certify --certificate c.json", "--reproducers", FILE),
    ("certify", "--certificate", FOLDER),
    ("certify-faults", "--out", FILE),
    ("certify-faults", "--certificate", NO_FOLDER),
    ("demo", "--folder", FILE),
    ("fuzz", "--corpus", FILE),
    ("fuzz --key key.pem", "--certificate", FOLDER),
    ("fuzz-verify", "--output", FILE),
    ("hunt --key key.pem", "--output", NO_FOLDER),
    ("lean certify --key key.pem", "--output", NO_FOLDER),
    ("lean export", "--output", FOLDER),
    ("minimize file", "--certificate", FOLDER),
    ("minimize file", "--output", NO_FOLDER),
    ("minimize file", "--memo", FOLDER),
    ("mutation", "--out", FILE),
    ("mutation --key key.pem", "--certificate", FOLDER),
    ("run --model tiny --workload file", "--sampling", NO_FOLDER),
    ("smt", "--out", FILE),
]


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work beside a file, a folder and a key."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / FILE).write_text("{}")
    (tmp_path / FOLDER).mkdir()
    keys.new_key_file(tmp_path / "key.pem")


def told(command: str, *options: str) -> str:
    """Give what a command says that ends with exit status 2."""
    words = [*command.split(), *(SERVER if command.split()[0] == "certify" else ()), *options]
    group: TyperGroup = command_line()
    with pytest.raises(Exception) as caught:
        group.main(words, "lockstep", standalone_mode=False)
    fault = caught.value
    if isinstance(fault, LockstepError):
        assert STATUSES[fault.code] == 2
        return str(fault)
    assert getattr(fault, "exit_code", None) == 2, fault
    return str(fault.format_message())  # type: ignore[attr-defined]


@pytest.mark.parametrize(("command", "option", "given"), PLACES)
def test_a_place_that_cannot_be_written_is_told_at_its_option(
    command: str, option: str, given: str, tmp_path: Path
) -> None:
    before = sorted(tmp_path.rglob("*"))
    said = told(command, option, given)
    assert option in said
    assert "folder" in said
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("command", ["certify", "certify-faults", "minimize file"])
@pytest.mark.parametrize("time", ["yesterday", "2999-01-01T00:00:00Z"])
def test_a_time_that_nothing_can_claim_is_told(command: str, time: str) -> None:
    assert "--issued-at" in told(command, "--issued-at", time)


@pytest.mark.parametrize(
    ("command", "option", "known"),
    [
        ("bench-engine", "--against", "fast_torch"),
        ("bench-minimize", "--only", "finish_frees_nothing"),
        ("certify", "--adapter", "llamacpp"),
        ("measure --endpoint http://127.0.0.1:1 --i-control-this-endpoint", "--adapter", "tgi"),
    ],
)
def test_a_name_that_is_none_is_told_with_those_that_there_are(
    command: str, option: str, known: str
) -> None:
    said = told(command, option, "nobody")
    assert option in said
    assert known in said


@pytest.mark.parametrize("option", ["--source-pool", "--destination-pool"])
def test_a_pool_has_a_place(option: str) -> None:
    assert option in told("layouts plan vllm:LBNHC lmcache:KV_2LTD", option, "0")


def test_a_certificate_is_what_is_mutated() -> None:
    assert "a certificate" in told("fuzz-verify", "--certificate", FILE)
    assert "none of this name" in told("fuzz-verify", "--certificate", NO_FOLDER)


def test_a_scorer_without_prompts_has_nothing_to_score() -> None:
    assert "--prompts" in told("certify", "--score", "true")
