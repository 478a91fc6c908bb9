"""How the certificate of what the certifier detects is made."""

from __future__ import annotations

import tempfile
from pathlib import Path

from lockstep.evidence.making import COMMAND, Making


def detected(making: Making) -> bytes:
    """Certify the built-in server with and without faults, and sign what that showed.

    It takes an hour or more. Where there is a folder for records, what it has is not made again.
    """
    from lockstep.certify.faults import run_trials
    from lockstep.certify.issue_detection import issue_detection
    from lockstep.certify.trials import trials

    whole = sum(one.runs for one in trials())
    with tempfile.TemporaryDirectory() as scratch:
        records = run_trials(
            making.records / "certify-faults" if making.records else Path(scratch),
            making.key,
            lambda: making.issued_at,
            tell=lambda done, record: making.progress("certifying faults", done, whole),
        )
    return issue_detection(
        records, [making.key], issued_at=making.issued_at, command=COMMAND
    ).certificate
