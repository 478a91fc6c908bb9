"""Running seeds on a Ray cluster; the extra `ray` brings the library."""

from __future__ import annotations

import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from lockstep.errors import LockstepError
from lockstep.fuzz.executors import Executor, Seeds
from lockstep.fuzz.worker import Subject, perform
from lockstep.limits import CLUSTER_SECONDS

ATTEMPTS = 3
"""Times that a seed is given to the cluster anew where its node is lost."""


@contextmanager
def cluster(subject: Subject, address: str) -> Iterator[Executor]:
    """Run seeds on the nodes of a cluster, which have Lockstep and the model's folder.

    Args:
        subject: what they run on.
        address: of the cluster, as `ray.init` takes it.

    Raises:
        LockstepError: LIBRARY_MISSING, Ray is not installed; CLUSTER_UNREACHABLE, nothing answers
            at the address.
    """
    ray = _library()
    _require_answer(address)
    try:
        ray.init(address=address, log_to_driver=False, configure_logging=False)
    except (ConnectionError, RuntimeError, ValueError) as fault:
        expected = "a Ray cluster"
        raise LockstepError("CLUSTER_UNREACHABLE", address, expected, fault) from None
    remote = ray.remote(max_retries=ATTEMPTS, num_cpus=1)(perform)

    def run(wanted: Sequence[Seeds]) -> Iterator[dict[str, Any]]:
        running = [remote.remote(subject, *entry) for entry in wanted]
        while running:
            done, running = ray.wait(running)
            yield from ray.get(done)

    try:
        yield run
    finally:
        ray.shutdown()


def _require_answer(address: str) -> None:
    """Refuse an address at which nothing listens, which Ray would wait for without an end."""
    host, _, port = address.rpartition(":")
    if not host or not port.isdigit():
        return
    try:
        socket.create_connection((host, int(port)), CLUSTER_SECONDS).close()
    except (OSError, OverflowError) as fault:
        expected = "a Ray cluster"
        raise LockstepError("CLUSTER_UNREACHABLE", address, expected, fault) from None


def _library() -> Any:
    try:
        import ray
    except ImportError as fault:
        hint = "The extra 'ray' brings it."
        raise LockstepError("LIBRARY_MISSING", "ray", "Ray", fault, hint) from None
    return ray
