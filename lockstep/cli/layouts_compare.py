"""`lockstep layouts diff | export | import`: bytes and tensors held against declared layouts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from lockstep.cli.layouts_files import REFERENCE, as_document, numbers, read_bytes
from lockstep.cli.layouts_geometry import with_geometry

if TYPE_CHECKING:
    from lockstep.layouts.geometry import Geometry


def register(group: typer.Typer) -> None:
    """Add the commands to the group `layouts`."""
    group.command("diff")(diff)
    group.command("export")(export)
    group.command("import")(import_)


@with_geometry
def diff(
    reference: Path = typer.Argument(help="The source's buffers, one after the other."),
    given: Path = typer.Argument(help="Bytes that are said to hold the same cache."),
    src: str = typer.Option(..., "--as", help="Layout of the first file."),
    dst: str = typer.Option(..., "--like", help="Layout that the second is said to have."),
    as_json: bool = typer.Option(False, "--json", help="Print a document."),
    *,
    geometry: Geometry,
) -> None:
    """Say which confusion of layouts explains bytes that are not as they should be.

    Both files hold the request's own blocks; `lockstep layouts convert` takes them out of a pool.
    Exit status 0 where they are as due, 3 where they are not.

    Example: lockstep layouts diff a.kv b.kv --as vllm:NHD --like vllm:HND --tokens 64
    """
    from lockstep.cli import say
    from lockstep.convert import confusion, told
    from lockstep.convert.names import resolve

    found = confusion.difference(
        resolve(src), resolve(dst), geometry, read_bytes(reference, None), read_bytes(given, None)
    )
    if as_json:
        say(as_document(told.document(found)))
    else:
        for line in told.describe(found):
            say(line)
    if not found.as_due:
        raise typer.Exit(3)


@with_geometry
def export(
    name: str = typer.Argument(help=f"Layout. {REFERENCE}"),
    *,
    geometry: Geometry,
) -> None:
    """Print a layout's buffers as DLPack describes tensors, and the engines' names for it.

    Example: lockstep layouts export vllm:LBNHC --tokens 64
    """
    from lockstep.cli import say
    from lockstep.convert.buffers import AS_DECLARED
    from lockstep.convert.names import names, resolve, strided

    layout = resolve(name)
    known = [one for one, member in names().items() if f"{member}.toml" == layout.source_path]
    tensors = [one.document() for one in strided(layout, geometry, AS_DECLARED)]
    say(as_document({"layout": layout.source_path, "names": known, "tensors": tensors}))


@with_geometry
def import_(
    axes: str = typer.Option(..., help="The axes in the shape's order, as KBNHD or KLT(HD)."),
    shape: str = typer.Option(..., help="Extents: 5,2,16,4,16."),
    strides: str = typer.Option(..., help="Strides in elements, as DLPack has them."),
    *,
    geometry: Geometry,
) -> None:
    """List the declared layouts of which a tensor of these axes, shape and strides can be one.

    L layer, B block, N token in its block, T token, H KV head, D head dimension, G and X vector
    and place in it where these part D, K keys and values, C both joined along D, R rank, 1 a unit
    axis; in brackets those that one axis holds. A shape without named axes tells no layout. Of a
    pool, --tokens are those of all its blocks.

    Example: lockstep layouts import --axes KBNHD --shape 2,17,16,4,16 \
      --strides 17408,1024,64,16,1
    """
    from lockstep.cli import say
    from lockstep.convert.names import by_strides
    from lockstep.errors import LockstepError

    found = by_strides(geometry, axes, numbers(shape, "--shape"), numbers(strides, "--strides"))
    for name in found:
        say(name)
    if not found:
        hint = (
            "`lockstep layouts export NAME` prints what a declared one has at this geometry; "
            "--tokens of a pool are those of all its blocks."
        )
        got = f"{axes}, shape {shape}, strides {strides}"
        raise LockstepError("BAD_VALUE", "--strides", "those of a declared layout", got, hint)
