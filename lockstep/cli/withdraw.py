"""`lockstep withdraw`: say that a certificate's signer no longer stands by claims of it."""

from __future__ import annotations

import re
from pathlib import Path

import typer

from lockstep.cli import options

OUTPUT = options.certificate("withdrawal.cert.json")


def register(app: typer.Typer) -> None:
    """Add the command `withdraw`."""
    app.command("withdraw")(withdraw)


def withdraw(
    certificate: Path = typer.Argument(..., help="The certificate that makes the claims."),
    pointer: list[str] = typer.Option(
        ..., metavar="<str>", help="Place of a claim in the statement; may be repeated."
    ),
    reason: str = typer.Option(..., help="Why they are withdrawn."),
    instead: str | None = typer.Option(None, help="What holds instead."),
    output: Path = OUTPUT,
    key: Path = typer.Option(..., help="Signing key: one that may sign such certificates."),
    issued_at: str | None = options.ISSUED_AT,
) -> None:
    """Withdraw claims of a certificate; `lockstep-verify --withdrawals DIR` heeds it.

    Example: lockstep withdraw c.cert.json --pointer /predicate/published/3 --reason "No repeat
    showed it." --key key.pem -o withdrawals/c.cert.json
    """
    from lockstep.certificate import times
    from lockstep.certificate.keys import load_key
    from lockstep.certificate.read import read_certificate
    from lockstep.cli.signing import conclude
    from lockstep.issue_measurement import issue_withdrawal

    issued_at = times.claimed(issued_at)
    options.require_output(output)
    _require_words(reason, instead)
    signer = load_key(key)
    replacement = None if instead is None else {"says": instead}
    claims = [{"pointer": place, "reason": reason, "replacement": replacement} for place in pointer]
    issued = issue_withdrawal(
        read_certificate(certificate),
        claims,
        [signer],
        issued_at=issued_at,
        command="lockstep withdraw",
    )
    told = [f"WITHDRAWN {one['pointer']}" for one in issued.predicate["claims"]]
    if conclude(output, issued.certificate, told, signer):
        raise typer.Exit(3)


def _require_words(reason: str, instead: str | None) -> None:
    """Refuse words that no withdrawal may have, before anything is signed.

    Raises:
        LockstepError: USAGE, at the option.
    """
    from lockstep import spec
    from lockstep.errors import LockstepError

    parts = spec.load("schemas/withdrawal.schema.json")["$defs"]
    for option, words, allowed in (
        ("--reason", reason, parts["claim"]["properties"]["reason"]),
        ("--instead", instead, parts["replacement"]["properties"]["says"]),
    ):
        most = allowed["maxLength"]
        if words is None or (re.fullmatch(allowed["pattern"], words) and len(words) <= most):
            continue
        expected = f"1 to {most} characters of printable ASCII"
        raise LockstepError("USAGE", option, expected, f"{len(words)} characters")
