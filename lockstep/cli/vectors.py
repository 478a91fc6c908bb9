"""`lockstep vectors`: make the conformance vectors, and score an implementation with them."""

import dataclasses
import json
import shutil
import sys
from collections import Counter
from typing import TYPE_CHECKING, Annotated

import typer

from lockstep.cli.tables import printable

if TYPE_CHECKING:
    from lockstep.vectors.score import Score

SHOWN_CHARACTERS = 200
"""The longest text of an implementation that is printed."""

_group = typer.Typer(no_args_is_help=True, help="Conformance vectors.")


def register(app: typer.Typer) -> None:
    """Add the command group to the command line."""
    app.add_typer(_group, name="vectors")


@_group.command()
def build(
    check: Annotated[bool, typer.Option("--check", help="Compare instead of writing.")] = False,
) -> None:
    """Make the vectors from spec/cases; with --check, fail unless the committed ones equal them.

    Example: lockstep vectors build --check
    """
    from lockstep.vectors import build as maker
    from lockstep.vectors import cases

    try:
        files = maker.build()
    except (cases.CaseError, FileNotFoundError) as error:
        typer.echo(f"{error}", err=True)
        raise typer.Exit(2) from None
    manifest = json.loads(files["manifest.json"])
    size = sum(map(len, files.values()))
    said = f"{manifest['vectors']} vectors, {len(manifest['by_code'])} codes, {size:,} bytes"
    if not check:
        typer.echo(f"{said}; {maker.write(files)} files changed")
        return
    differing = maker.differences(files)
    for line in differing:
        typer.echo(line)
    if differing:
        typer.echo("The committed vectors are not what spec/cases gives; run `make vectors`.")
        raise typer.Exit(1)
    typer.echo(f"{said}; all as committed")


@_group.command(context_settings={"ignore_unknown_options": True})
def run(
    command: Annotated[list[str], typer.Argument(metavar="-- CMD", help="What to score.")],
    area: Annotated[
        list[str] | None,
        typer.Option("--area", metavar="<str>", help="One area; may be repeated."),
    ] = None,
    cli: Annotated[bool, typer.Option("--cli", help="Start CMD once a vector.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="The score as JSON.")] = False,
) -> None:
    """Score an implementation; exit 0 only if every vector passed and none was skipped.

    Example: lockstep vectors run --area json -- lockstep-verify --protocol
    """
    from lockstep.vectors import build as maker
    from lockstep.vectors import cases, score

    areas = area or []
    if unknown := sorted(set(areas) - set(cases.AREAS)):
        typer.echo(f"No area {', '.join(unknown)}; there are {', '.join(cases.AREAS)}.", err=True)
        raise typer.Exit(2)
    if shutil.which(command[0]) is None:
        typer.echo(f"No command {command[0]}; give one after --.", err=True)
        raise typer.Exit(2)
    try:
        folder = maker.folder()
    except FileNotFoundError as error:
        typer.echo(f"{error}", err=True)
        raise typer.Exit(2) from None

    def progress(done: int, of: int) -> None:
        if sys.stderr.isatty():
            print(f"\r{done} of {of} vectors", end="" if done < of else "\n", file=sys.stderr)

    result = score.run(folder, command, areas, by_command_line=cli, progress=progress)
    if as_json:
        typer.echo(_as_json(result))
    else:
        _tell(result)
    if not result.perfect:
        raise typer.Exit(1)


def _as_json(result: "Score") -> str:
    document = {
        "vectors": result.whole,
        "selected": len(result.outcomes),
        **{state: result.count(state) for state in ("passed", "failed", "skipped")},
        "fault": result.fault,
        "outcomes": [dataclasses.asdict(outcome) for outcome in result.outcomes],
    }
    return json.dumps(document, sort_keys=True, separators=(",", ":"))


def _shown(text: str) -> str:
    """Escape what an implementation wrote [OUT-4], and cut what is long."""
    return printable(text[:SHOWN_CHARACTERS]) + ("..." if len(text) > SHOWN_CHARACTERS else "")


def _tell(result: "Score") -> None:
    for outcome in result.outcomes:
        if outcome.state == "failed":
            typer.echo(f"FAILED {outcome.id} breaks {outcome.rule}")
            typer.echo(f"  expected {_shown(outcome.expected)}, got {_shown(outcome.got)}")
            typer.echo(f"  {outcome.hint}")
    for outcome in result.outcomes:
        if outcome.state == "skipped":
            typer.echo(f"SKIPPED {outcome.id} ({outcome.rule})")
    totals = Counter((outcome.area, outcome.state) for outcome in result.outcomes)
    for area in sorted({area for area, _ in totals}):
        numbers = [f"{totals[area, state]} {state}" for state in ("passed", "failed", "skipped")]
        typer.echo(f"{area:10} {', '.join(numbers)}")
    if result.fault:
        typer.echo(f"The command {result.fault}.")
    numbers = [f"{result.count(state)} {state}" for state in ("passed", "failed", "skipped")]
    typer.echo(f"{len(result.outcomes)} of {result.whole} vectors: {', '.join(numbers)}")
