"""`lockstep bench-convert`: conversions beside memcpy and beside NumPy, torch and einops."""

from __future__ import annotations

import typer


def register(app: typer.Typer) -> None:
    """Add the command `bench-convert`."""
    app.command("bench-convert")(bench_convert)


def bench_convert(
    size: int = typer.Option(1024, min=1, help="MiB of the cache."),
    rounds: int = typer.Option(5, min=1, help="Turns of each contestant."),
    threads: int | None = typer.Option(None, min=1, help="Of everyone; else one a core."),
) -> None:
    """Time conversions in one run, in turn; ratios are of medians' rounds.

    Where runs are 64 bytes or longer, at least 0.8 of memcpy's bandwidth with as many threads;
    nowhere slower than the best of NumPy, torch and einops on the same map. Exit status 3: one of
    them is missed. Takes four times the memory of the cache.

    Example: lockstep bench-convert --size 64 --rounds 3
    """
    from lockstep.cli import say
    from lockstep.cli.bench import spread
    from lockstep.convert import kernels
    from lockstep.convert.benchmark import CASES, LEAST_SHARE, timed

    say(f"engine: {'numba' if kernels.installed() else 'numpy'}; {size} MiB")
    missed = 0
    for case in CASES:
        one = timed(case, size << 20, rounds, threads)
        missed += not one.holds
        say(f"{case.source} to {case.destination}, runs of {one.run} bytes")
        say(f"  memcpy's bandwidth: {spread(one.ratio('lockstep', 'memcpy'))}")
        for other in one.seconds:
            if other not in ("lockstep", "memcpy"):
                best = ", the best of the others" if other == one.best_other else ""
                say(f"  as fast as {other}: {spread(one.ratio('lockstep', other))}{best}")
    if missed:
        say(f"{missed} of {len(CASES)} are below {LEAST_SHARE} of memcpy, or slower than another")
        raise typer.Exit(3)
