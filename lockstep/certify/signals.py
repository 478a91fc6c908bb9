"""Signals that end what starts servers: the servers end with it."""

import asyncio
import signal
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

Result = TypeVar("Result")


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """Let SIGTERM end what runs as Ctrl-C does, so that a server that was started ends with it.

    A shell that starts a command with & has it ignore Ctrl-C; here it does not.

    Raises:
        KeyboardInterrupt: where one of the signals came.
    """
    interrupted = signal.signal(signal.SIGINT, signal.default_int_handler)
    before = signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
        signal.signal(signal.SIGINT, interrupted)


def run_until_signal(work: Coroutine[Any, Any, Result]) -> Result:
    """Run what starts servers, as asyncio.run does; errors as `ended_by_signals`, and its own."""
    with ended_by_signals():
        return asyncio.run(work)
