"""Withdrawals beside certificates in Go: the same codes and pointers as the reference gives."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lockstep.certificate.envelope import sign_statement
from tests.conformance.built import ROOT, command_of
from tests.statements import put
from tests.withdrawal_records import CLAIM, OTHER, OWN, STRANGER, place, withdrawal

pytestmark = [pytest.mark.go, pytest.mark.xdist_group("go")]

Told = list[dict[str, Any]]
BOTH, ONE = ("producer", "producer"), ("producer", "auditor")
PLAIN = sign_statement(withdrawal(), [OTHER])
WHOLE = {**CLAIM, "pointer": "", "replacement": {"says": "another"}}


def wrong(place: str, value: str) -> bytes:
    """Give a withdrawal that says something else than what it was made of."""
    one = withdrawal()
    put(one, f"/predicate/{place}", value)
    return sign_statement(one, [OWN])


def both(binary: Path, options: list[str]) -> tuple[Told, Told]:
    """Give what both verifiers tell of each file, and see that their exit statuses agree."""
    done = [
        subprocess.run([*command, *options], capture_output=True, text=True, check=False)
        for command in ([sys.executable, "-m", "lockstep_verify"], command_of(binary))
    ]
    assert done[0].returncode == done[1].returncode
    reference, second = ([json.loads(line) for line in one.stdout.splitlines()] for one in done)
    return reference, second


def judged(told: Told) -> list[tuple[Any, ...]]:
    """Give what must agree of each file, with the first word of what is told of withdrawals."""
    words = ("WITHDRAWN", "not counted")
    return [
        (one["code"], one["exit"], one["pointer"], one["verdict"], one["counts"],
         [word for line in one["lines"] for word in words if line.startswith(word)])
        for one in told
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("held", "roles", "code", "pointer"),
    [
        ([PLAIN], BOTH, "CLAIM_WITHDRAWN", CLAIM["pointer"]),
        ([PLAIN], ONE, "OK", ""),
        ([sign_statement(withdrawal(), [STRANGER])], BOTH, "OK", ""),
        ([b"{}", PLAIN], BOTH, "CLAIM_WITHDRAWN", CLAIM["pointer"]),
        ([sign_statement(withdrawal(WHOLE), [OWN])], ONE, "CLAIM_WITHDRAWN", ""),
        (
            [PLAIN, wrong("claims/0/value_sha256", "0" * 64)],
            BOTH,
            "WITHDRAWAL_MISMATCH",
            CLAIM["pointer"],
        ),
        *(
            ([wrong("claims/0/pointer", pointer)], BOTH,
             "WITHDRAWAL_MISMATCH", pointer)
            for pointer in (
                "/predicate/published/9",
                "/predicate/published/01",
                "/predicate/published/-",
                "/predicate/verdict/0",
                "/predicate/none",
            )
        ),
        (
            [wrong("certificate/predicate_type", "urn:lockstep:certificate:hunt:v1")],
            BOTH,
            "WITHDRAWAL_MISMATCH",
            "/predicateType",
        ),
    ],
)  # fmt: skip
def test_agrees_on_what_counts(
    binary: Path, tmp_path: Path, held: list[bytes], roles: tuple[str, str], code: str, pointer: str
) -> None:
    reference, second = both(binary, place(tmp_path, *held, roles=roles))
    assert len(second) == len(held) + 1
    assert judged(second) == judged(reference)
    assert (second[-1]["code"], second[-1]["pointer"]) == (code, pointer)


def test_the_committed_withdrawals_are_heeded(binary: Path, tmp_path: Path) -> None:
    evidence = ROOT / "evidence"
    options = ["--json", "--trust", str(evidence / "trust.json"), "--state", str(tmp_path)]
    options += ["--withdrawals", str(evidence / "withdrawals"), "--at", "2026-12-01T00:00:00Z"]
    names = ("measurement-seed-001", "replay")
    files = [str(evidence / f"{name}.cert.json") for name in names]
    reference, second = both(binary, [*options, *files])
    assert judged(second) == judged(reference)
    assert [one["code"] for one in second] == ["OK", "CLAIM_WITHDRAWN", "OK"]


def test_a_folder_that_cannot_be_heeded_is_a_fault_of_the_command_line(
    binary: Path, tmp_path: Path
) -> None:
    command = [*command_of(binary), "--withdrawals", str(tmp_path / "none"), "c.cert.json"]
    done = subprocess.run(command, capture_output=True, check=False)
    assert (done.returncode, done.stdout.split()[0]) == (2, b"USAGE")
