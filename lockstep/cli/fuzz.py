"""`lockstep fuzz-verify`: judge mutants of a certificate and hold the codes against an oracle."""

from collections.abc import Callable
from pathlib import Path

import typer

from lockstep.cli.options import require_folder


def register(app: typer.Typer) -> None:
    """Add the command `fuzz-verify`."""

    @app.command("fuzz-verify")
    def fuzz_verify(
        mutants: int = typer.Option(100_000, min=1, help="How many mutants."),
        seed: int = typer.Option(1, help="The same seed gives the same mutants."),
        jobs: int = typer.Option(2, min=1, max=64, help="Verifier processes side by side."),
        output: Path = typer.Option(
            Path("results/fuzz-verify"), "--output", "-o", help="Folder for summary and failures."
        ),
        certificate: Path | None = typer.Option(
            None, help="A certificate of any kind (default: a hunt of four layouts, made now)."
        ),
        against: str | None = typer.Option(
            None, help="Command of a second verifier (--protocol) that must answer alike."
        ),
    ) -> None:
        """Mutate a certificate, sign each mutant anew, and judge it.

        Example: lockstep fuzz-verify --mutants 5000 --seed 7
        """
        import shlex

        from lockstep import fuzz_verify as fuzz
        from lockstep.cli import say

        require_folder(output, "--output")
        parent = fuzz.read(certificate) if certificate else fuzz.make()
        outcome = fuzz.run(
            parent.forge, parent.evidence, mutants, seed, jobs, _progress(),
            shlex.split(against or ""),
        )  # fmt: skip
        fuzz.write(outcome, output)
        for line in fuzz.lines(outcome):
            say(line)
        say(f"written to {output}")
        if outcome.tally.failed:
            first = outcome.tally.failures[0]
            say(
                f"first failure: mutant {first.mutant.number}, {first.mutant.operator} at "
                f"{first.mutant.where or 'the file'}: {first.wrong}"
            )
            raise typer.Exit(3)


def _progress() -> Callable[[int, int], None]:
    """Give a function that shows a line of progress every few seconds."""
    import sys
    import time

    last = started = time.monotonic()

    def tell(done: int, whole: int) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last > 5:
            last = now
            print(f"  [{now - started:5.0f} s] {done:,} of {whole:,}", file=sys.stderr, flush=True)

    return tell
