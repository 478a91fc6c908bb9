"""The swarm finds the request that never fits, once nothing refuses it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from lockstep.cli import application
from lockstep.errors import LockstepError
from lockstep.fuzz.case import parse_case
from lockstep.fuzz.executors import processes
from lockstep.fuzz.live import fits
from lockstep.fuzz.worker import Subject
from lockstep.schedule.document import read_document

START = "import sys; from lockstep.cli import main; sys.exit(main())"


def fuzz(*arguments: object) -> tuple[int, dict[str, Any], str]:
    """Run `lockstep fuzz`, and give status, JSON and standard error."""
    done = subprocess.run(
        [sys.executable, "-c", START, "fuzz", "--json", "--jobs", "1", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, json.loads(done.stdout or "{}"), done.stderr


def test_the_swarm_finds_the_wedge(tmp_path: Path) -> None:
    mutation = "never_fitting_accepted"
    status, told, said = fuzz("--seeds", 6, "--mutation", mutation, "--corpus", tmp_path)
    assert (status, said) == (3, "")
    assert told["counts"]["failed"] == len(told["failures"]) >= 1
    for failure in told["failures"]:
        assert (failure["kind"], failure["code"], failure["part"]) == (
            "stuck", "POLICY_STUCK", "machine"
        )  # fmt: skip
        name = f"{failure['population']}-{failure['seed']:04d}.json"
        assert not fits(parse_case(read_document(tmp_path / "failures" / name)))
    # The engine as it is, is another subject; a mutated one is not certified.
    runner = CliRunner()
    other = runner.invoke(application(), ["fuzz", "--corpus", str(tmp_path)])
    assert isinstance(other.exception, LockstepError)
    assert other.exception.code == "NOT_COMPARABLE"
    signing = ["--certificate", str(tmp_path / "x.cert.json"), "--mutation", mutation]
    refused = runner.invoke(application(), ["fuzz", *signing, "--corpus", str(tmp_path)])
    assert refused.exit_code == 2
    assert "a mutated engine is not certified" in refused.output


def test_an_unknown_mutation(tmp_path: Path) -> None:
    with pytest.raises(LockstepError), processes(Subject(mutation="no_such"), 1) as run:
        list(run([("swarm", (0,))]))
