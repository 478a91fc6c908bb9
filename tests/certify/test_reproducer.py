"""The script for a divergence: it needs the server and httpx alone, and shows what was seen."""

from __future__ import annotations

import ast
import asyncio
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from lockstep.certify import run
from lockstep.certify.adapters.adapter import Overrides
from lockstep.certify.adapters.catalogue import ADAPTERS
from lockstep.certify.config import Config
from lockstep.certify.reproducer import scripts
from lockstep.certify.results import Records
from lockstep.claims.certification import predicate
from lockstep.cli import main
from lockstep.cli.certify_watch import Progress
from tests import certification_records as made
from tests.certify import pathologies as does
from tests.certify.fake_endpoint import MODEL, Behaviour, FakeEndpoint

PLAN = {
    "cases": ["prefix_equal"],
    "cache": ["warm", "cold"],
    "filler": ["none"],
    "order": ["fixed"],
    "repeats": 2,
    "max_new": 4,
    "top": 2,
}


def written(fake: FakeEndpoint, **plan: Any) -> dict[str, str]:
    """Certify a fake endpoint, and give the scripts for what differed."""
    config = Config(
        endpoint=fake.url, controlled=True, adapter="vllm", model=MODEL, plan={**PLAN, **plan},
        timeout=30,
    )  # fmt: skip
    seen = asyncio.run(run.observe(config, Records(None, ""), Progress(quiet=True)))
    folded = predicate(seen, issued_at=made.ISSUED_AT, producer=made.PRODUCER)
    return scripts(folded, ADAPTERS["vllm"](MODEL), Overrides(), fake.url, None)


def executed(folder: Path, text: str, url: str) -> subprocess.CompletedProcess[str]:
    path = folder / "reproduce.py"
    path.write_text(text)
    return subprocess.run(
        [sys.executable, "-I", path, url], capture_output=True, text=True, timeout=100
    )


@pytest.fixture(scope="module")
def found() -> Mapping[str, str]:
    with FakeEndpoint(does.NeighbourDependent()) as fake:
        return written(fake)


@pytest.mark.slow  # waits for its rounds, half a minute
def test_it_shows_the_difference_again_and_none_where_there_is_none(
    found: Mapping[str, str], tmp_path: Path
) -> None:
    name = next(iter(found))
    assert name == "000-prefix_equal-warm.py"
    with FakeEndpoint(does.NeighbourDependent()) as fake:
        shown = executed(tmp_path, found[name], fake.url)
    assert shown.returncode == 1, shown.stdout + shown.stderr
    assert "token_logprobs, position 1" in shown.stdout
    with FakeEndpoint() as fake:
        quiet = executed(tmp_path, found[name], fake.url)
    assert quiet.returncode == 0, quiet.stdout + quiet.stderr
    assert quiet.stdout.startswith("no difference")


def test_it_says_when_the_server_fails(found: Mapping[str, str], tmp_path: Path) -> None:
    with FakeEndpoint(does.FailsAlways()) as fake:
        failed = executed(tmp_path, next(iter(found.values())), fake.url)
    assert failed.returncode == 2
    assert "status 500" in failed.stdout


def test_it_needs_httpx_and_the_standard_library_alone(found: Mapping[str, str]) -> None:
    for text in found.values():
        tree = ast.parse(text)
        imported = {
            (one.module if isinstance(one, ast.ImportFrom) else one.names[0].name) or ""
            for one in ast.walk(tree)
            if isinstance(one, ast.Import | ast.ImportFrom)
        }
        assert imported - sys.stdlib_module_names == {"httpx"}
        assert (ast.get_docstring(tree) or "").startswith("Request ")


def test_what_does_not_differ_gets_no_script() -> None:
    with FakeEndpoint(Behaviour()) as fake:
        assert written(fake, cache=["warm"]) == {}


def test_the_command_asks_for_the_model_that_is_served(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with FakeEndpoint(does.LogprobsOnly()) as fake:
        command = ["lockstep", "certify", "--endpoint", fake.url, "--i-control-this-endpoint"]
        command += ["--adapter", "vllm", "--cases", "full_hit", "--cache", "warm"]
        command += ["--filler", "none", "--order", "fixed", "--repeats", "3", "--max-new", "4"]
        monkeypatch.setattr(sys, "argv", [*command, "--reproducers", "scripts"])
        assert main() == 10
    (script, *_) = sorted((tmp_path / "scripts").iterdir())
    assert f'"model": "{MODEL}"' in script.read_text().replace('\\"', '"')
