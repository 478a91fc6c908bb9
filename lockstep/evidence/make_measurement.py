"""The certificates of what seed 001 published: recomputed, and what of it was withdrawn."""

from __future__ import annotations

import tomllib
from typing import Any

from lockstep import spec
from lockstep.evidence.making import COMMAND, Making

RECOMPUTED = "measurement-seed-001.cert.json"
DATA = "published/seed-001.toml"
"""Numbers and words of the text and of the receipts that it cites, below the spec's folder."""


def recomputed(making: Making) -> bytes:
    """Compute what can be computed of the figures of seed 001, judge the printed ones, and sign."""
    from lockstep.issue_measurement import issue_measurement

    making.progress("recomputing seed 001", 0, 1)
    return issue_measurement(
        _data(), [making.key], issued_at=making.issued_at, command=COMMAND
    ).certificate


def withdrawn(making: Making) -> bytes:
    """Withdraw the claims that seed 001 withdrew of itself, at their places in its certificate."""
    from lockstep.issue_measurement import issue_withdrawal

    making.progress("withdrawing claims of seed 001", 0, 1)
    certificate = (making.draft / RECOMPUTED).read_bytes()
    (making.draft / "withdrawals").mkdir(exist_ok=True)
    return issue_withdrawal(
        certificate,
        withdrawn_claims(_data()),
        [making.key],
        issued_at=making.issued_at,
        command=COMMAND,
    ).certificate


def withdrawn_claims(data: dict[str, Any]) -> list[dict[str, Any]]:
    """Give the claims that a document of records says were withdrawn, by their pointers."""
    place = {
        one["name"]: f"/predicate/published/{index}" for index, one in enumerate(data["published"])
    }
    return [
        {
            "pointer": place[one["published"]],
            "reason": one["reason"],
            "replacement": {
                "payload_sha256": "same",
                "pointer": place[one["replacement"]],
                "says": one["says"],
            },
        }
        for one in data["withdrawn"]
    ]


def _data() -> dict[str, Any]:
    return tomllib.loads(spec.read(DATA).decode("utf-8"))
