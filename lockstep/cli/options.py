"""Options that several commands share: a model on a backend, a run's order, and a signature."""

from pathlib import Path

import typer

MODEL = typer.Option(None, "--model", help="A model's folder (default: a tiny one, made here).")
BACKEND = typer.Option(
    "host", "--backend", help="host, triton, fast, fast_torch, padded_tiles or float64."
)
DTYPE = typer.Option(
    None, "--dtype", help="float32 or float16; float64 of its backend (default: the backend's)."
)
WORKLOAD = typer.Option(..., "--workload", help="A workload's file.")
SCHEDULE = typer.Option(None, "--schedule", help="A schedule's file.")
POLICY = typer.Option(
    None, "--policy", help="canonical, continuous (default), adversarial or swarm."
)
SEED = typer.Option(None, "--seed", min=0, max=(1 << 53) - 1, help="Of the policy swarm.")
OWN_KEY = typer.Option(None, "--key", help="Signing key (default: one made for this run).")
ISSUED_AT = typer.Option(None, "--issued-at", help="YYYY-MM-DDTHH:MM:SSZ (default: now).")


def certificate(name: str) -> Path:
    """Give the option `--output` of a command that writes a certificate under this name."""
    option: Path = typer.Option(Path(name), "--output", "-o", help="Certificate to write.")
    return option


def require_output(path: Path, option: str = "--output") -> None:
    """Refuse a place where no file can be written, before anything is computed.

    Raises:
        typer.BadParameter: its folder is absent, or a folder stands there.
    """
    if not path.parent.is_dir():
        raise typer.BadParameter(f"{path.parent} is no folder", param_hint=option)
    if path.is_dir():
        raise typer.BadParameter(f"{path} is a folder", param_hint=option)
