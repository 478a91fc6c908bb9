"""`lockstep show`: a certificate's payload for people, under a banner unless just verified."""

import shlex
from pathlib import Path
from typing import Any

import typer

from lockstep.cli.payload_tables import describe
from lockstep.cli.tables import printable, show_table

UNVERIFIED = "NOT VERIFIED"


def register(app: typer.Typer) -> None:
    """Add the command `show`."""

    @app.command()
    def show(
        certificate: Path = typer.Argument(..., help="A *.cert.json file."),
        trust: Path | None = typer.Option(None, help="Trust policy for the verification."),
        withdrawals: Path | None = typer.Option(None, help="Folder of withdrawals to heed."),
        rows: bool = typer.Option(True, help="List rows, theorems or cases."),
    ) -> None:
        """Verify a certificate and print its payload for people.

        Example: lockstep show evidence/exact-transformations.cert.json --trust evidence/trust.json
        """
        present(certificate, trust, withdrawals, rows)


def present(certificate: Path, trust: Path | None, withdrawals: Path | None, rows: bool) -> bytes:
    """Verify a certificate, print its payload between two banners, and give its bytes.

    Raises:
        LockstepError: FILE_UNREADABLE or LIMIT_SIZE, also of the policy and the withdrawals.
        typer.Exit: it did not verify, or is none that can be shown.
    """
    from lockstep.certificate.read import read_certificate
    from lockstep.cli import say
    from lockstep.evidence.index import statement_of

    data = read_certificate(certificate)
    result = _verified(data, trust, withdrawals)
    verified = result["exit"] == 0
    banner = f"VERIFIED: {result['verdict']}" if verified else f"{UNVERIFIED}: {result['code']}"
    say(f"=== {banner} ===")
    try:
        tables = describe(statement_of(data), rows)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        say("The payload cannot be read as a certificate of a known kind.")
        raise typer.Exit(3) from None
    for table in tables:
        show_table(table)
    for line in result["lines"]:
        if line.startswith(("WITHDRAWN", "not counted")):
            say(printable(line))
    say(f"=== {banner} ===")
    if not verified:
        say(f"`{_command(certificate, trust, withdrawals)}` says why; --trust names a policy.")
        raise typer.Exit(3)
    return data


def verified(certificate: Path, trust: Path | None, withdrawals: Path | None) -> bytes:
    """Verify a certificate, and give its bytes.

    Raises:
        LockstepError: FILE_UNREADABLE, LIMIT_SIZE; the code that the verifier gives.
    """
    from lockstep.certificate.read import read_certificate
    from lockstep.errors import LockstepError

    data = read_certificate(certificate)
    result = _verified(data, trust, withdrawals)
    if result["exit"] != 0:
        hint = f"`{_command(certificate, trust, withdrawals)}` says more; --trust names a policy."
        pointer = result["pointer"] or str(certificate)
        raise LockstepError(result["code"], pointer, result["expected"], result["got"], hint)
    return data


def _verified(data: bytes, trust: Path | None, withdrawals: Path | None) -> dict[str, Any]:
    """Have bytes verified, and every withdrawal before them."""
    from lockstep.certificate.read import read_withdrawals
    from lockstep.certificate.verifier import verify_bytes

    return verify_bytes([data], trust, read_withdrawals(withdrawals)).results[-1]


def _command(certificate: Path, trust: Path | None, withdrawals: Path | None) -> str:
    """Give the command that says more, under the same policy and withdrawals."""
    options = {"--trust": trust, "--withdrawals": withdrawals}
    given = [str(word) for pair in options.items() if pair[1] is not None for word in pair]
    return shlex.join(["lockstep-verify", *given, str(certificate)])
