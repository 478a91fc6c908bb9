"""`lockstep mutation`: faults put into the engine, one at a time, and who notices."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import typer


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

    signer = None
    if certificate is not None:
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

    from lockstep.claims.mutation_totals import baselines, outcome, verdict_of
    from lockstep.cli import say
    from lockstep.cli.tables import Table, show_table
    from lockstep.mutation.declaration import proofs

    control, *others = trials
    fit = {cell["observer"] for cell in control["cells"] if cell["seen"] == "agrees"}
    apart = baselines()
    unfit = [
        cell["observer"]
        for cell in control["cells"]
        if cell["seen"] == "differs" and cell["observer"] not in apart
    ]
    rows, good = [], not unfit
    for trial in others:
        cells = [{**cell, "outcome": outcome(cell, fit)} for cell in trial["cells"]]
        said, killers = verdict_of(cells, proofs().get(trial["operator"]) is not None)
        good = good and said in ("killed", "equivalent")
        first = min((c["steps"] for c in cells if c["observer"] in killers), default="-")
        seconds = sum(cell["milliseconds"] for cell in cells) / 1000
        rows.append((said, trial["operator"], str(first), f"{seconds:.0f}", ", ".join(killers)))
    columns = ("verdict", "operator", "steps", "s", "killed by")
    show_table(Table("operators", columns, tuple(rows)))
    for name in unfit:
        say(f"{name} differs on the engine as it is")
    counted = Counter(row[0] for row in rows)
    say(f"{len(rows)} operators: {', '.join(f'{n} {word}' for word, n in counted.items())}")
    return good


def _sign(path: Path, trials: Sequence[dict[str, Any]], signer: Any, issued_at: str) -> bool:
    """Write the certificate, have it verified, and give whether it is."""
    from lockstep.certificate.write import write_file
    from lockstep.cli import say
    from lockstep.cli.hunt import verified_with
    from lockstep.mutation.campaign import sources_sha256
    from lockstep.mutation.issue import issue_mutation

    issued = issue_mutation(
        trials,
        [signer],
        sources_sha256=sources_sha256(),
        issued_at=issued_at,
        command="lockstep mutation",
    )
    write_file(path, issued.certificate)
    say(f"wrote {path}, {len(issued.certificate):,} bytes: {issued.predicate['verdict']}")
    result = verified_with(path, signer, None, path.parent)
    say(f"lockstep-verify, under a policy that trusts this key alone: {result['code']}")
    return int(result["exit"]) == 0
