"""`lockstep doctor`: what this machine can and cannot check."""

from __future__ import annotations

import typer


def register(app: typer.Typer) -> None:
    """Add the command `doctor`."""
    app.command("doctor")(doctor)


def doctor(
    as_json: bool = typer.Option(False, "--json", help="One line of JSON instead."),
) -> None:
    """Say which tools are here, what each is for, and what to do about those that are not.

    Nothing is installed or computed. Exit status 0 whatever is missing: most of it is for one
    task or another.

    Example: lockstep doctor
    """
    from lockstep.certificate import lcj
    from lockstep.cli import say
    from lockstep.cli.tables import Table, show_table
    from lockstep.doctor import examine

    findings = examine()
    missing = [finding for finding in findings if not finding.ready]
    if as_json:
        listed = [finding.document() for finding in findings]
        say(lcj.encode({"version": 1, "findings": listed}).decode())
        return
    rows = tuple(
        ("yes" if finding.ready else "NO", finding.name, finding.found, finding.purpose)
        for finding in findings
    )
    show_table(Table("this machine", ("ready", "what", "found", "needed for"), rows))
    if missing:
        listed_rows = tuple((finding.name, finding.remedy) for finding in missing)
        show_table(Table("not ready", ("what", "what to do"), listed_rows))
