"""`lockstep show`: a certificate's payload for people, under a banner unless just verified."""

import base64
import json
import tempfile
from pathlib import Path
from typing import Any

import typer

UNVERIFIED = "NOT VERIFIED"


def register(app: typer.Typer) -> None:
    """Add the command `show`."""

    @app.command()
    def show(
        certificate: Path = typer.Argument(..., help="A *.cert.json file."),
        trust: Path | None = typer.Option(None, help="Trust policy for the verification."),
        rows: bool = typer.Option(True, help="List the rows."),
    ) -> None:
        """Verify a certificate and print its payload for people.

        Example: lockstep show evidence/exact-transformations.cert.json --trust evidence/trust.json
        """
        from lockstep.certificate.verifier import verify
        from lockstep.cli import say

        # The bytes that are shown are the bytes that were verified, whatever happens to the file.
        data = _read(certificate)
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder) / "shown.cert.json"
            copy.write_bytes(data)
            options = ["--trust", str(trust)] if trust else []
            result = verify([copy], *options).results[0]
        verified = result["exit"] == 0
        banner = f"VERIFIED: {result['verdict']}" if verified else f"{UNVERIFIED}: {result['code']}"
        say(f"=== {banner} ===")
        try:
            payload = json.loads(base64.b64decode(json.loads(data)["payload"]))
            lines = describe(payload, rows)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            say("The payload cannot be read as a certificate of a known kind.")
            raise typer.Exit(3) from None
        for line in lines:
            say(printable(line))
        say(f"=== {banner} ===")
        if not verified:
            raise typer.Exit(3)


def _read(path: Path) -> bytes:
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


def printable(text: str) -> str:
    """Escape everything outside printable ASCII, so that no document writes to a terminal."""
    return "".join(c if " " <= c <= "~" else f"\\u{{{ord(c):x}}}" for c in text)


def describe(statement: dict[str, Any], rows: bool) -> list[str]:
    """Give the lines that show a hunt's statement."""
    predicate = statement["predicate"]
    geometry = ", ".join(f"{name} {value}" for name, value in predicate["geometry"].items())
    lines = [
        f"kind       {statement['predicateType']}",
        f"issued at  {predicate['issued_at']} (the signer's claim)",
        f"set        {predicate['set']}",
        f"geometry   {geometry}",
        "",
        "layouts",
    ]
    for layout in predicate["layouts"]:
        shapes = "; ".join(
            f"{shape['tensor']} {shape['extents']}" for shape in layout["derived"]["native_shapes"]
        )
        padding = layout["derived"]["padding_positions"]
        lines.append(f"  {layout['name']:<24} {shapes or 'not at this geometry'} padding {padding}")
    if rows:
        lines += ["", "rows"]
        for row in predicate["rows"]:
            words = row["frontier_code"] or ", ".join(row["transformations"])
            lines.append(f"  {row['verdict']:<12} {row['pair_id']:<46} {words}")
    lines += ["", "counts"]
    for name, value in predicate["counts"].items():
        shown = ", ".join(value) if isinstance(value, list) else value
        lines.append(f"  {name:<26} {shown}")
    lines += ["", "checks"]
    lines += [f"  {check['outcome']:<9} {check['name']}" for check in predicate["checks"]]
    held = sum(1 for entry in predicate["falsifications"] if entry["actual"] == entry["expected"])
    lines += ["", f"falsifications: {held} of {len(predicate['falsifications'])} as registered"]
    return lines
