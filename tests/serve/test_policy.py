"""The policy that serves: the schedule's own, lookups left out where there are to be none."""

from __future__ import annotations

import pytest

from lockstep.engine.live import LiveExecution
from lockstep.engine.opening import open_model
from lockstep.engine.tiny import TinyModel
from lockstep.errors import LockstepError
from lockstep.lifecycle import Pool
from lockstep.schedule.policy import take_step
from lockstep.schedule.workload import Request
from lockstep.serve.policy import NAMES, Driving, Served


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("cache", "scored"), [(True, False), (False, False), (True, True)])
def test_a_second_request_looks_up_unless_told_not_to(name: str, cache: bool, scored: bool) -> None:
    model = open_model(TinyModel()).model
    prompt = tuple(range(1, 34))
    execution = LiveExecution(model, Request("c0.1", prompt, 2, ignore_eos=True), Pool(32, 8))
    policy = Served(Driving(name, max_batch=4, prefix_cache=cache, seed=3), 1)
    while execution.unfinished:
        take_step(policy, execution.view, execution.act)
        execution.end_step()
    execution.arrive(Request("c0.2", prompt, 2, ignore_eos=True))
    if scored:
        policy.without_lookup.add("c0.2")
    while execution.unfinished:
        take_step(policy, execution.view, execution.act)
        execution.end_step()
    hits = "cache_hit" in execution.run().logs()["c0.2"]
    if not cache or scored:
        assert not hits
    elif name == "continuous":
        assert hits


@pytest.mark.parametrize("wrong", [{"policy": "canonical"}, {"max_batch": 0}, {"chunk_tokens": 0}])
def test_a_way_of_driving_that_there_is_not_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(LockstepError, match="USAGE"):
        Driving(**wrong)  # type: ignore[arg-type]
