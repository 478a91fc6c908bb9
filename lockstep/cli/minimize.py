"""`lockstep minimize`: reduce a failing case to one of which nothing can be removed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from lockstep.cli import options

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    from lockstep.fuzz.case import Case
    from lockstep.minimize.observe import FindingSeen

HELD = "held as the subject's configuration"
"""The reason that is given for dimensions held on the command line."""


SQLITE = b"SQLite format 3"
"""What the file of a campaign's records begins with."""


def register(app: typer.Typer) -> None:
    """Add the command `minimize`."""
    app.command("minimize")(minimize)


def minimize(
    case: Path = typer.Argument(..., help="A case, a finding's certificate, or a store."),
    mutation: str | None = typer.Option(None, help="The operator that the engine is mutated by."),
    seed: str | None = typer.Option(
        None, help="Of a store: POPULATION:SEED (default: its first failure)."
    ),
    hold: list[str] = typer.Option(
        [], metavar="<str>", help="A dimension that is not reduced; may be repeated."
    ),
    certificate: Path | None = typer.Option(None, help="Certificate to write."),
    output: Path | None = typer.Option(None, "--output", "-o", help="Reduced case to write."),
    memo: Path | None = typer.Option(None, help="File in which outcomes are kept and found."),
    closed_by: str | None = typer.Option(None, help="The commit that mended what was found."),
    model: Path | None = typer.Option(None, help="A model's folder (default: a tiny one)."),
    backend: str = typer.Option("host", help="host, triton, fast, fast_torch or float64."),
    dtype: str | None = typer.Option(None, help="float32 or float16 (default: the backend's)."),
    jobs: int = typer.Option(1, min=1, max=64, help="Worker processes."),
    key: Path | None = typer.Option(None, help="Signing key (default: one made for this run)."),
    issued_at: str | None = typer.Option(None, help="YYYY-MM-DDTHH:MM:SSZ (default: now)."),
) -> None:
    """Reduce a failing case until no single removal shows the failure any more.

    Dimensions: requests, steps, actions, prompt_tokens, new_tokens, chunk_tokens, named_blocks,
    arrivals, pool_blocks, block_size. What is found does not depend on the number of workers.

    Example: lockstep minimize case.json --mutation never_fitting_accepted --hold pool_blocks
    """
    from dataclasses import replace

    from lockstep.certificate import times
    from lockstep.cli import say
    from lockstep.cli.signing import own_key
    from lockstep.minimize.memo import Outcome, read_outcomes, write_outcomes
    from lockstep.minimize.observe import observe
    from lockstep.minimize.worker import Engine
    from lockstep.mutation.load import find

    places = {"--certificate": certificate, "--output": output, "--memo": memo}
    for option, place in places.items():
        if place is not None:
            options.require_output(place, option)
    time, signer = times.claimed(issued_at), own_key(key)
    given, source, under = _read(case, seed)
    mutation = mutation or under
    if closed_by is not None and mutation is not None:
        raise typer.BadParameter("a mutation is not closed", param_hint="--closed-by")
    if mutation is not None:
        find(mutation)  # a name that is none is told here, not by each worker
    engine = Engine(mutation, None, None if model is None else str(model), backend, dtype)
    subject = f"{given.sha256} {mutation} {backend} {dtype}"
    outcomes: dict[str, Outcome] = {}
    try:
        seen = observe(
            given,
            engine,
            source=source,
            held=dict.fromkeys(hold, HELD),
            jobs=jobs,
            known=None if memo is None else read_outcomes(memo, subject),
            keep=outcomes,
        )
    finally:
        if memo is not None and outcomes:
            write_outcomes(memo, subject, outcomes)
    for line in summary(seen):
        say(line)
    if output is not None:
        from lockstep.certificate.write import write_file

        write_file(output, seen.reduced.case.encode())
        say(f"wrote {output}")
    if certificate is not None:
        _certify(replace(seen, closed_by=closed_by), certificate, signer, time)


def summary(seen: FindingSeen) -> list[str]:
    """Give the lines that tell a finding to people."""
    from lockstep.minimize.observe import origin_units

    reduced, failure = seen.reduced, seen.shown.failure or {}
    document: dict[str, Any] = reduced.case.document()
    steps = document["steps"]
    lines = [
        f"{failure['kind']} {failure['code']} ({failure['part']}) at {failure['where']}: "
        f"{failure['detail']}",
        f"{origin_units(seen)} units to {len(reduced.outcomes)} single removals, none of which "
        f"shows it; {reduced.checks} cases tested, {reduced.refused} illegal",
        f"pool of {reduced.case.pool.blocks} blocks of {reduced.case.pool.block_size}",
    ]
    lines += [
        f"request {request.id}: prompt of {len(request.prompt)}, max_new {request.max_new}, "
        f"arrives at {request.arrival}"
        for request in reduced.case.workload.requests
    ]
    lines += [
        f"step {number}: {', '.join(map(_action, actions)) or 'nothing'}"
        for number, actions in enumerate(steps)
    ]
    if seen.unmutated is not None:
        told = f"{seen.unmutated.name} {seen.unmutated.code}".rstrip()
        lines.append(f"without the mutation: {told}")
    return [*lines, f"case {reduced.case.sha256}"]


def _action(action: dict[str, Any]) -> str:
    tokens = f" of {action['tokens']}" if "tokens" in action else ""
    blocks = f" {action['blocks']}" if "blocks" in action else ""
    return f"{action['event']}{tokens} {action['request']}{blocks}"


def _read(path: Path, seed: str | None) -> tuple[Case, str, str | None]:
    """Read a case from whatever holds one; give where it came from, and under which mutation."""
    from lockstep.fuzz.case import parse_case
    from lockstep.minimize.stored import failing_case
    from lockstep.schedule.document import read_document

    with path.open("rb") as file:
        stored = file.read(len(SQLITE)) == SQLITE
    if stored:
        return failing_case(path, seed)
    if seed is not None:
        raise typer.BadParameter(f"{path} is no store", param_hint="--seed")
    document = read_document(path)
    if "payload" not in document and "predicateType" not in document:
        return parse_case(document, str(path)), "a file", None
    from lockstep.replay.read import read_stated

    kind, predicate = read_stated(path)
    if kind != "finding":
        raise typer.BadParameter(f"a {kind} has no case", param_hint="CASE")
    mutation = predicate["mutation"]["name"] if predicate["mutation"] else None
    return parse_case(predicate["case"], str(path)), "an earlier finding", mutation


def _certify(
    seen: FindingSeen, certificate: Path, signer: Ed25519PrivateKey, issued_at: str
) -> None:
    from lockstep.cli.signing import conclude
    from lockstep.issue_finding import issue_finding

    issued = issue_finding(seen, [signer], issued_at=issued_at, command="lockstep minimize")
    if conclude(certificate, issued.certificate, (), signer):
        raise typer.Exit(3)
