"""`lockstep show`: a certificate's payload for people, under a banner unless just verified."""

import tempfile
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
        LockstepError: FILE_UNREADABLE or LIMIT_SIZE.
        typer.Exit: it did not verify, or is none that can be shown.
    """
    from lockstep.cli import say
    from lockstep.evidence.index import statement_of

    # The bytes that are shown are the bytes that were verified, whatever happens to the file.
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
        say(f"`lockstep-verify {certificate}` says why; --trust names a policy.")
        raise typer.Exit(3)
    return data


def verified(certificate: Path, trust: Path | None, withdrawals: Path | None) -> bytes:
    """Verify a certificate, and give its bytes.

    Raises:
        LockstepError: FILE_UNREADABLE, LIMIT_SIZE; the code that the verifier gives.
    """
    from lockstep.errors import LockstepError

    data = read_certificate(certificate)
    result = _verified(data, trust, withdrawals)
    if result["exit"] != 0:
        hint = f"`lockstep-verify {certificate}` says more; --trust names a policy."
        pointer = result["pointer"] or str(certificate)
        raise LockstepError(result["code"], pointer, result["expected"], result["got"], hint)
    return data


def _verified(data: bytes, trust: Path | None, withdrawals: Path | None) -> dict[str, Any]:
    """Have bytes verified, and every withdrawal before them."""
    from lockstep.certificate.verifier import verify

    options = ["--trust", str(trust)] if trust else []
    held = sorted(withdrawals.glob("*.cert.json")) if withdrawals else []
    if withdrawals:
        options += ["--withdrawals", str(withdrawals)]
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "shown.cert.json"
        copy.write_bytes(data)
        return verify([copy], *options, before=len(held)).results[-1]


def read_certificate(path: Path) -> bytes:
    """Read a regular file of at most an envelope's size; anything else could go on for ever.

    Raises:
        LockstepError: FILE_UNREADABLE or LIMIT_SIZE.
    """
    from lockstep.certificate.keys import LIMITS
    from lockstep.errors import LockstepError

    try:
        if not path.is_file():
            raise LockstepError("FILE_UNREADABLE", str(path), "a regular file")
        with path.open("rb") as file:
            data = file.read(LIMITS["envelope_bytes"] + 1)
    except OSError as fault:
        raise LockstepError("FILE_UNREADABLE", str(path), "a file", fault.strerror) from None
    if len(data) > LIMITS["envelope_bytes"]:
        raise LockstepError("LIMIT_SIZE", str(path), f"at most {LIMITS['envelope_bytes']} bytes")
    return data
