"""`lockstep lean`: build the lemmas and check what they rest on."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lockstep.cli import lean_certify, lean_export, lean_generate, say

if TYPE_CHECKING:
    from lockstep.lean.object_records import Built

_group = typer.Typer(no_args_is_help=True, help="Lean lemmas: build, check, generate.")


def register(app: typer.Typer) -> None:
    """Add the command group to the command line."""
    lean_export.add(_group)
    lean_certify.add(_group)
    lean_generate.add(_group)
    app.add_typer(_group, name="lean")


@_group.command()
def build(
    modules: Annotated[
        list[str] | None, typer.Argument(metavar="MODULE", help="None for all.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Folder for objects, else Lake's.")
    ] = None,
    incremental: Annotated[
        bool, typer.Option("--incremental", "-i", help="Keep what is still as recorded.")
    ] = False,
    jobs: Annotated[int, typer.Option(min=1, max=64, help="Lean processes side by side.")] = 2,
) -> None:
    """Build modules with what they import; from nothing unless told otherwise.

    Example: lockstep lean build -i -o /tmp/objects Lockstep.Arith
    """
    from lockstep.lean import build as builder

    builder.build(
        modules or [], output=output, incremental=incremental, jobs=jobs, tell=_tell_built
    )


def _tell_built(built: "Built") -> None:
    time = "kept" if built.seconds is None else f"{built.seconds:.2f} s"
    say(f"  {built.name:44} {time}")


@_group.command()
def toolchain() -> None:
    """Say which Lean checks the lemmas, and by which bytes it is known.

    Example: lockstep lean toolchain
    """
    from lockstep.lean import toolchain as finder

    found = finder.find()
    say(f"Lean {found.version}, commit {found.commit}, from {found.builder}")
    say(f"{found.library} has SHA-256 {found.library_sha256}")


@_group.command()
def check() -> None:
    """Judge the sources, build all from nothing, and list what is proved and what it rests on.

    Fails on any word, declaration or axiom that isn't allowed, and where spec/lemmas.json differs.

    Example: lockstep lean check
    """
    import time

    from lockstep.lean import check as checker

    began = time.monotonic()
    checked = checker.check(tell=_tell_built)
    for theorem in checked.theorems:
        axioms = ", ".join(theorem["axioms"]) or "no axioms"
        say(f"{theorem['name']}  {axioms}  {theorem['statement_sha256']}")
    registry = checker.registered()
    checker.require_modules([module.name for module in checked.modules], registry)
    checker.require_registered(checked.theorems, registry)
    say(
        f"{len(checked.theorems)} theorems as registered in spec/lemmas.json, "
        f"{len(checked.modules)} modules, {checked.constants} constants, "
        f"{time.monotonic() - began:.0f} s"
    )
    lean = checked.lean
    say(
        f"by Lean {lean.version} at {lean.commit[:12]} from {lean.builder}, "
        f"library {lean.library_sha256}"
    )


@_group.command()
def gate() -> None:
    """Judge the sources' words, without building.

    Example: lockstep lean gate
    """
    from lockstep.lean import build as builder
    from lockstep.lean import source_gate

    say(f"{source_gate.check(builder.source_folder())} sources hold no word that is refused")


@_group.command()
def stubs(
    check: Annotated[bool, typer.Option("--check", help="Compare instead of writing.")] = False,
) -> None:
    """Make Foundation/Syntax.lean and Show.lean from the library's symbols.

    Example: lockstep lean stubs
    """
    from lockstep.certificate.write import write_file
    from lockstep.lean import build as builder
    from lockstep.lean import syntax_stubs
    from lockstep.lean import toolchain as finder

    source, library = builder.source_folder(), finder.find().library
    if not check:
        for name, text in syntax_stubs.files(library).items():
            write_file(source / name, text.encode())
    syntax_stubs.check(source, library)
    say("the generated part of the foundation is what the library gives")
