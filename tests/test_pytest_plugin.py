"""The plugin of pytest: a run whose endpoint is divergent fails before its first test."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from lockstep.certify.config import Command
from lockstep.certify.faults import served
from lockstep.certify.launch import launched

TESTS = "def test_something():\n    assert True\n"
STUB = """
from lockstep import pytest_plugin

def stub(endpoint, budget, path, options):
    print("asked", endpoint, budget, path, options)
    return {status}

pytest_plugin.certify = stub
"""


def run(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    plugin = [] if installed() else ["-p", "lockstep.pytest_plugin"]
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *plugin, "-p", "no:cacheprovider", *options],
        cwd=folder, capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip


def installed() -> bool:
    """Whether the distribution that is installed knows the plugin, as a new one does."""
    from importlib.metadata import entry_points

    return any(one.name == "lockstep" for one in entry_points(group="pytest11"))


@pytest.mark.parametrize(
    ("status", "due", "said"),
    [
        (0, 0, "1 passed"),
        (10, 1, "http://127.0.0.1:9 is divergent: lockstep show x.json"),
        (3, 4, "could not be certified: exit 3"),
        (6, 4, "could not be certified: exit 6"),
    ],
)
def test_the_status_of_the_certifier_decides(
    tmp_path: Path, status: int, due: int, said: str
) -> None:
    (tmp_path / "test_it.py").write_text(TESTS)
    (tmp_path / "conftest.py").write_text(STUB.format(status=status))
    done = run(
        tmp_path, "-s", "--lockstep-endpoint", "http://127.0.0.1:9", "--lockstep-budget", "5m",
        "--lockstep-certificate", "x.json", "--lockstep-option=--model=m",
    )  # fmt: skip
    assert done.returncode == due, done.stdout + done.stderr
    assert said in done.stdout + done.stderr
    assert "asked http://127.0.0.1:9 5m x.json ['--model=m']" in done.stdout


def test_without_the_option_nothing_is_asked(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(TESTS)
    (tmp_path / "conftest.py").write_text(STUB.format(status=10))
    done = run(tmp_path)
    assert done.returncode == 0
    assert "asked" not in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize(("fault", "due"), [("", 0), (" --fault draw_keyed_by_row", 1)])
def test_a_real_endpoint(tmp_path: Path, fault: str, due: int) -> None:
    import asyncio

    (tmp_path / "test_it.py").write_text(TESTS)

    async def certified() -> subprocess.CompletedProcess[str]:
        async with launched(Command(served(fault)), None, lambda text: None) as started:
            return await asyncio.to_thread(
                run, tmp_path, "--lockstep-endpoint", started.url,
                "--lockstep-option=--cases=neighbour_top_k,seeded_sampling",
            )  # fmt: skip

    done = asyncio.run(certified())
    assert done.returncode == due, done.stdout + done.stderr
    assert (tmp_path / "lockstep-certification.cert.json").exists()
