"""`lockstep fuzz-verify`: derive mutants of a certificate and hold the codes against an oracle."""

import typer


def register(app: typer.Typer) -> None:
    """Add the command `fuzz-verify`."""
