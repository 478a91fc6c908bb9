"""A plugin of pytest: `--lockstep-endpoint URL` certifies the endpoint before the tests run.

A run of tests against an endpoint whose answers depend on its load says little about what is
tested; so it ends where the endpoint is found divergent, and where nothing could be found out.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

RESULT = "lockstep-certification.cert.json"
"""Where the certificate is written, unless a file is named."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the plugin's options."""
    group = parser.getgroup("lockstep", "certify an endpoint first")
    group.addoption("--lockstep-endpoint", metavar="URL", help="Endpoint of your own to certify.")
    group.addoption("--lockstep-budget", default="2m", help="Time for it (default: 2m).")
    group.addoption("--lockstep-certificate", default=RESULT, help="File for the certificate.")
    group.addoption(
        "--lockstep-option", action="append", default=[],
        help="Further option of `lockstep certify`, such as --model=NAME; may be repeated.",
    )  # fmt: skip


def pytest_sessionstart(session: pytest.Session) -> None:
    """Certify the endpoint, and stop where it is not clean.

    Exit status of the run: 1 where the endpoint is divergent, 4 where that was not found out.
    """
    config = session.config
    endpoint = config.getoption("--lockstep-endpoint")
    # With xdist the workers are sessions, too; the one that starts them has certified.
    if endpoint is None or hasattr(config, "workerinput") or config.option.collectonly:
        return
    path = Path(config.getoption("--lockstep-certificate"))
    budget, options = (config.getoption(f"--lockstep-{one}") for one in ("budget", "option"))
    status = certify(endpoint, budget, path, options)
    if status == 0:
        return
    if status == 10:
        pytest.exit(f"{endpoint} is divergent: lockstep show {path}", returncode=1)
    pytest.exit(f"{endpoint} could not be certified: exit {status} of `lockstep certify`", 4)


def certify(endpoint: str, budget: str, path: Path, options: list[str]) -> int:
    """Run `lockstep certify` in a process of its own, its output going where pytest's goes.

    Args:
        endpoint: URL.
        budget: such as 2m.
        path: for the certificate.
        options: further ones.

    Returns:
        Its exit status.
    """
    import subprocess
    import sys

    program = "import sys; from lockstep.cli import main; sys.exit(main())"
    command: list[Any] = [
        sys.executable, "-c", program, "certify", "--endpoint", endpoint,
        "--i-control-this-endpoint", "--budget", budget, "--certificate", path, *options,
    ]  # fmt: skip
    return subprocess.run([str(one) for one in command], check=False).returncode
