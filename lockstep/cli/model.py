"""`lockstep model`: write a tiny model, show what a model's folder holds."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lockstep.cli import say

if TYPE_CHECKING:
    from lockstep.engine.checkpoint import Checkpoint

_group = typer.Typer(no_args_is_help=True, help="Models in Hugging Face folders.")


def register(app: typer.Typer) -> None:
    """Add the command group to the command line."""
    app.add_typer(_group, name="model")


@_group.command("make-tiny")
def make_tiny(
    folder: Annotated[Path, typer.Argument(help="Folder to write; absent as yet, or empty.")],
    seed: Annotated[int, typer.Option(help="Other seed, other weights.")] = 0,
    head_dim: Annotated[int, typer.Option(help="Even; some engines ask for 64.")] = 16,
    dtype: Annotated[str, typer.Option(help="Stored: float32, float16 or bfloat16.")] = "float32",
    tied: Annotated[bool, typer.Option("--tied", help="Let the head be the embedding.")] = False,
) -> None:
    """Write a tiny seeded model of the Qwen3 architecture, its tokens being bytes.

    The same options give the same bytes on every machine.

    Example: lockstep model make-tiny results/tiny
    """
    from lockstep.engine import tiny

    model = tiny.TinyModel(seed=seed, head_dim=head_dim, dtype=dtype, tied=tied)
    written = tiny.make_tiny(folder, model)
    for path in sorted(written.iterdir()):
        say(f"  {path.name:24} {path.stat().st_size:>8} bytes")
    say(f"{written}: see it with `lockstep model show {written}`")


@_group.command()
def show(
    folder: Annotated[Path, typer.Argument(help="Folder with config.json and weights.")],
    dtype: Annotated[str, typer.Option(help="Compute dtype: float32 or float16.")] = "float32",
) -> None:
    """Read a model whole, as a run does, and show sizes, dtypes and digests.

    Example: lockstep model show results/tiny
    """
    from lockstep.engine.checkpoint import read_checkpoint

    _show(read_checkpoint(folder, dtype))
    _show_tokenizer(folder)


def _show(checkpoint: "Checkpoint") -> None:
    from dataclasses import fields

    from lockstep.engine.weights import parameters

    for field in fields(checkpoint.config):
        say(f"  {field.name:24} {getattr(checkpoint.config, field.name)}")
    say(f"  {'parameters':24} {parameters(checkpoint.config):,}")
    say(f"  {'stored dtype':24} {checkpoint.stored_dtype}")
    say(f"  {'compute dtype':24} {checkpoint.dtype}")
    say("files:")
    for name, digest in checkpoint.files.items():
        say(f"  {digest} {name}")
    say("model:")
    say(f"  {checkpoint.sha256}")


def _show_tokenizer(folder: Path) -> None:
    """Tell the tokenizer's digest; a run on tokens needs none, so that it may be absent."""
    from lockstep.engine.model_files import read_bytes, sha256
    from lockstep.engine.tokenizer import TOKENIZER
    from lockstep.limits import MODEL_INDEX_BYTES

    path = folder / TOKENIZER
    say("tokenizer (not part of the model's digest):")
    present = path.exists()
    say(f"  {sha256(read_bytes(path, MODEL_INDEX_BYTES)) if present else 'none'} {TOKENIZER}")
