"""The part of `lockstep demo` that certifies the built-in server, as it is and with a fault."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

FAULT = "draw_keyed_by_row"
"""A draw is keyed by the request's row in the batch: what a batch-dependent sampler does."""
CASES = ("prefix_equal", "full_hit", "wide_33", "neighbour_top_k", "seeded_sampling")
"""A few of the plan's cases, so that this takes seconds."""


def certify(
    folder: Path, key: Ed25519PrivateKey, trust: Sequence[str], issued_at: str
) -> list[str]:
    """Certify the server twice, tell both results, and give what is not as it should be.

    Args:
        folder: where the certificates go.
        key: that signs them.
        trust: options for the verifier.
        issued_at: the time that they claim.
    """
    from lockstep.cli import say

    wrong = []
    for fault, due in ((None, "CLEAN"), (FAULT, "DIVERGENT")):
        name = "certification.cert.json" if fault is None else "certification-fault.cert.json"
        predicate = _certified(folder / name, fault, key, issued_at)
        code = _verified(folder / name, trust)
        say(f"   lockstep serve --tiny{'' if fault is None else f' --fault {fault}'}")
        for line in _told(predicate):
            say(f"     {line}")
        say(f"     lockstep-verify {folder / name}: {code}")
        if (predicate["verdict"], code) != (due, "OK"):
            wrong.append(f"{name}: {predicate['verdict']} and {code}; {due} and OK were due")
    return wrong


def _certified(
    path: Path, fault: str | None, key: Ed25519PrivateKey, issued_at: str
) -> Mapping[str, Any]:

    from lockstep.certificate.write import write_file
    from lockstep.certify.config import Command, Config
    from lockstep.certify.faults import served
    from lockstep.certify.issue import issue_certification
    from lockstep.certify.results import Records
    from lockstep.certify.run import observe
    from lockstep.certify.signals import run_until_signal
    from lockstep.cli.certify_watch import Progress

    command = served("" if fault is None else f" --fault {fault}")
    plan = {"cases": CASES, "cache": ("warm", "cold"), "filler": ("none",), "order": ("fixed",)}
    config = Config(adapter="lockstep", launch=Command(command), plan=plan)
    seen = run_until_signal(observe(config, Records(None, ""), Progress(quiet=True)))
    issued = issue_certification(seen, [key], issued_at=issued_at, command="lockstep demo")
    write_file(path, issued.certificate)
    return issued.predicate


def _verified(path: Path, trust: Sequence[str]) -> str:
    from lockstep.certificate.verifier import verify

    return str(verify([path], *trust).results[0]["code"])


def _told(predicate: Mapping[str, Any]) -> list[str]:
    """Say a verdict, what stands behind it, and the first difference."""
    from lockstep.certify.report import message, name

    counts = predicate["counts"]
    controls = ", ".join(f"{one['name']} {one['status']}" for one in predicate["controls"])
    lines = [
        f"{predicate['verdict']}: {counts['requests']:,} requests, {counts['pairs']:,} pairs "
        "compared",
        f"controls: {controls}",
    ]
    mine = [one for one in predicate["cells"] if not (one["control"] or "").startswith("positive")]
    apart = [one for one in mine if one["verdict"] == "divergent"]
    told = apart[:1] or [one for one in mine if one["verdict"] != "clean"]
    return [*lines, *(f"{one['case']}, {name(one)}: {message(one)}" for one in told)]
