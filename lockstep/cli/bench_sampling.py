"""`lockstep bench-sampling`: replay in batches beside the plain path, and never a disagreement."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from lockstep.cli.options import require_folder

if TYPE_CHECKING:
    from lockstep.sampling.benchmark import Agreement, Ratios


def register(app: typer.Typer) -> None:
    """Add the command `bench-sampling`."""
    app.command("bench-sampling")(bench_sampling)


def bench_sampling(
    runs: int = typer.Option(7, min=1, max=1000, help="Pairs of each comparison."),
    arguments: int = typer.Option(10_000_000, min=1, help="Exponentials to compare."),
    scale: int = typer.Option(20_000, min=1, help="Tokens that the plain path judges in a run."),
    seed: int = typer.Option(1, min=0, help="What arguments are drawn from."),
    jobs: int = typer.Option(1, "--jobs", min=1, max=64, help="Processes side by side."),
    output: Path = typer.Option(
        Path("results/bench-sampling.json"), "-o", "--output", help="Where the ratios go."
    ),
) -> None:
    """Time replay in batches against the plain path, in turn, and compare exponentials with it.

    Ratios are the plain path's time for a position over the batch's: 20 is a twentieth of the time.
    They hold for this machine and its load, and are no claim. Beside it stands the plain path with
    the decimal library's own exponential in place of ours. Exit status 3: a disagreement, or a
    median of the plain path below its floor.

    Example: lockstep bench-sampling --arguments 100000 --jobs 2
    """
    from lockstep.certificate.write import write_file
    from lockstep.cli import say
    from lockstep.cli.progress import bar
    from lockstep.sampling import benchmark

    require_folder(output.parent, "--output")
    with bar("timing", len(benchmark.SIZES)) as tell:
        found: list[Ratios] = []
        for done, size in enumerate(benchmark.SIZES, 1):
            found += benchmark.race(size, runs, scale)
            tell(done)
    for one in found:
        say(_told(one))
    if jobs > 1:
        say(f"{jobs} processes are {benchmark.scaling(jobs):.2f} times as fast as one (wall time)")
    with bar("comparing", arguments) as tell:
        agreement = benchmark.compare(arguments, seed, jobs, lambda so_far: tell(so_far.arguments))
    say(
        f"{agreement.arguments:,} exponentials: {agreement.differing} differ from the exact ones; "
        f"{agreement.undecided:,} were left to the exact path"
    )
    output.parent.mkdir(parents=True, exist_ok=True)
    write_file(output, _document(found, agreement))
    slow = [one for one in found if one.name == benchmark.PLAIN and one.median < _floor(one)]
    if agreement.differing or slow:
        raise typer.Exit(3)


def _told(one: Ratios) -> str:
    from lockstep.sampling.benchmark import PLAIN

    spread = f"{min(one.ratios):.1f} to {max(one.ratios):.1f}"
    wanted = f", at least {_floor(one):g} wanted" if one.name == PLAIN else ""
    return f"{one.tokens} tokens: {one.name} / batch: median {one.median:.1f} ({spread}){wanted}"


def _floor(one: Ratios) -> float:
    from lockstep.sampling.benchmark import FLOORS

    return FLOORS[one.tokens]


def _document(found: list[Ratios], agreement: Agreement) -> bytes:
    import json

    document = {
        "ratios": [one._asdict() for one in found],
        "exponentials": agreement._asdict(),
    }
    return (json.dumps(document, indent=1) + "\n").encode()
