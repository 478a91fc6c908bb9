"""`lockstep mutation`: faults put into the engine, one at a time, and who notices."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import typer

from lockstep.cli import options


def register(app: typer.Typer) -> None:
    """Add the command `mutation`."""
    app.command("mutation")(mutation)


def mutation(
    operators: str = typer.Option("", help="Such as refcount_leak,hash_without_salt (all)."),
    observers: str = typer.Option("", help="Such as MR1,GOLDEN (default: all)."),
    jobs: int | None = typer.Option(None, min=1, help="Processes (default: one a core)."),
    out: Path = typer.Option(Path("results/mutation"), "--out", help="Folder of the records."),
    fresh: bool = typer.Option(False, "--fresh", help="Make trials anew that are recorded."),
    certificate: Path | None = typer.Option(None, help="Also sign the matrix, into a file."),
    key: Path | None = typer.Option(None, help="Signing key (default: your configuration's)."),
    issued_at: str | None = typer.Option(None, help="YYYY-MM-DDTHH:MM:SSZ (default: now)."),
) -> None:
    """Look at each mutation of the engine with each observer; an interrupted campaign goes on.

    Exit status 0: every operator was killed or is proved equivalent, and the observers agree on
    the engine as it is; 3: not so.

    Example: lockstep mutation --operators refcount_leak,draw_keyed_by_step
    """
    from lockstep.certificate import keys, times
    from lockstep.cli.progress import bar
    from lockstep.mutation import campaign
    from lockstep.mutation.operators import operators as known

    options.require_folder(out, "--out")
    signer = None
    if certificate is not None:
        options.require_output(certificate, "--certificate")
        issued_at = times.claimed(issued_at)
        # Before anything runs: a key that is missing should not cost minutes.
        signer = keys.load_key(key or keys.config_folder() / "key.pem")
    if fresh:
        (out / campaign.RESULTS).unlink(missing_ok=True)
    wanted = _names(operators)
    whole = 1 + len(wanted or known())
    with bar("trials", whole) as tell:
        trials = campaign.run_campaign(
            out, wanted, _names(observers), jobs, lambda done, record: tell(done)
        )
    good = _tell(trials)
    if certificate is not None and signer is not None and issued_at is not None:
        good = _sign(certificate, trials, signer, issued_at) and good
    if not good:
        raise typer.Exit(3)


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _tell(trials: Sequence[dict[str, Any]]) -> bool:
    """Print each operator's verdict and what killed it, and give whether all is explained."""
    from collections import Counter

    from lockstep.claims.mutation import judged
    from lockstep.claims.mutation_totals import baselines, contradicted
    from lockstep.cli import say
    from lockstep.cli.tables import Table, show_table

    matrix = judged(trials)
    rows = []
    for row, trial in zip(matrix.rows, trials[1:], strict=True):
        steps = (cell["steps"] for cell in row["cells"] if cell["observer"] in row["killed_by"])
        seconds = sum(cell["milliseconds"] for cell in trial["cells"]) / 1000
        first, killers = str(min(steps, default="-")), ", ".join(row["killed_by"])
        rows.append((row["verdict"], row["operator"], first, f"{seconds:.0f}", killers))
    columns = ("verdict", "operator", "steps", "s", "killed by")
    show_table(Table("operators", columns, tuple(rows)))
    apart = baselines()
    unfit = [cell["observer"] for cell in matrix.control if cell["seen"] == "differs"]
    unfit = [name for name in unfit if name not in apart]
    for name in unfit:
        say(f"{name} differs on the engine as it is")
    proxies = contradicted(matrix)
    for name in proxies:
        say(f"{name} is declared the same under every schedule, and is not")
    counted = Counter(row[0] for row in rows)
    say(f"{len(rows)} operators: {', '.join(f'{n} {word}' for word, n in counted.items())}")
    return not unfit and not proxies and set(counted) <= {"killed", "equivalent"}


def _sign(path: Path, trials: Sequence[dict[str, Any]], signer: Any, issued_at: str) -> bool:
    """Write the certificate, have it verified, and give whether it is."""
    from lockstep.cli.signing import conclude
    from lockstep.mutation.campaign import sources_sha256
    from lockstep.mutation.issue import issue_mutation

    issued = issue_mutation(
        trials,
        [signer],
        sources_sha256=sources_sha256(),
        issued_at=issued_at,
        command="lockstep mutation",
    )
    return conclude(path, issued.certificate, [issued.predicate["verdict"]], signer) == 0
