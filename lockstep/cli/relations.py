"""`lockstep relations`: what must not change when a schedule does, and whether it does."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from lockstep.cli import options

if TYPE_CHECKING:
    from lockstep.relations.observation import Observation

RUNS = "runs.jsonl"
CONTROLS = "controls.jsonl"
MODEL = "model"
SHORT = {"holds": "holds", "violated": "VIOLATED", "vacuous": "VACUOUS", "not_run": "not run"}


def register(app: typer.Typer) -> None:
    """Add the command `relations`."""
    app.command("relations")(relations)


def relations(
    model: Path | None = options.MODEL,
    backend: str = options.BACKEND,
    dtype: str | None = options.DTYPE,
    block_sizes: str | None = typer.Option(None, help="Of 8,16,32,64,128 (default: all)."),
    names: str | None = typer.Option(
        None, "--relations", help="Such as MR1,PATH-EQ (default: all)."
    ),
    seeds: int = typer.Option(1, min=1, max=1000, help="Runs of each, from seed 0."),
    jobs: int | None = typer.Option(None, min=1, help="Processes (default: one a core)."),
    out: Path = typer.Option(Path("results/relations"), "--out", help="Folder of the records."),
    controls: bool = typer.Option(
        True, help="Also run over backends that are not invariant, which must show."
    ),
    fresh: bool = typer.Option(False, "--fresh", help="Make runs anew that are recorded already."),
    certificate: Path | None = typer.Option(None, help="Also sign what was recorded, into a file."),
    key: Path | None = typer.Option(None, help="Signing key (default: your configuration's)."),
) -> None:
    """Run relations between executions of the engine; an interrupted campaign goes on.

    Exit status 0: every run held or was not run, and every required control was caught; 3: not so.

    Example: lockstep relations --block-sizes 8,16 --relations MR1,MR3
    """
    from lockstep.relations import run

    chosen, sizes = _names(names), _sizes(block_sizes)
    options.require_folder(out, "--out")
    signer = None
    if certificate is not None:
        from lockstep.certificate import keys
        from lockstep.claims.invariance import require_room

        options.require_output(certificate, "--certificate")
        require_room(seeds)
        # Before anything runs: a key that is missing should not cost minutes.
        signer = keys.load_key(key or keys.config_folder() / "key.pem")
    out.mkdir(parents=True, exist_ok=True)
    folder = model or _tiny(out / MODEL)
    plans = run.plans(folder, backend, dtype, chosen, sizes, range(seeds))
    observations = _run(plans, out / RUNS, jobs, fresh)
    _tell(observations)
    caught, shown = True, []
    if controls:
        shown = _run(run.control_plans(folder, dtype), out / CONTROLS, jobs, fresh)
        caught = _tell_controls(shown)
    status = 0
    if certificate is not None and signer is not None:
        from lockstep.cli.relations_certify import certify

        status = certify(certificate, model, observations, shown, signer, backend, dtype)
    if not caught or any(entry.outcome in ("violated", "vacuous") for entry in observations):
        status = 3
    if status:
        raise typer.Exit(status)


def _tiny(folder: Path) -> Path:
    from lockstep.engine.tiny import make_tiny

    return folder if folder.exists() else make_tiny(folder)


def _names(text: str | None) -> list[str]:
    """Give the relations that are asked for, none where all are."""
    from lockstep.relations.catalogue import declared

    return _chosen("--relations", text, list(declared()))


def _sizes(text: str | None) -> list[int]:
    """Give the block sizes that are asked for, none where all are."""
    from lockstep.relations.catalogue import block_sizes

    return [int(size) for size in _chosen("--block-sizes", text, list(map(str, block_sizes())))]


def _chosen(option: str, text: str | None, known: list[str]) -> list[str]:
    """Give the names of a list with commas, each of them known, and once.

    Raises:
        LockstepError: USAGE, a name is none of these, or stands twice; there is none at all.
    """
    from lockstep.errors import LockstepError

    if text is None:
        return []
    names = [name.strip() for name in text.split(",")]
    for name in names:
        if name not in known:
            hint = "Leave the option out for all of them."
            expected = f"names of {', '.join(known)}, with commas"
            raise LockstepError("USAGE", option, expected, repr(name), hint)
    if len(set(names)) < len(names):
        raise LockstepError("USAGE", option, "each name once", text, "Leave out the repetition.")
    return names


def _run(
    plans: Sequence[object], results: Path, jobs: int | None, fresh: bool
) -> list[Observation]:
    """Make the runs under a bar; Ctrl-C says where what is done is kept."""
    import sys
    from typing import Any, cast

    from lockstep.cli.progress import bar
    from lockstep.relations import run

    if fresh:
        results.unlink(missing_ok=True)
    done = 0

    def note(count: int, observation: Observation) -> None:
        nonlocal done
        done = count
        tell(count)

    def warn(text: str) -> None:
        print(f"lockstep: {text}", file=sys.stderr)

    try:
        with bar(results.stem, len(plans)) as tell:
            return run.run_plans(cast(Any, plans), results, jobs, note, warn)
    except KeyboardInterrupt:
        kept = f"{done} of {len(plans)} runs are in {results}; the same command goes on"
        print(f"lockstep: {kept}", file=sys.stderr)
        raise


def _tell(observations: Sequence[Observation]) -> None:
    """Print a line for each relation, then what did not hold, then the sums."""
    from collections import Counter

    from lockstep.cli import say
    from lockstep.cli.tables import Table, show_table
    from lockstep.relations.catalogue import declared

    sizes = sorted({entry.block_size for entry in observations})
    rows = []
    for relation in declared().values():
        own = [entry for entry in observations if entry.relation == relation.name]
        if own:
            cells = [_worst(entry for entry in own if entry.block_size == size) for size in sizes]
            positions = sum(entry.positions for entry in own)
            rows.append((relation.name, relation.title, relation.claim, *cells, f"{positions:,}"))
    columns = ("relation", "varies", "claim", *map(str, sizes), "positions")
    show_table(
        Table(f"relations at block sizes {', '.join(map(str, sizes))}", columns, tuple(rows))
    )
    for entry in observations:
        if entry.outcome != "holds":
            say(f"{entry.relation} at {entry.block_size}, seed {entry.seed}: {_why(entry)}")
    counts = Counter(entry.outcome for entry in observations)
    told = ", ".join(f"{counts[outcome]} {name}" for outcome, name in SHORT.items())
    say(f"{len(observations)} runs: {told}")
    executions = sum(entry.executions for entry in observations)
    positions = sum(entry.positions for entry in observations)
    say(f"{executions:,} executions, {positions:,} positions compared bit for bit")


def _tell_controls(observations: Sequence[Observation]) -> bool:
    """Print what came of the controls, and give whether those that must be caught were."""
    from lockstep.cli import say
    from lockstep.relations.catalogue import controls

    every = True
    for control, entry in zip(controls(), observations, strict=True):
        caught = entry.outcome == "violated"
        every = every and (caught or not control.required)
        shown = f"caught, {entry.differences:,} of {entry.positions:,} positions differ"
        missed = "NOT CAUGHT" if control.required else "NOT_COMPARABLE, holds on this CPU"
        name = f"control {control.backend} under {control.relation} at {control.block_size}"
        say(f"{name}: {shown if caught else missed}")
    return every


def _worst(entries: Iterable[Observation]) -> str:
    outcomes = {entry.outcome for entry in entries}
    ranked = ("violated", "vacuous", "not_run", "holds")
    return SHORT[next(outcome for outcome in ranked if outcome in outcomes)] if outcomes else "-"


def _why(entry: Observation) -> str:
    """Give why a run did not hold."""
    first = entry.first_difference
    if first is None:
        return f"{SHORT[entry.outcome]}: {entry.reason}"
    place = "" if first.position is None else f", position {first.position}"
    layer = "" if first.layer is None else f", layer {first.layer}"
    request = f", request {first.request}" if first.request else ""
    where = f"{first.execution}{request}{place}{layer}"
    return (
        f"{SHORT[entry.outcome]}: {entry.differences} of {entry.positions} positions; first in "
        f"{where}: {first.part} {first.got}, expected {first.expected}"
    )
