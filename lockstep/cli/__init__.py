"""The command `lockstep`: one module a group of commands, and one place where faults are told."""

import importlib
import sys
from typing import TYPE_CHECKING, Any

from lockstep import __version__
from lockstep.errors import LockstepError

if TYPE_CHECKING:
    import typer

GROUPS = ("hunt", "demo", "show", "keys", "layouts", "vectors", "evidence", "fuzz", "bench")
"""Modules of this package, in the order in which help lists their commands."""

EPILOG = (
    "Exit status: 0 done, 2 usage, 3 refused with a code of spec/errors.json, 4 a fault of "
    "Lockstep itself. `lockstep-verify` has its own, see its --help."
)
EXTRAS = {
    "numpy": "hunt",
    "typer": "hunt",
    "rich": "hunt",
    "z3": "proofs",
    "torch": "engine",
    "httpx": "certify",
}
"""Which extra of the distribution brings which module."""


def application() -> "typer.Typer":
    """Build the command line; each group registers its own commands."""
    import typer

    app = typer.Typer(
        name="lockstep",
        help="Make signed certificates of deterministic LLM inference.",
        epilog=EPILOG,
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
    )

    def version(asked: bool) -> None:
        if asked:
            typer.echo(f"lockstep {__version__}{_commit()}")
            raise typer.Exit

    @app.callback()
    def options(
        version: bool = typer.Option(
            False, "--version", callback=version, is_eager=True, help="Print the version and stop."
        ),
    ) -> None:
        """Make signed certificates of deterministic LLM inference."""

    for group in GROUPS:
        importlib.import_module(f"lockstep.cli.{group}").register(app)
    return app


def _commit() -> str:
    """Give the checkout's commit in parentheses, or nothing outside one."""
    import subprocess

    from lockstep import spec

    if spec.root().name != "spec":
        return ""
    git = ["git", "-C", str(spec.root()), "rev-parse", "--short=12", "HEAD"]
    try:
        done = subprocess.run(git, capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return f" ({done.stdout.strip()})" if done.returncode == 0 else ""


def say(text: object = "") -> None:
    """Print a line for people."""
    print(text, flush=True)


def fail(fault: LockstepError) -> int:
    """Tell a refusal: what happened, where, and what to do. Gives the exit status."""
    print(f"lockstep: {fault}", file=sys.stderr, flush=True)
    return 2 if fault.code == "USAGE" else 4 if fault.code == "INTERNAL" else 3


def main() -> int:
    """Run the command line and give its exit status; no fault reaches a user as a traceback."""
    try:
        app = application()
        result: Any = app(standalone_mode=False)
        return int(result or 0)
    except LockstepError as fault:
        return fail(fault)
    except ModuleNotFoundError as missing:
        extra = EXTRAS.get((missing.name or "").split(".")[0])
        if extra is None:
            raise
        print(
            f"lockstep: this command needs the module {missing.name}; "
            f"pip install 'lockstep-llm[{extra}]' brings it.",
            file=sys.stderr,
        )
        return 2
    except KeyboardInterrupt:
        print("lockstep: interrupted; nothing half-written is left.", file=sys.stderr)
        return 130
    except Exception as fault:
        return _fault(fault)


def _fault(fault: Exception) -> int:
    import click

    if isinstance(fault, click.exceptions.Exit):
        return int(fault.exit_code)
    if isinstance(fault, click.ClickException):
        fault.show()
        return 2
    if isinstance(fault, OSError):
        print(f"lockstep: {fault.filename}: {fault.strerror}", file=sys.stderr)
        return 2
    print(f"lockstep: INTERNAL {type(fault).__name__}: {fault}. Please report it.", file=sys.stderr)
    return 4
