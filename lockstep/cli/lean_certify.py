"""`lockstep lean certify`: build the lemmas, and sign what the kernel accepted."""

from pathlib import Path

import typer

from lockstep.cli import say
from lockstep.cli.options import require_output


def add(group: typer.Typer) -> None:
    """Add the command to the group `lean`."""
    group.command()(certify)


def certify(
    output: Path = typer.Option(Path("lean.cert.json"), "--output", "-o", help="Where to."),
    export: bool = typer.Option(
        False, "--export", help="Also write lean/export.ndjson, and name it in the certificate."
    ),
    key: Path | None = typer.Option(None, help="Signing key (default: your configuration's)."),
    trust: Path | None = typer.Option(
        None, help="Policy that the result is verified under (default: one with this key only)."
    ),
    issued_at: str | None = typer.Option(None, help="YYYY-MM-DDTHH:MM:SSZ (default: now)."),
) -> None:
    """Check and build the lemmas of this checkout, and write a signed certificate of them.

    Example: lockstep lean certify -o lean.cert.json
    """
    from lockstep.certificate import keys, times
    from lockstep.certificate.write import write_file
    from lockstep.cli.hunt import progress, verified_with
    from lockstep.evidence.making import EXPORT
    from lockstep.issue import issue_lean
    from lockstep.lean.build import source_folder

    issued_at = times.claimed(issued_at)
    require_output(output)
    signer = keys.load_key(key or keys.config_folder() / "key.pem")
    issued = issue_lean(
        [signer],
        issued_at=issued_at,
        command="lockstep lean certify" + (" --export" if export else ""),
        export=source_folder() / EXPORT if export else None,
        progress=progress(),
    )
    write_file(output, issued.certificate)
    say(f"wrote {output}, {len(issued.certificate):,} bytes")
    counts = issued.predicate["counts"]
    say(
        f"{counts['accepted']} of {counts['theorems']} theorems accepted, {counts['axiom_free']} "
        f"of them without an axiom, from {counts['modules']} modules"
    )
    result = verified_with(output, signer, trust, source_folder())
    say(f"lockstep-verify: {result['code']}, exit {result['exit']}")
    if result["exit"]:
        say(f"  at {result['pointer'] or 'the document'}; lockstep-verify says more")
        raise typer.Exit(3)
