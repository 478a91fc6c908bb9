"""The runner: runs of relations over processes, resumable, one record each."""

from __future__ import annotations

import hashlib
import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from lockstep import spec
from lockstep.engine.backends.machine import sources_digest
from lockstep.engine.environment import binding_sha256
from lockstep.engine.model import Model
from lockstep.engine.opening import open_model
from lockstep.engine.sources import ENGINE
from lockstep.relations import catalogue
from lockstep.relations.observation import Observation, Subject
from lockstep.relations.registry import RELATIONS
from lockstep.relations.relation import observe
from lockstep.relations.results import read_observations, write_observations

SOURCES = (*ENGINE, "lockstep.relations")
"""The packages and modules whose sources bear on what a run observes."""


class Plan(NamedTuple):
    """One run to be made.

    Attributes:
        relation: its name.
        block_size: of the run.
        seed: of the run.
        backend: the backend's name.
        dtype: its compute dtype; None for the backend's own.
        folder: the model's folder.
    """

    relation: str
    block_size: int
    seed: int
    backend: str
    dtype: str | None
    folder: Path


def plans(
    folder: Path,
    backend: str = "host",
    dtype: str | None = None,
    relations: Sequence[str] = (),
    block_sizes: Sequence[int] = (),
    seeds: Sequence[int] = (0,),
) -> list[Plan]:
    """Give the runs of relations at their block sizes, in the order of the spec.

    Args:
        folder: the model's folder.
        backend: the backend's name.
        dtype: its compute dtype; None for the backend's own.
        relations: names; none for all.
        block_sizes: which of the relations' block sizes; none for all.
        seeds: of each pair of relation and block size.

    Raises:
        LockstepError: BAD_VALUE, a relation or block size that the spec does not declare.
    """
    chosen = [catalogue.require_declared(name) for name in relations or catalogue.declared()]
    sizes = [catalogue.require_block_size(size) for size in block_sizes or catalogue.block_sizes()]
    return [
        Plan(relation.name, size, seed, backend, dtype, folder)
        for relation in chosen
        for size in sizes
        if size in relation.block_sizes
        for seed in seeds
    ]


def control_plans(folder: Path, dtype: str | None = None) -> list[Plan]:
    """Give the runs of the positive controls [REL-7]."""
    return [
        Plan(control.relation, control.block_size, control.seed, control.backend, dtype, folder)
        for control in catalogue.controls()
    ]


def run_plans(
    wanted: Sequence[Plan],
    results: Path | None = None,
    jobs: int | None = None,
    tell: Callable[[int, Observation], None] = lambda done, observation: None,
    warn: Callable[[str], None] = lambda text: None,
) -> list[Observation]:
    """Make runs that are not in a file of results yet; each is in it as soon as it is made.

    A record of another model, backend or version of the sources is not taken for the run's, and
    neither is one that says `not_run`. Records of runs that are not wanted stay in the file.

    Args:
        wanted: the runs; their model and backend are opened here first.
        results: the file, a record a line; None keeps none.
        jobs: processes; None for one a core, 1 for this process alone.
        tell: called with the number of runs done, and each observation as it is made or found.
        warn: called with what was lost of the file, in words.

    Returns:
        An observation for each run, in the order given.

    Raises:
        LockstepError: as `open_model`; as `read_observations`.
    """
    subjects = {plan[3:]: opened(*plan[3:])[1] for plan in wanted}
    held = read_observations(results, warn) if results else []
    kept = {_key(entry): entry for entry in held}
    mine = {plan[:3] for plan in wanted}
    others = [entry for entry in held if _key(entry)[:3] not in mine]
    found: dict[Plan, Observation] = {}
    for plan in wanted:
        entry = kept.get((*plan[:3], subjects[plan[3:]]))
        if entry is not None and entry.outcome != "not_run":
            found[plan] = entry
            tell(len(found), entry)
    missing = [plan for plan in wanted if plan not in found]
    # Large blocks take longest; begun first, they do not end alone.
    missing.sort(key=lambda plan: -plan.block_size)
    for plan, observation in _observations(missing, jobs or os.cpu_count() or 1):
        found[plan] = observation
        if results is not None:
            made = [found[one] for one in wanted if one in found]
            write_observations(results, made + others)
        tell(len(found), observation)
    return [found[plan] for plan in wanted]


def perform(plan: Plan) -> Observation:
    """Make one run in this process."""
    model, subject = opened(*plan[3:])
    relation = RELATIONS[plan.relation]
    return observe(relation, model, plan.folder, subject, plan.block_size, plan.seed)


@lru_cache(maxsize=4)
def opened(backend: str, dtype: str | None, folder: Path) -> tuple[Model, Subject]:
    """Open a backend, read the model for it, and digest both; once in each process.

    Raises:
        LockstepError: as `open_model`.
    """
    model = open_model(folder, backend, dtype).model
    return model, subject_of(model)


def subject_of(model: Model) -> Subject:
    """Give what a run over a model is about, by digest."""
    backend = model.backend
    return Subject(
        backend=backend.name,
        dtype=backend.dtype,
        model_digest=model.digest.hex(),
        binding_sha256=binding_sha256(backend.binding()),
        sources_sha256=_sources_sha256(),
    )


def _sources_sha256() -> str:
    sources = bytes.fromhex(sources_digest(*SOURCES))
    return hashlib.sha256(sources + spec.read(catalogue.FILE)).hexdigest()


def _key(observation: Observation) -> tuple[str, int, int, Subject]:
    return (
        observation.relation,
        observation.block_size,
        observation.seed,
        observation.subject,
    )


def _observations(wanted: Sequence[Plan], jobs: int) -> Iterator[tuple[Plan, Observation]]:
    """Make runs, and give each as it ends; an interruption ends the processes."""
    if jobs == 1 or len(wanted) < 2:
        for plan in wanted:
            yield plan, perform(plan)
        return
    # A fork would copy the threads' locks of whatever library is loaded here.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(min(jobs, len(wanted)), context, _leave_interrupts) as pool:
        running = {pool.submit(perform, plan): plan for plan in wanted}
        try:
            for future in as_completed(running):
                yield running[future], future.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for process in multiprocessing.active_children():
                process.terminate()
            raise


def _leave_interrupts() -> None:
    """Leave Ctrl-C to the parent, which ends its processes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
