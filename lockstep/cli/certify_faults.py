"""`lockstep certify-faults`: the certifier before the built-in server, with and without faults."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import typer

from lockstep.cli.options import ISSUED_AT, OWN_KEY

RESULT = "detection.cert.json"


def register(app: typer.Typer) -> None:
    """Add the command `certify-faults`."""
    app.command("certify-faults")(certify_faults)


def certify_faults(
    only: str = typer.Option("", help="Such as none,refcount_leak (default: all)."),
    out: Path = typer.Option(
        Path("results/certify-faults"), help="Folder of records and certificates."
    ),
    fresh: bool = typer.Option(False, "--fresh", help="Make trials anew that are there."),
    certificate: Path | None = typer.Option(
        None, help=f"Certificate of all trials (default: {RESULT} in that folder)."
    ),
    key: Path | None = OWN_KEY,
    issued_at: str | None = ISSUED_AT,
) -> None:
    """Certify the built-in server as it is and under each fault; an interrupted run goes on.

    The server as it is must come out clean in each of 20 lifetimes, a visible fault be caught
    within five minutes, an invisible one come out clean. Each trial leaves a record and a
    certificate; all of them together make one, which is not made for some of them.

    Exit status 0: all is so; 3: not so.

    Example: lockstep certify-faults --only split_size_by_batch,exp_cut_short
    """
    from lockstep.certificate import times
    from lockstep.certify.faults import run_trials
    from lockstep.certify.trials import trials
    from lockstep.claims.detection import rows
    from lockstep.cli import options, say, signing
    from lockstep.cli.certify_result import require_library
    from lockstep.cli.hunt import now

    require_library()
    options.require_folder(out, "--out")
    if certificate is not None:
        options.require_output(certificate, "--certificate")
    issued_at = None if issued_at is None else times.claimed(issued_at)
    signer = signing.own_key(key)
    chosen = [name.strip() for name in only.split(",") if name.strip()]
    if fresh:
        for trial in trials():
            if not chosen or trial.name in chosen:
                (out / f"{trial.name}.json").unlink(missing_ok=True)
                (out / f"{trial.name}.rounds.jsonl").unlink(missing_ok=True)
    whole = len(chosen) or sum(one.runs for one in trials())

    def tell(done: int, record: Mapping[str, Any]) -> None:
        (row,) = rows([record])
        say(f"{done}/{whole} {line(row)}")

    records = run_trials(out, signer, lambda: issued_at or now(), chosen, tell)
    good = _conclude(rows(records))
    if not chosen:
        good = _sign(certificate or out / RESULT, records, signer, issued_at or now()) and good
    if not good:
        raise typer.Exit(3)


def line(row: Mapping[str, Any]) -> str:
    """Give a trial in one line for people."""
    from lockstep.claims.detection import is_as_expected

    by, shown = "", row["shown"]
    if shown is not None and shown["case"] is not None:
        condition = shown["control"] or f"cache {shown['cache']}, filler {shown['filler']}"
        by = f" by {shown['sort']} in {shown['case']} ({condition})"
    elif shown is not None:
        by = f" by {shown['sort']}"
    mark = "" if is_as_expected(row) else f"; NOT AS EXPECTED, {row['expected']}"
    return f"{row['name']}: {row['outcome']}{by}, {row['elapsed_us'] / 1e6:.0f} s{mark}"


def _conclude(told: Sequence[Mapping[str, Any]]) -> bool:
    """Sum the trials up, and give whether each is as expected."""
    from lockstep.claims.detection import blind, counts, is_as_expected
    from lockstep.cli import say

    counted = counts(told)
    bad = [row["name"] for row in told if not is_as_expected(row)]
    say(f"caught: {counted['caught']} of {counted['visible']} visible faults")
    say(f"blind, as declared: {', '.join(blind(told)) or 'none'}")
    say(f"not as expected: {', '.join(bad) or 'none'}")
    return not bad


def _sign(path: Path, records: Sequence[Mapping[str, Any]], signer: Any, issued_at: str) -> bool:
    """Write the certificate of all trials, have it verified, and give whether it is."""
    from lockstep.certify.faults import COMMAND
    from lockstep.certify.issue_detection import issue_detection
    from lockstep.cli import signing

    issued = issue_detection(records, [signer], issued_at=issued_at, command=COMMAND)
    verdict = issued.predicate["verdict"]
    return signing.conclude(path, issued.certificate, [verdict], signer) == 0
