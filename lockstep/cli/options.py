"""Options that several commands share: a model on a backend, a run's order, and a signature."""

import os
from collections.abc import Mapping
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
BLOCK_SIZE = typer.Option(
    None,
    "--block-size",
    min=1,
    max=4096,
    help="Token slots of a block, with a policy (default: 16).",
)
OWN_KEY = typer.Option(None, "--key", help="Signing key (default: one made for this run).")
ISSUED_AT = typer.Option(None, "--issued-at", help="YYYY-MM-DDTHH:MM:SSZ (default: now).")


def certificate(name: str) -> Path:
    """Give the option `--output` of a command that writes a certificate under this name."""
    option: Path = typer.Option(Path(name), "--output", "-o", help="Certificate to write.")
    return option


def refuse_beside_schedule(given: Mapping[str, object]) -> None:
    """Refuse options that say what a schedule says already.

    Args:
        given: values by option, None for one that was not given.

    Raises:
        typer.BadParameter: the first one that was given.
    """
    for option, value in given.items():
        if value is not None:
            raise typer.BadParameter("a schedule has it already", param_hint=option)


def require_folder(path: Path, option: str) -> None:
    """Refuse a folder that is none and cannot be made, before anything is computed.

    Raises:
        typer.BadParameter: it, or what it would be made in, is no folder that can be written to.
    """
    place = next(folder for folder in (path, *path.absolute().parents) if folder.exists())
    if not place.is_dir():
        raise typer.BadParameter(f"{place} is no folder", param_hint=option)
    if not os.access(place, os.W_OK | os.X_OK):
        raise typer.BadParameter(f"{place} cannot be written to", param_hint=option)


def require_output(path: Path, option: str = "--output") -> None:
    """Refuse a place where no file can be written, before anything is computed.

    Raises:
        typer.BadParameter: its folder is absent, or what stands there is no regular file.
    """
    # What is written is where links lead; one that leads around stays a link.
    place = Path(os.path.realpath(path))
    for folder in (path.parent, place.parent):
        if not folder.is_dir():
            raise typer.BadParameter(f"{folder} is no folder", param_hint=option)
    if path.is_dir():
        raise typer.BadParameter(f"{path} is a folder", param_hint=option)
    if (path.exists() or place.is_symlink()) and not path.is_file():
        raise typer.BadParameter(f"{path} is no regular file", param_hint=option)
