"""`lockstep lean generate`: make the Lean sources that are made by programs."""

from typing import Annotated

import typer

from lockstep.cli import say


def add(group: typer.Typer) -> None:
    """Add the command to the group `lean`."""
    group.command("generate")(generate)


def generate(
    check: Annotated[bool, typer.Option("--check", help="Compare instead of writing.")] = False,
) -> None:
    """Make the generated Lean sources; with --check, name each that differs and fail.

    Example: lockstep lean generate --check
    """
    from lockstep.lean import generate as generator
    from lockstep.lean.build import source_folder

    files = generator.generated()
    if check:
        generator.check(source_folder(), files)
        say(f"{len(files)} generated sources, all as made")
        return
    changed = generator.write(source_folder(), files)
    for path in changed:
        say(f"  {path}")
    say(f"{len(files)} generated sources, {len(changed)} changed")
