"""`lockstep bench-minimize`: this reduction beside others, on the same ten findings."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from lockstep.minimize.benchmark import Contestant, Effort


def register(app: typer.Typer) -> None:
    """Add the command `bench-minimize`."""
    app.command("bench-minimize")(bench_minimize)


def bench_minimize(
    only: list[str] = typer.Option(
        [], metavar="<str>", help="A finding, by its operator; may be repeated."
    ),
    setting: list[str] = typer.Option(
        [], metavar="<str>", help="A setting of picire; may be repeated (default: all)."
    ),
    jobs: int = typer.Option(1, min=1, max=64, help="Worker processes of each contestant."),
) -> None:
    """Reduce ten findings with this reduction and with others, side by side.

    A check is a legal case that was run on the engine; what a memo knew is none, for anyone, and
    neither is a case that the rules refuse. Exit status 3: more than half of the checks of the
    other in its best setting, or a result that is not 1-minimal.

    Example: lockstep bench-minimize --only finish_frees_nothing
    """
    from lockstep.cli import say
    from lockstep.cli.progress import bar
    from lockstep.cli.tables import Table, show_table
    from lockstep.minimize import benchmark, shrink_ray

    findings, settings = benchmark.findings(), benchmark.picire_settings()
    _require_known(only, [one.mutation for one in findings], "--only")
    _require_known(setting, settings, "--setting")
    chosen = [one for one in findings if not only or one.mutation in only]
    contestants: dict[str, Contestant] = {"lockstep": benchmark.lockstep}
    for name, values in settings.items():
        if not setting or name in setting:
            contestants[f"picire, {name}"] = benchmark.picire(**values)
    absent = shrink_ray.missing()
    if not absent:
        contestants["Shrink Ray"] = benchmark.shrink_ray
    found: dict[str, list[Effort]] = {name: [] for name in contestants}
    rows: list[tuple[str, ...]] = []
    with bar("reducing", len(chosen) * len(contestants)) as tell:
        for finding in chosen:
            for name, contestant in contestants.items():
                effort = benchmark.measure(finding, contestant, jobs)
                found[name].append(effort)
                rows.append((finding.mutation, name, *_row(effort)))
                tell(sum(map(len, found.values())))
    columns = ("finding", "by", "checks", "illegal", "seconds", "units left", "removable")
    show_table(Table(f"{len(chosen)} findings", columns, tuple(rows)))
    say()
    if absent:
        say(f"Shrink Ray: {len(chosen)} of {len(chosen)} findings not run, {absent}")
    if not _judged(found, benchmark.GOAL):
        raise typer.Exit(3)


def _require_known(given: Sequence[str], known: Collection[str], option: str) -> None:
    """Refuse a name that is none.

    Raises:
        typer.BadParameter: it, at the option.
    """
    for name in given:
        if name not in known:
            raise typer.BadParameter(f"one of {'; '.join(known)}, not {name}", param_hint=option)


def _row(effort: Effort) -> tuple[str, ...]:
    return (
        f"{effort.checks:,}",
        f"{effort.refused:,}",
        f"{effort.seconds:.1f}",
        str(effort.left),
        str(effort.removable),
    )


def _judged(found: dict[str, list[Effort]], goal: float) -> bool:
    """Tell the sums, and whether the goal was met against the best of the others."""
    from lockstep.cli import say

    sums = {name: sum(effort.checks for effort in efforts) for name, efforts in found.items()}
    for name, efforts in found.items():
        seconds = sum(effort.seconds for effort in efforts)
        illegal = sum(effort.refused for effort in efforts)
        say(f"{name}: {sums[name]:,} checks, {illegal:,} illegal cases, {seconds:.1f} seconds")
    others = {name: checks for name, checks in sums.items() if name != "lockstep"}
    best = min(others, key=lambda name: others[name])
    part = sums["lockstep"] / others[best]
    say(f"checks, lockstep / {best}: {part:.2f}, at most {goal} wanted")
    minimal = not any(effort.removable for effort in found["lockstep"])
    if not minimal:
        say("a result of lockstep is not 1-minimal")
    return minimal and part <= goal
