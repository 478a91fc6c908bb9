"""Experiment 8: what the engine draws for requests that it serves together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from lockstep.engine.drive import drive
from lockstep.engine.opening import Opened
from lockstep.engine.sampling import Sampling
from lockstep.sampling.document import read_artifact, read_request
from lockstep.sampling.experiments import Series
from lockstep.sampling.experiments_drawn import WAYS
from lockstep.sampling.record import Recorder, model_of
from lockstep.sampling.replay import one_by_one
from lockstep.sampling.shadow import PATHS
from lockstep.schedule.policies import ADVERSARIAL
from lockstep.schedule.policies.batching import Batching
from lockstep.schedule.workload import Request, Workload
from lockstep.schedule.workloads import Shape, make_workload, pool_for

BLOCK_SIZE = 16
TOKENS = 40


def served(folder: Path, opened: Opened, requests: int) -> Iterator[Series]:
    """Serve requests under a schedule with preemptions, and judge what they drew.

    Args:
        folder: of the model.
        opened: the model.
        requests: how many.
    """
    workload = _workload(requests, opened.model.config.vocab_size)
    recorder = Recorder(shadowed=True)
    pool = pool_for(workload, BLOCK_SIZE)
    drive(opened.model, workload, pool, Batching(ADVERSARIAL), recorder)
    document = recorder.document(model_of(folder, opened))
    for number, parameters in enumerate(WAYS):
        own = [one for one in workload.requests if one.sampling.resolved == parameters]
        names = {one.stream[0] for one in own}
        replayed: list[bool] = []
        for one in document["sequences"]:
            if one["request"]["inference_id"] in names:
                asked, made = read_request(one["request"]), read_artifact(one["artifact"])
                replayed += map(bool, one_by_one(asked, one["choice"], 0, made.positions))
        of = f"requests served together, parameters {number}"
        yield Series(8, "replay", of, parameters, tuple(replayed))
        for path in PATHS:
            bits = [bit for one in own for bit in recorder.differing(one.id, path.name)]
            yield Series(8, path.name, of, parameters, tuple(bits))


def _workload(requests: int, vocab_size: int) -> Workload:
    """Give prompts that share beginnings, each request with parameters in turn."""
    shape = Shape("prefixes", requests, vocab_size, BLOCK_SIZE, TOKENS)
    made = make_workload(shape, 8).requests
    return Workload(tuple(_drawing(one, number) for number, one in enumerate(made)))


def _drawing(request: Request, number: int) -> Request:
    way = WAYS[number % len(WAYS)]
    sampling = Sampling(
        way.temperature, way.top_k or 0, way.top_p or "1", way.min_p or "0", seed=number
    )
    return replace(request, max_new=TOKENS, ignore_eos=True, sampling=sampling)
