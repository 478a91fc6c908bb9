"""A short plan against the built-in server: both of its modes, two faults, and a key."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lockstep.certify.config import Command, Config
from lockstep.certify.launch import launched
from lockstep.certify.results import Records
from lockstep.certify.run import observe
from lockstep.claims.certification import predicate
from lockstep.cli import main
from lockstep.cli.certify_watch import Progress
from lockstep.issue import producer

SERVE = (
    f"{sys.executable} -c 'import sys; from lockstep.cli import main; sys.exit(main())' serve "
    "--tiny --port {port}"
)
KEY = "a-key-of-the-certifier-s-test"


def certified(command: str, **plan: Any) -> dict[str, Any]:
    chosen = {"filler": ("fixed",), "order": ("fixed",), "cache": ("warm",), "repeats": 2}
    chosen |= {"fixed_width": 4, **plan}
    config = Config(launch=Command(command), plan=chosen)
    seen = asyncio.run(observe(config, Records(None, ""), Progress(quiet=True)))
    return predicate(seen, issued_at="2026-11-29T00:00:00Z", producer=producer("test"))


def test_the_server_is_clean_and_its_other_mode_is_the_positive_control(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("KEY_OF_TEST", KEY)
    monkeypatch.chdir(tmp_path)
    command = ["lockstep", "certify", "--launch", f"{SERVE} --api-key-env KEY_OF_TEST"]
    command += ["--api-key-env", "KEY_OF_TEST", "--cases", "prefix_equal", "--repeats", "2"]
    command += ["--cache", "warm", "--order", "fixed", "--filler", "fixed"]
    (tmp_path / "lockstep.toml").write_text("[certify.plan]\nfixed_width = 4\n")
    command += ["--certificate", "c.json", "--junit", "j.xml", "--sarif", "s.sarif", "--json"]
    monkeypatch.setattr(sys, "argv", command)
    status = main()
    told = capfd.readouterr()
    result = json.loads(told.out)
    assert status == 0, told
    assert result["verdict"] == "CLEAN"
    assert {one["name"]: one["status"] for one in result["controls"]} == {
        "sequential": "shown",
        "sensitivity": "shown",
        "positive": "shown",
        "cache_off": "absent",
    }
    assert {cell["witness"] for cell in result["cells"] if cell["control"] is None} == {"gauge"}
    identity = {one["name"]: one["observed"] for one in result["subject"]["identity"]}
    assert identity["runtime_version"] == identity["startup_version"] == "0.1.0"
    assert result["subject"]["launch"]["interpreter"].startswith("CPython 3.")
    written = [path.read_text() for path in tmp_path.iterdir() if path.is_file()]
    assert len(written) >= 4
    for text in (told.out, told.err, *written):
        assert KEY not in text


@pytest.mark.parametrize(
    ("fault", "case"),
    [
        ("matched_length_equal_to_block", "prefix_equal"),
        pytest.param("draw_keyed_by_row", "seeded_sampling", marks=pytest.mark.slow),
    ],
)
def test_a_fault_is_a_divergence(fault: str, case: str) -> None:
    result = certified(f"{SERVE} --fault {fault}", cases=(case,))
    assert result["verdict"] == "DIVERGENT"
    found = [cell for cell in result["cells"] if cell["verdict"] == "divergent"]
    assert found and "tokens" in found[0]["kinds"]


@pytest.mark.slow
@pytest.mark.parametrize("option", ["--mode fast", "--fault matched_length_equal_to_block"])
def test_a_reproducer_shows_what_it_was_written_for_and_nothing_else(
    option: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    command = ["lockstep", "certify", "--launch", f"{SERVE} {option}", "--cases", "prefix_equal"]
    command += ["--cache", "warm,cold", "--order", "fixed", "--filler", "fixed", "--repeats", "2"]
    monkeypatch.setattr(sys, "argv", [*command, "--reproducers", "scripts"])
    status = main()
    told = capfd.readouterr()
    assert status == 10, told
    script = min((tmp_path / "scripts").iterdir())

    async def executed(serve: str) -> subprocess.CompletedProcess[str]:
        async with launched(Command(serve), None, lambda _: None) as server:
            return await asyncio.to_thread(
                subprocess.run,
                [sys.executable, "-I", str(script), server.url],
                capture_output=True,
                text=True,
                timeout=300,
            )

    shown = asyncio.run(executed(f"{SERVE} {option}"))
    assert shown.returncode == 1, shown.stdout + shown.stderr
    assert "and the same in" in shown.stdout
    quiet = asyncio.run(executed(SERVE))
    assert quiet.returncode == 0, quiet.stdout + quiet.stderr
    assert quiet.stdout.startswith("no difference")
