"""`lockstep certify-faults`: the certifier against the built-in server under each fault."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from lockstep.cli.options import ISSUED_AT, OWN_KEY

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    from lockstep.certify.faults import Trial

RESULT = "certify-faults.json"


def register(app: typer.Typer) -> None:
    """Add the command `certify-faults`."""
    app.command("certify-faults")(certify_faults)


def certify_faults(
    only: str = typer.Option("", help="Such as none,refcount_leak (default: all)."),
    lifetimes: int = typer.Option(20, min=1, max=256, help="Of the server without a fault."),
    out: Path = typer.Option(Path("results/certify-faults"), help="Folder of the certificates."),
    fresh: bool = typer.Option(False, "--fresh", help="Make trials anew that are there."),
    key: Path | None = OWN_KEY,
    issued_at: str | None = ISSUED_AT,
) -> None:
    """Certify the built-in server as it is and under each fault; an interrupted run goes on.

    The engine as it is must come out clean in every lifetime, a visible fault be caught within
    five minutes, an invisible one come out clean. Each trial leaves a certificate.

    Exit status 0: all is so; 3: not so.

    Example: lockstep certify-faults --only none,split_size_by_batch --lifetimes 2
    """
    import json

    from lockstep.certificate.write import write_file
    from lockstep.certify.faults import trials
    from lockstep.cli import say, signing
    from lockstep.cli.certify_result import require_library
    from lockstep.cli.hunt import now
    from lockstep.errors import LockstepError

    require_library()
    signer = signing.own_key(key)
    out.mkdir(parents=True, exist_ok=True)
    wanted = [name.strip() for name in only.split(",") if name.strip()]
    every = list(trials(lifetimes))
    unknown = sorted(set(wanted) - {one.name for one in every})
    if unknown:
        known = ", ".join(one.name for one in every)
        raise LockstepError("USAGE", "--only", f"names of {known}", unknown[0])
    result = out / RESULT
    rows: dict[str, Any] = {}
    if result.is_file() and not fresh:
        rows = {one["name"]: one for one in json.loads(result.read_text())["trials"]}
    chosen = [one for one in every if not wanted or one.name in wanted]
    for number, trial in enumerate(chosen, start=1):
        known_row = rows.get(trial.name)
        if known_row is not None and known_row["lifetimes"] == trial.lifetimes:
            continue
        rows[trial.name] = _certified(trial, out, signer, issued_at or now())
        document = {"trials": [rows[one.name] for one in every if one.name in rows]}
        write_file(result, json.dumps(document, indent=1, sort_keys=True).encode() + b"\n")
        say(f"{number}/{len(chosen)} {_line(rows[trial.name])}")
    told = [rows[one.name] for one in chosen]
    bad = [one["name"] for one in told if not one["as_expected"]]
    blind = [one["name"] for one in told if one["fault"] and one["expected"] == "clean"]
    caught = sum(one["expected"] == "caught" and one["as_expected"] for one in told)
    say(f"caught: {caught} visible faults; blind, as declared: {', '.join(blind) or 'none'}")
    say(f"not as expected: {', '.join(bad) or 'none'}")
    if bad:
        raise typer.Exit(3)


def _certified(
    trial: Trial, out: Path, signer: Ed25519PrivateKey, issued_at: str
) -> dict[str, Any]:
    """Make one trial, write its certificate, and give its row."""
    import asyncio
    import hashlib

    from lockstep.certificate.write import write_file
    from lockstep.certify.faults import row, run_trial
    from lockstep.certify.issue import issue_certification

    seen, seconds = asyncio.run(run_trial(trial))
    issued = issue_certification(
        seen, [signer], issued_at=issued_at, command="lockstep certify-faults"
    )
    write_file(out / f"{trial.name}.cert.json", issued.certificate)
    digest = hashlib.sha256(issued.certificate).hexdigest()
    return {**row(trial, issued.predicate, seconds), "certificate_sha256": digest}


def _line(row: dict[str, Any]) -> str:
    shown = row["shown_by"]
    by = ""
    if shown is not None:
        condition = shown["control"] or f"cache {shown['cache']}, filler {shown['filler']}"
        by = f", {shown['verdict']} in {shown['case']} ({condition})"
    mark = "" if row["as_expected"] else f"; NOT AS EXPECTED, {row['expected']}"
    return f"{row['name']}: {row['verdict']}{by}, {row['milliseconds'] / 1000:.0f} s{mark}"
