"""`lockstep lean lemmas` and `lockstep lean export`: what the built lemmas state and rest on."""

from pathlib import Path
from typing import Annotated

import typer

from lockstep.cli import say
from lockstep.cli.options import require_output

FOLDER = typer.Option("--built", help="Folder of .olean files, else Lake's.")


def add(group: typer.Typer) -> None:
    """Add the commands to the group `lean`."""
    group.command("lemmas")(lemmas)
    group.command("export")(export)


def lemmas(
    check: Annotated[
        bool, typer.Option("--check", help="Change nothing; fail where the registry is stale.")
    ] = False,
    built: Annotated[Path | None, FOLDER] = None,
) -> None:
    """Write spec/lemmas.json from the built modules.

    Example: lockstep lean lemmas --check
    """
    from lockstep import spec
    from lockstep.certificate.write import write_file
    from lockstep.errors import LockstepError
    from lockstep.lean import layout_certificates, source_text
    from lockstep.lean import lemmas as registry
    from lockstep.lean.build import source_folder

    made = registry.registry(_folder(built), layout_certificates.registered())
    apart = sorted(set(made["modules"]) ^ set(source_text.modules(source_folder())))
    if apart:
        hint = "Run `lockstep lean build` first, which builds them all and deletes what is stale."
        raise LockstepError(
            "H3_PROOF_MISSING", str(_folder(built)), "an object for each source", apart, hint
        )
    path, data = spec.root() / "lemmas.json", registry.encode(made)
    if not check:
        write_file(path, data)
    elif not path.is_file() or path.read_bytes() != data:
        hint = "Run `lockstep lean lemmas` and look at what changed."
        raise LockstepError("LEMMA_STATEMENT_MISMATCH", str(path), hint=hint)
    say(f"{len(made['lemmas'])} lemmas, {len(made['layouts'])} layouts: {path}")


def export(
    output: Annotated[Path, typer.Option("--output", "-o", help="Where the NDJSON goes.")],
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME", help="Modules or constants; none for all lemmas."),
    ] = None,
    built: Annotated[Path | None, FOLDER] = None,
) -> None:
    """Write declarations and all that they rest on in the format of lean4export.

    Example: lockstep lean export -o arith.ndjson Lockstep.Arith
    """
    from lockstep.certificate.write import write_file
    from lockstep.lean.environment import load
    from lockstep.lean.export import export as exported
    from lockstep.lean.lemmas import selected

    require_output(output)
    environment = load(_folder(built))
    data = exported(environment, selected(environment, names or []))
    write_file(output, data)
    lines = data.count(b"\n")
    say(f"{lines} lines, {len(data)} bytes: {output}")


def _folder(built: Path | None) -> Path:
    from lockstep.lean.build import standard_output

    return built or standard_output()
