"""The end of a server: running requests may go on for a while, and then are told that it ends."""

from __future__ import annotations

import threading
from types import FrameType

import uvicorn

from lockstep.serve.engine import Engine

LAST_SECONDS = 5
"""For answers to reach their clients after the engine has ended; then connections are cut."""


class DrainingServer(uvicorn.Server):
    """A server that ends its engine some time after the signal to end.

    Args:
        config: uvicorn's; its own time to shut down is set here.
        drain_seconds: how long running requests may go on.

    Attributes:
        engine: set once it was started.
    """

    def __init__(self, config: uvicorn.Config, drain_seconds: int) -> None:
        config.timeout_graceful_shutdown = drain_seconds + LAST_SECONDS
        super().__init__(config)
        self.engine: Engine | None = None
        self._drain_seconds = drain_seconds
        self._timer: threading.Timer | None = None

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Take no new connections from now on, and let the time run."""
        super().handle_exit(sig, frame)
        if self._timer is None:
            self._timer = threading.Timer(self._drain_seconds, self._end)
            self._timer.daemon = True
            self._timer.start()

    def _end(self) -> None:
        if self.engine is not None:
            self.engine.stop()
