"""The command `lockstep`: one module a group of commands, and one place where faults are told."""

import importlib
import os
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lockstep import __version__
from lockstep.errors import LockstepError

if TYPE_CHECKING:
    import typer

GROUPS = (
    "hunt",
    "demo",
    "init",
    "show",
    "report",
    "keys",
    "layouts",
    "vectors",
    "evidence",
    "fuzz",
    "bench",
    "lean",
    "smt",
    "model",
    "schedule",
    "run",
    "relations",
    "campaign",
    "mutation",
    "fidelity",
    "doctor",
    "bench_engine",
    "gpu_evidence",
    "replay",
    "minimize",
    "bench_minimize",
    "bench_convert",
    "bench_sampling",
    "serve",
    "certify",
    "certify_faults",
    "sampling",
    "measure",
    "withdraw",
)
"""Modules of this package, in the order in which help lists their commands."""

EPILOG = (
    "Exit status: 0 done, 2 usage or a file that cannot be read or written, 3 refused with a "
    "code of spec/errors.json, 4 a fault of Lockstep itself. `lockstep-verify` has its own, see "
    "its --help."
)
STATUSES = {
    "USAGE": 2,
    "FILE_UNREADABLE": 2,
    "SOLVER_MISSING": 2,
    "LIBRARY_MISSING": 2,
    "DEVICE_MISSING": 2,
    "MEMORY_SHORT": 2,
    "CLUSTER_UNREACHABLE": 2,
    "ADDRESS_UNAVAILABLE": 2,
    "ENDPOINT_NOT_CONTROLLED": 2,
    "ENDPOINT_REFUSES": 2,
    "INTERNAL": 4,
    "ENDPOINT_DOWN": 6,
}
"""Exit status of a code; of every other it is 3."""
EXTRAS = {
    "safetensors": "engine",
    "matplotlib": "plot",
    "einops": "dev",
    "z3": "proofs",
    "cvc5": "proofs",
    "torch": "engine",
    "httpx": "certify",
    "starlette": "serve",
    "uvicorn": "serve",
    "prometheus_client": "serve",
}
"""Which extra of the distribution brings which module."""
SHARED = frozenset({"numpy", "rich", "typer"})
"""Modules that several extras bring; which one is wanted follows from the command."""
_OWN_EXTRAS = {
    "serve": "serve",
    "certify": "certify",
    "certify-faults": "certify",
    "measure": "certify",
}
LAYOUT_COMMANDS = frozenset(
    {
        "bench-hunt",
        "bench-sampling",
        "bench-verify",
        "demo",
        "evidence",
        "fuzz-verify",
        "hunt",
        "init",
        "keys",
        "layouts",
        "lean",
        "report",
        "sampling",
        "show",
        "smt",
        "vectors",
        "withdraw",
    }
)
"""Commands that the extra `hunt` is for; `serve` has its own, and all others are the engine's."""


def application() -> "typer.Typer":
    """Build the command line; each group registers its own commands."""
    import typer

    from lockstep.cli import json_output
    from lockstep.cli.sections import BySection

    app = typer.Typer(
        name="lockstep",
        cls=BySection,
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
    json_output.add(app)
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
    from lockstep.cli.tables import visible

    # What a document says stands in it: it must not write to a terminal, nor begin a line as ours.
    text = visible(str(fault)).replace("\n", "\n  ")
    return _tell(text, STATUSES.get(fault.code, 3), fault.code)


def main() -> int:
    """Run the command line and give its exit status; no fault reaches a user as a traceback."""
    from lockstep.cli import json_output

    status = _run()
    try:
        json_output.end(status)
    except BrokenPipeError as fault:
        return _fault(fault)
    return status


def _run() -> int:
    try:
        result: Any = application()(standalone_mode=False)
        sys.stdout.flush()
        # Later versions of typer turn Ctrl-C into this status, without a word.
        if result == 130:
            raise KeyboardInterrupt
        return int(result or 0)
    except KeyboardInterrupt:
        return _tell("interrupted; nothing half-written is left.", 2)
    except SystemExit as left:
        # Typer ends so, without a word, whatever pipe it was that broke.
        if isinstance(left.__context__, BrokenPipeError):
            return _fault(left.__context__)
        raise
    except Exception as fault:
        return _fault(fault)


def _tell(text: str, status: int, code: str | None = None) -> int:
    from lockstep.cli import json_output

    print(f"lockstep: {text}", file=sys.stderr, flush=True)
    json_output.note(code, text)
    return status


def _extra(module: str, arguments: Sequence[str]) -> str | None:
    """Give the extra that a command wants for a module; None for a module that none brings."""
    if module not in SHARED:
        return EXTRAS.get(module)
    command = next((word for word in arguments if not word.startswith("-")), "")
    if command in LAYOUT_COMMANDS or not command:
        return "hunt"
    return _OWN_EXTRAS.get(command, "engine")


def _fault(fault: Exception) -> int:
    """Tell a fault in a line and give its exit status."""
    from lockstep.cli import json_output

    if isinstance(fault, LockstepError):
        return fail(fault)
    if isinstance(fault, ModuleNotFoundError):
        extra = _extra((fault.name or "").split(".")[0], sys.argv[1:])
        if extra is not None:
            return _tell(
                f"this command needs the module {fault.name}; "
                f"the extra '{extra}' brings it: in a checkout, pip install '.[{extra}]'.",
                2,
            )
    # typer carries click's exceptions under its own name in later versions, so the class says
    # nothing; what can show itself is a fault of the command line, and Abort is Ctrl-C.
    show = getattr(fault, "show", None)
    if show is not None:
        show()
        return 2
    if type(fault).__name__ == "Abort":
        return _tell("interrupted; nothing half-written is left.", 2)
    if isinstance(fault, BrokenPipeError) and not json_output.holds():
        # The reader has gone; whatever is left in the buffer must not fail again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 2
    if isinstance(fault, MemoryError):
        # Where what was needed could be told beforehand, it was; this is what remains.
        return fail(LockstepError("MEMORY_SHORT", "this command", got=str(fault) or "no more"))
    if isinstance(fault, OSError) and fault.filename is not None:
        return _tell(f"{fault.filename}: {fault.strerror}", 2)
    where = traceback.extract_tb(fault.__traceback__)[-1]
    return _tell(
        f"INTERNAL {type(fault).__name__} in {Path(where.filename).name}:{where.lineno}: {fault}. "
        "Please report it.",
        4,
    )
