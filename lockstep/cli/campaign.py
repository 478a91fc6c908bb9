"""`lockstep fuzz`: cases drawn from seeds, each run twice and its requests alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from lockstep.cli import options

if TYPE_CHECKING:
    from lockstep.fuzz.campaign import Ran
    from lockstep.fuzz.executors import Executor
    from lockstep.fuzz.record import Record
    from lockstep.fuzz.worker import Subject

RECORDS = "campaign.sqlite3"
SHOWN_FAILURES = 20


def register(app: typer.Typer) -> None:
    """Add the command `fuzz`."""
    app.command("fuzz")(fuzz)


def fuzz(
    corpus: Path = typer.Option(
        Path("results/fuzz"), "--corpus", help="Folder of records, kept cases and failures."
    ),
    seeds: int | None = typer.Option(
        None,
        min=1,
        max=4096,
        help="Of each population (default: the specification's); probes as many as there are.",
    ),
    model: Path | None = typer.Option(
        None, "--model", help="A model's folder (default: a tiny one, made here)."
    ),
    backend: str = typer.Option("host", help="host, triton, fast, fast_torch or padded_tiles."),
    dtype: str | None = typer.Option(None, help="float32 or float16 (default: the backend's)."),
    mutation: str | None = typer.Option(
        None, help="Fuzz the engine with this planted defect; ends after the round that shows it."
    ),
    jobs: int | None = typer.Option(None, min=1, max=1024, help="Processes (default: one a core)."),
    executor: str = typer.Option("processes", help="processes, or ray for a Ray cluster."),
    address: str = typer.Option("auto", help="Of the Ray cluster."),
    fresh: bool = typer.Option(False, "--fresh", help="Forget what the folder has of a campaign."),
    certificate: Path | None = typer.Option(None, help="Also sign the campaign, into a file."),
    key: Path | None = typer.Option(None, help="Signing key (default: your configuration's)."),
    as_json: bool = typer.Option(False, "--json", help="Print the outcome as one line of JSON."),
) -> None:
    """Fuzz schedules of the engine; an interrupted campaign goes on.

    Exit status 0: no case failed; 3: some did.

    Example: lockstep fuzz --seeds 32 --corpus results/fuzz
    """
    from lockstep.fuzz import campaign
    from lockstep.fuzz.store import Store
    from lockstep.fuzz.worker import Subject, opened
    from lockstep.mutation.load import find

    if mutation is not None:
        find(mutation)  # a name that is none is told here, not by each worker
    if executor not in ("processes", "ray"):
        raise typer.BadParameter(f"{executor}: processes or ray", param_hint="--executor")
    signer = _signer(certificate, key, mutation)
    options.require_folder(corpus, "--corpus")
    corpus.mkdir(parents=True, exist_ok=True)
    if fresh:
        _forget(corpus)
    folder = "" if model is None else str(model.resolve())
    subject = Subject(folder, 0, backend, dtype, mutation)
    # The engine here is the real one: what is mutated runs in processes of its own.
    here = opened(subject._replace(mutation=None))
    wanted = campaign.counted(seeds)
    with Store(corpus / RECORDS, campaign.subject_of(here, mutation)) as store:
        ran = _run(store, _executor(subject, jobs, executor, address), wanted, mutation is not None)
    _write_cases(corpus, ran)
    if as_json:
        _say_json(ran)
    else:
        _tell(ran)
    status = 3 if any(record.failure for record in ran.all) else 0
    if certificate is not None and signer is not None:
        status = max(status, _certify(certificate, signer, model, ran, (backend, dtype), as_json))
    if status:
        raise typer.Exit(status)


def _signer(certificate: Path | None, key: Path | None, mutation: str | None) -> Any:
    """Load the key before anything runs: one that is missing should not cost minutes."""
    if certificate is None:
        return None
    if mutation is not None:
        raise typer.BadParameter("a mutated engine is not certified", param_hint="--certificate")
    options.require_output(certificate, "--certificate")
    from lockstep.certificate import keys

    return keys.load_key(key or keys.config_folder() / "key.pem")


def _forget(corpus: Path) -> None:
    for path in sorted(corpus.glob(f"{RECORDS}*")):
        path.unlink()
    for folder in ("cases", "failures"):
        for path in sorted((corpus / folder).glob("*.json")):
            path.unlink()


def _executor(
    subject: Subject, jobs: int | None, executor: str, address: str
) -> AbstractContextManager[Executor]:
    from lockstep.cores import cores
    from lockstep.fuzz import executors

    if executor == "ray":
        from lockstep.fuzz.ray_executor import cluster

        return cluster(subject, address)
    count = jobs or cores()
    if count == 1 and subject.mutation is None:
        return executors.here(subject)
    return executors.processes(subject, count)


def _run(
    store: Any,
    executor: AbstractContextManager[Executor],
    wanted: Mapping[str, int],
    stop: bool,
) -> Ran:
    """Run the campaign under a bar; Ctrl-C says that what is done is kept."""
    import sys

    from lockstep.cli.progress import bar
    from lockstep.fuzz.campaign import run_campaign

    done, whole = 0, sum(wanted.values())

    def note(count: int, record: Record) -> None:
        nonlocal done
        done = count
        tell(count)

    def until(record: Record) -> bool:
        return stop and record.failure is not None

    try:
        with bar("cases", whole) as tell, executor as run:
            return run_campaign(store, run, wanted, note, until)
    except KeyboardInterrupt:
        kept = f"{done} of {whole} cases are kept; the same command goes on"
        print(f"lockstep: {kept}", file=sys.stderr)
        raise


def _write_cases(corpus: Path, ran: Ran) -> None:
    """Write the cases that showed something new, and those that failed."""
    from lockstep.certificate.write import write_file
    from lockstep.fuzz.campaign import kept, lineage_of
    from lockstep.fuzz.lineage import case_of

    failed = [record for record in ran.all if record.failure is not None]
    for folder, records in (("cases", list(kept(ran.records))), ("failures", failed)):
        (corpus / folder).mkdir(exist_ok=True)
        for record in records:
            path = corpus / folder / f"{record.population}-{record.seed:04d}.json"
            if not path.exists():
                by_seed = {one.seed: one for one in ran.records[record.population]}
                lineage = lineage_of(record.population, record.seed, by_seed)
                write_file(path, case_of(lineage).encode())


def _tell(ran: Ran) -> None:
    """Print coverage by population, then what failed, then the sums."""
    from lockstep.claims.campaign_totals import ALL, EXPLORED, counts, coverage
    from lockstep.cli import say
    from lockstep.cli.tables import Table, show_table

    told = coverage(ran.padded)
    found, legal = counts(ran.padded, told), told["legal"]
    rows = [
        (row["population"], *(f"{row[what]} of {legal[what]}" for what in legal))
        for row in told["rows"]
    ]
    show_table(Table("coverage by population", ("population", *legal), tuple(rows)))
    for line in failures(ran.all):
        say(line)
    say(
        f"{found['records']} cases, {found['clean']} clean, {found['refused']} rightly refused, "
        f"{found['failed']} failed, {found['not_run']} not run; {found['altered']} altered from "
        f"the corpus, {found['kept']} kept in it"
    )
    say(f"{ALL} are what some population shows, {EXPLORED} what one shows outside what it targets")


def failures(records: Sequence[Record]) -> list[str]:
    """Give a line for each of the first failures."""
    failed = [record for record in records if record.failure is not None]
    lines = [
        f"FAILED {one.population} {one.seed}: {' '.join(filter(None, one.failure.signature))} at "
        f"{one.failure.where}: {one.failure.detail}"
        for one in failed[:SHOWN_FAILURES]
        if one.failure is not None
    ]
    more = len(failed) - len(lines)
    return [*lines, f"and {more} more"] if more > 0 else lines


def _say_json(ran: Ran) -> None:
    import json

    from lockstep.claims.campaign_totals import counts, coverage
    from lockstep.cli import say

    told = coverage(ran.padded)
    failed = [
        {"population": one.population, "seed": one.seed, **one.failure.document()}
        for one in ran.all
        if one.failure is not None
    ]
    document = {"counts": counts(ran.padded, told), "coverage": told, "failures": failed}
    say(json.dumps(document, sort_keys=True, separators=(",", ":")))


def _certify(
    output: Path,
    signer: Any,
    model: Path | None,
    ran: Ran,
    asked: tuple[str, str | None],
    quiet: bool,
) -> int:
    from lockstep.certificate.write import write_file
    from lockstep.cli import say
    from lockstep.cli.hunt import now, verified_with
    from lockstep.engine.tiny import TinyModel
    from lockstep.fuzz.issue import issue_campaign

    backend, dtype = asked
    issued = issue_campaign(
        model or TinyModel(),
        [signer],
        records=ran.records,
        issued_at=now(),
        command=f"lockstep fuzz --backend {backend}",
        backend=backend,
        dtype=dtype,
    )
    write_file(output, issued.certificate)
    result = verified_with(output, signer, None, output.parent)
    if not quiet:
        say(f"wrote {output}, {len(issued.certificate):,} bytes: {issued.predicate['verdict']}")
        say(f"lockstep-verify, under a policy that trusts this key alone: {result['code']}")
    return 3 if result["exit"] else 0
