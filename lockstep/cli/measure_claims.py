"""`lockstep measure`: metrics and questions, figures from records, and what a certificate holds."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from lockstep.cli import options
from lockstep.errors import LockstepError

if TYPE_CHECKING:
    from lockstep.measure.registry import Pairing

OUTPUT = options.certificate("measurement.cert.json")


def register(group: typer.Typer) -> None:
    """Add the commands `metrics`, `sign`, `show` and `substitute` to the group `measure`."""
    group.command()(metrics)
    group.command()(sign)
    group.command()(show)
    group.command()(substitute)


def metrics(
    engine: str | None = typer.Argument(None, help="vllm, sglang, llamacpp, tgi, ..."),
    question: str | None = typer.Option(None, "--question", help="What is to be known."),
    metric: str | None = typer.Option(None, "--metric", help="Ask of this one alone."),
) -> None:
    """List which questions the metrics of servers answer, and which they only seem to.

    A --metric that does not answer is refused with one that does, and so are an engine and a
    question for which there is none: exit status 3.

    Example: lockstep measure metrics vllm --question steps
    """
    from lockstep.cli import say
    from lockstep.measure.registry import answering, pairings, questions, require_answer

    engines = sorted({one.engine for one in pairings()})
    if engine is not None and engine not in engines:
        raise typer.BadParameter(f"one of {', '.join(engines)}", param_hint="ENGINE")
    if question is not None and question not in questions():
        known = ", ".join(questions())
        raise typer.BadParameter(f"one of {known}", param_hint="--question")
    if metric is not None:
        if engine is None or question is None:
            raise typer.BadParameter("it needs ENGINE and --question", param_hint="--metric")
        found = require_answer(engine, metric, question, "--metric")
        say(f"{metric} answers {question}: {found.reason}")
        return
    chosen = [
        one
        for one in pairings()
        if engine in (None, one.engine) and question in (None, one.question)
    ]
    _list(chosen)
    if engine is not None and question is not None and not answering(engine, question):
        expected = f"a metric of {engine} that answers {question}"
        hint = "No metric of this engine is known to: ask its steps of another route."
        raise LockstepError("METRIC_NOT_AN_ANSWER", "--question", expected, "none", hint)


def _list(chosen: list[Pairing]) -> None:
    from lockstep.cli.tables import Table, show_table

    rows = tuple(
        (
            one.engine,
            one.question,
            "answers" if one.answers else "does not answer",
            one.metric,
            one.reason + (f" Instead: {one.instead}." if one.instead else ""),
            one.source,
        )
        for one in chosen
    )
    if rows:
        columns = ("engine", "question", "", "metric", "why", "source")
        show_table(Table("metrics and questions", columns, rows))


def sign(
    document: Path = typer.Argument(..., help="TOML: records, and what is asked of them."),
    output: Path = OUTPUT,
    key: Path | None = options.OWN_KEY,
    issued_at: str | None = options.ISSUED_AT,
) -> None:
    """Compute what a document of records asks for, and sign it.

    Example: lockstep measure sign spec/published/seed-001.toml -o results/seed-001.cert.json
    """
    from lockstep.certificate import times
    from lockstep.cli.signing import conclude, own_key
    from lockstep.issue_measurement import issue_measurement
    from lockstep.measure.reading_file import read_toml

    issued_at = times.claimed(issued_at)
    options.require_output(output)
    signer = own_key(key)
    issued = issue_measurement(
        read_toml(document), [signer], issued_at=issued_at, command="lockstep measure sign"
    )
    if conclude(output, issued.certificate, summary(issued.predicate), signer):
        raise typer.Exit(3)


def show(
    certificate: Path = typer.Argument(..., help="A certificate of kind measurement."),
    trust: Path | None = typer.Option(None, help="Trust policy for the verification."),
    withdrawals: Path | None = typer.Option(None, help="Folder of withdrawals to heed."),
    rows: bool = typer.Option(False, help="List every reading, not only those of tables."),
    plot: Path | None = typer.Option(None, help="Draw the fits, *.svg or *.png."),
) -> None:
    """Verify a certificate of measurements, print its tables, and draw its fits.

    Fits of a certificate that is not verified, or of which a claim is withdrawn, are not drawn.

    Example: lockstep measure show evidence/measurement-seed-001.cert.json \
        --trust evidence/trust.json --plot fits.svg
    """
    from lockstep.cli import say
    from lockstep.cli.show import present

    if plot is not None:
        options.require_output(plot, "--plot")
        if plot.suffix not in (".svg", ".png"):
            raise typer.BadParameter(f"{plot} ends in neither .svg nor .png", param_hint="--plot")
    try:
        data = present(certificate, trust, withdrawals, rows)
    except typer.Exit:
        if plot is not None:
            say(f"{plot} is not drawn: the certificate did not verify.")
        raise
    if plot is not None:
        from lockstep.evidence.index import statement_of
        from lockstep.measure.plot import draw

        draw(_of_measurement(statement_of(data)["predicate"]), plot)
        say(f"wrote {plot}")


def substitute(
    certificate: Path = typer.Argument(..., help="A certificate of kind measurement."),
    profile: str = typer.Argument(..., help="The profile that is asked for."),
    by: str = typer.Argument(..., help="The profile that would serve in its place."),
    trust: Path | None = typer.Option(None, help="Trust policy for the verification."),
    withdrawals: Path | None = typer.Option(None, help="Folder of withdrawals to heed."),
) -> None:
    """Say whether one profile may serve in place of another: exit status 3 where it may not.

    It may where a verified gate says interchangeable. One that nobody measured says no.

    Example: lockstep measure substitute measurement.cert.json four-ranks two-ranks
    """
    from lockstep.cli import say
    from lockstep.cli.show import verified
    from lockstep.evidence.index import statement_of
    from lockstep.measure.comparisons import require_substitutable

    predicate = _of_measurement(
        statement_of(verified(certificate, trust, withdrawals))["predicate"]
    )
    known = [one["id"] for one in predicate["profiles"]]
    for name, hint in ((profile, "PROFILE"), (by, "BY")):
        if name not in known:
            raise typer.BadParameter(f"one of {', '.join(known) or 'none'}", param_hint=hint)
    # A distance is the same from either side, and so is what it decides.
    gates = [one for one in predicate["gates"] if {one["first"], one["second"]} == {profile, by}]
    if profile != by:
        places = [one["verdict"] for one in gates] or ["unmeasured"]
        for verdict in places:
            require_substitutable(verdict, f"{by} for {profile}")
    say(f"{by} may serve in place of {profile}.")


def _of_measurement(predicate: dict[str, Any]) -> dict[str, Any]:
    """Refuse a certificate of another kind, which has neither fits nor gates."""
    if "gates" not in predicate:
        raise typer.BadParameter("not one of kind measurement", param_hint="CERTIFICATE")
    return predicate


def summary(predicate: dict[str, Any]) -> list[str]:
    """Give the lines that sum up measurements for people."""
    counts = predicate["counts"]
    return [
        f"{counts['records']} records, {counts['records_refused']} refused; "
        f"{counts['direct']} measured, {counts['derived']} derived, "
        f"{counts['predicted']} predicted readings; {counts['fits']} fits",
        f"{predicate['verdict']}: of {counts['published']} printed figures "
        f"{counts['published_agreeing']} agree, {counts['published_contradicted']} are "
        f"contradicted, {counts['published_not_rederivable']} cannot be derived again",
    ]
