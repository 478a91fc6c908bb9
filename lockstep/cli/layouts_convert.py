"""`lockstep layouts plan | convert`: caches from one layout to another."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from lockstep.cli import options
from lockstep.cli.layouts_files import REFERENCE, as_document, header, numbers, read_bytes
from lockstep.cli.layouts_geometry import sizes, with_geometry

if TYPE_CHECKING:
    from lockstep.convert.buffers import Placement
    from lockstep.convert.plan import Plan
    from lockstep.layouts.geometry import Geometry

SRC = typer.Argument(help=f"Layout of the source. {REFERENCE}")
DST = typer.Argument(help="Layout of the destination, likewise.")
SOURCE_POOL = typer.Option(None, min=1, help="Blocks (tokens) of the source's pool.")
SOURCE_TABLE = typer.Option(None, help="Numbers in the source's pool, by block: 7,3,12.")
DESTINATION_POOL = typer.Option(None, min=1, help="Blocks (tokens) of the destination's pool.")
DESTINATION_TABLE = typer.Option(None, help="Numbers in the destination's pool, by block.")

COMPILED = 256 << 20
"""Bytes below which NumPy is done before Numba has compiled its kernels."""


def register(group: typer.Typer) -> None:
    """Add the commands to the group `layouts`."""
    group.command("plan")(plan)
    group.command("convert")(convert)


@with_geometry
def plan(
    src: str = SRC,
    dst: str = DST,
    code: str | None = typer.Option(None, help="Print a program instead: numpy or torch."),
    as_json: bool = typer.Option(False, "--json", help="Print the plan as a document."),
    source_pool: int | None = SOURCE_POOL,
    source_table: str | None = SOURCE_TABLE,
    destination_pool: int | None = DESTINATION_POOL,
    destination_table: str | None = DESTINATION_TABLE,
    *,
    geometry: Geometry,
) -> None:
    """Plan a conversion as copies of runs of bytes; refused where no exact map exists.

    Sizes that are not given are those of the set engines.

    Examples:
      lockstep layouts plan vllm:LBNHC lmcache:KV_2LTD --tokens 4096
      lockstep layouts plan vllm/vllm-0.22-nhd,block=24 vllm/vllm-0.22-nhd --code torch
    """
    from lockstep.cli import say
    from lockstep.convert.code import program
    from lockstep.convert.document import document
    from lockstep.errors import LockstepError

    if code is not None and as_json:
        raise LockstepError("USAGE", "--json", "a document or a program", "--code as well")
    made = _plan(
        src,
        dst,
        geometry,
        _placement(source_pool, source_table, "--source-table"),
        _placement(destination_pool, destination_table, "--destination-table"),
    )
    if code is not None:
        say(program(made, code, _pair(made, src, dst)).rstrip("\n"))
    elif as_json:
        say(as_document(document(made)))
    else:
        for line in _lines(made, _pair(made, src, dst)):
            say(line)


@with_geometry
def convert(
    src: str = SRC,
    dst: str = DST,
    input_file: Path = typer.Option(
        ..., "--input", help="The source's buffers, in the plan's order."
    ),
    output_file: Path = typer.Option(..., "--output", help="Where the destination's are written."),
    engine: str | None = typer.Option(None, help="numba or numpy; else numba where it pays."),
    threads: int | None = typer.Option(None, min=1, help="At most so many; else one a core."),
    source_pool: int | None = SOURCE_POOL,
    source_table: str | None = SOURCE_TABLE,
    destination_pool: int | None = DESTINATION_POOL,
    destination_table: str | None = DESTINATION_TABLE,
    *,
    geometry: Geometry,
) -> None:
    """Convert a file of bytes: the buffers of one layout, one after the other, to another's.

    A file whose name ends in .npy is an array of NumPy's, of any type when read, of bytes when
    written. Padding of the destination is zero. `lockstep layouts plan --json` lists the buffers.

    Example: lockstep layouts convert vllm:LBNHC lmcache:KV_2LTD --input a.kv --output b.kv
    """
    import numpy as np

    from lockstep.certificate.write import write_file
    from lockstep.cli import say
    from lockstep.convert import execute

    options.require_output(output_file)
    made = _plan(
        src,
        dst,
        geometry,
        _placement(source_pool, source_table, "--source-table"),
        _placement(destination_pool, destination_table, "--destination-table"),
    )
    came = read_bytes(input_file, made.source.bytes)
    # Both sides are one piece of memory each, which is all that is held.
    begun = header(output_file, made.destination.bytes)
    written = np.zeros(len(begun) + made.destination.bytes, dtype=np.uint8)
    written[: len(begun)] = np.frombuffer(begun, dtype=np.uint8)
    to = written[len(begun) :]
    source, destination = (
        [whole[a:b] for a, b in pairwise(np.cumsum([0, *(one.bytes for one in side.buffers)]))]
        for whole, side in ((came, made.source), (to, made.destination))
    )
    if engine is None and made.bytes < COMPILED:
        engine = "numpy"
    execute.convert(made, source, destination, threads=threads, engine=engine)
    write_file(output_file, written.data, mode=None)
    say(f"{output_file}: {made.destination.bytes:,} bytes, {made.padding:,} of them padding")


def _plan(
    src: str, dst: str, geometry: Geometry, source: Placement, destination: Placement
) -> Plan:
    from lockstep.convert import plan as plans
    from lockstep.convert.names import resolve

    return plans.plan(resolve(src), resolve(dst), geometry, source, destination)


def _placement(pool: int | None, table: str | None, option: str) -> Placement:
    from lockstep.convert.buffers import Placement

    return Placement(pool, None if table is None else numbers(table, option))


def _pair(made: Plan, src: str, dst: str) -> str:
    """Name both layouts, with the changes that were asked for."""
    sides = ((made.source.layout, src), (made.destination.layout, dst))
    return " to ".join(",".join((one.name, *asked.split(",")[1:])) for one, asked in sides)


def _lines(made: Plan, pair: str) -> list[str]:
    """Tell a plan in lines."""
    from lockstep.convert.document import document

    text = document(made)
    lines = [
        f"{pair}, {sizes(made.geometry)}",
        f"  {made.bytes:,} bytes in {sum(copy.runs for copy in made.copies):,} runs, "
        f"{len(made.copies)} copies; {made.padding:,} bytes of padding stay as they are",
        f"  buffers: {len(made.source.buffers)} of the source, {len(made.destination.buffers)} of "
        "the destination",
    ]
    for copy in text["copies"][:20]:
        came, to = copy["source"], copy["destination"]
        lines.append(
            f"  {copy['length']:,} bytes from {came['buffer']}+{came['offset']:,} to "
            f"{to['buffer']}+{to['offset']:,}"
        )
        lines += [
            f"    {loop['times']:,} times, steps {_step(loop['source'])} and "
            f"{_step(loop['destination'])}"
            for loop in copy["loops"]
        ]
    if len(made.copies) > 20:
        lines.append(f"  and {len(made.copies) - 20} copies more; --json has all of them")
    return lines


def _step(step: dict[str, int]) -> str:
    return f"{step['buffer']}+{step['offset']:,}" if step["buffer"] else f"{step['offset']:,}"
