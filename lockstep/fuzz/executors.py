"""What runs the seeds of a round: this process, several, or a Ray cluster.

An executor decides nothing that a record holds. Records come back as they are made, in any order.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import Any

from lockstep.errors import LockstepError
from lockstep.fuzz.worker import Subject, begin, perform

Seeds = tuple[str, tuple[int, ...]]
"""A population, and the seeds of a lineage in it."""

Executor = Callable[[Sequence[Seeds]], Iterator[dict[str, Any]]]
"""Gives the record of each seed as it is made."""


@contextmanager
def here(subject: Subject) -> Iterator[Executor]:
    """Run seeds in this process, one after the other."""

    def run(wanted: Sequence[Seeds]) -> Iterator[dict[str, Any]]:
        for population, seeds in wanted:
            yield perform(subject, population, seeds)

    yield run


@contextmanager
def processes(subject: Subject, jobs: int) -> Iterator[Executor]:
    """Run seeds in processes of their own, which end with this one.

    Args:
        subject: what they run on.
        jobs: processes at once.
    """
    # A fork would copy the threads' locks of whatever library is loaded here.
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(jobs, context, begin, (subject.mutation,))

    def run(wanted: Sequence[Seeds]) -> Iterator[dict[str, Any]]:
        running: set[Future[dict[str, Any]]] = {
            pool.submit(perform, subject, *entry) for entry in wanted
        }
        while running:
            done, running = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                yield _result(future)

    try:
        yield run
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        for process in multiprocessing.active_children():
            process.terminate()
        raise
    pool.shutdown()


def _result(future: Future[dict[str, Any]]) -> dict[str, Any]:
    try:
        return future.result()
    except BrokenProcessPool:
        hint = "What is done is kept; the same command goes on."
        expected = "processes that run to their end"
        raise LockstepError("WORKER_ENDED", "a campaign", expected, "one ended", hint) from None
