"""`lockstep measure`: probes of servers, and what one costs against another."""

from __future__ import annotations

import typer

from lockstep.cli import measure_claims, measure_probes, measure_throughput

_group = typer.Typer(no_args_is_help=True)
"""Its help is that of the command that it is by itself, which probes."""


def register(app: typer.Typer) -> None:
    """Add the commands under `measure`."""
    measure_probes.register(_group)
    measure_throughput.register(_group)
    measure_claims.register(_group)
    app.add_typer(_group, name="measure")
