"""The option `--json` of commands without one of their own: what they print, as one line of JSON.

The document has `version` (1), `command`, `exit`, `tables` (each with `title`, `columns`, `rows`,
and `pointers`: where in a statement each row stands, empty where there is no such place), `lines`
(what else went to standard output) and `error` (null, or `code`, which is null where the fault has
none of spec/errors.json, and `message`). A command line that cannot be acted on is told as text,
before any document.
"""

from __future__ import annotations

import inspect
import io
import json
import sys
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, get_type_hints

if TYPE_CHECKING:
    import typer

    from lockstep.cli.tables import Table

WITHOUT = frozenset({"serve"})
"""Commands that go on until they are ended, so that nothing is left to print."""
HELP = "Print what it says as one line of JSON."


class _Document:
    """What a command has said so far, while standard output is held back."""

    def __init__(self, command: str) -> None:
        self.command = command
        self.tables: list[Table] = []
        self.error: dict[str, str | None] | None = None
        self.held = io.StringIO()
        self.output, sys.stdout = sys.stdout, self.held

    def end(self, status: int) -> str:
        """Give standard output back, and the document."""
        sys.stdout = self.output
        return json.dumps(
            {
                "version": 1,
                "command": self.command,
                "exit": status,
                "tables": [
                    {
                        "title": one.title,
                        "columns": one.columns,
                        "rows": one.rows,
                        "pointers": one.pointers,
                    }
                    for one in self.tables
                ],
                "lines": self.held.getvalue().splitlines(),
                "error": self.error,
            },
            sort_keys=True,
            separators=(",", ":"),
        )


_open: _Document | None = None


def took(table: Table) -> bool:
    """Take a table instead of its being printed; gives whether it was taken."""
    if _open is None:
        return False
    _open.tables.append(table)
    return True


def holds() -> bool:
    """Say whether standard output is held back, so that no reader of it can have gone."""
    return _open is not None


def note(code: str | None, message: str) -> None:
    """Take what a command ended with, where a document is made."""
    if _open is not None:
        _open.error = {"code": code, "message": message}


def end(status: int) -> None:
    """Print the document, where the command was asked for one."""
    global _open
    if _open is not None:
        document, _open = _open, None
        print(document.end(status), flush=True)


def add(app: typer.Typer, path: str = "") -> None:
    """Give the option to each command of an application that has none of its own."""
    for entry in app.registered_commands:
        callback = entry.callback
        if callback is not None:
            name = f"{path}{entry.name or callback.__name__.replace('_', '-')}"
            if name not in WITHOUT and not _has_own(callback):
                entry.callback = _with_option(callback, name)
    for group in app.registered_groups:
        inner = group.typer_instance
        if inner is not None:
            add(inner, f"{path}{group.name} ")
            itself = inner.registered_callback
            if itself is not None and itself.invoke_without_command and itself.callback is not None:
                itself.callback = _with_option(itself.callback, f"{path}{group.name}")


def _has_own(callback: Callable[..., Any]) -> bool:
    """Say whether a command has the option, as a default or in an annotation."""
    given: list[Any] = [one.default for one in inspect.signature(callback).parameters.values()]
    for hint in get_type_hints(callback, include_extras=True).values():
        given += getattr(hint, "__metadata__", ())
    # In an annotation the first name stands where a default would.
    names = [(*(getattr(one, "param_decls", None) or ()), getattr(one, "default", None))
             for one in given]  # fmt: skip
    return any("--json" in some for some in names)


def _with_option(callback: Callable[..., Any], command: str) -> Callable[..., Any]:
    # A base install lacks it, and faults are told there too.
    import typer

    signature = inspect.signature(callback)
    kind = inspect.Parameter.KEYWORD_ONLY
    option = typer.Option(False, "--json", help=HELP)
    added = inspect.Parameter("print_json", kind, default=option, annotation=bool)

    @wraps(callback)
    def call(*arguments: Any, print_json: bool, **named: Any) -> Any:
        global _open
        if print_json and _open is None:
            _open = _Document(command)
        elif _open is not None:
            # Asked for of its group: there is one document, and this is what runs.
            _open.command = command
        return callback(*arguments, **named)

    # typer reads a command's options out of these two.
    call.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=[*signature.parameters.values(), added]
    )
    call.__annotations__ = {**callback.__annotations__, "print_json": bool}
    return call
