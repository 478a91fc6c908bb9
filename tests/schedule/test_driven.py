"""Policies in the driver's seat of the engine: what they give there is legal, and replays."""

from __future__ import annotations

import json

import pytest

from lockstep.engine.backends import open_backend
from lockstep.engine.checkpoint import read_checkpoint
from lockstep.engine.drive import drive
from lockstep.engine.execute import execute
from lockstep.engine.model import Model
from lockstep.engine.tiny import make_tiny
from lockstep.lifecycle import Pool
from lockstep.schedule.policies import POLICIES, policy
from lockstep.schedule.schedule import parse_schedule
from lockstep.schedule.simulate import check
from lockstep.schedule.workloads import Shape, make_workload, pool_for

SEEDS = range(4)

ENDS = list(range(0, 256, 6))
"""Tokens that end a sequence: enough for short outputs to hold one now and then."""


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Model:
    folder = tmp_path_factory.mktemp("models") / "tiny"
    make_tiny(folder)
    for name in ("config.json", "generation_config.json"):
        settings = json.loads((folder / name).read_bytes())
        settings["eos_token_id"] = ENDS
        (folder / name).write_text(json.dumps(settings), "utf-8")
    return Model(read_checkpoint(folder), open_backend("host"))


@pytest.mark.parametrize("name", POLICIES)
def test_what_a_policy_did_replays_and_is_legal_without_the_model(model: Model, name: str) -> None:
    reasons = set()
    for seed in SEEDS:
        shape = Shape(("edges", "prefixes")[seed % 2], requests=5, block_size=4, max_new=6)
        workload = make_workload(shape, seed)
        pool = Pool(pool_for(workload, 4, tight=True).blocks + 4 * (seed % 3), 4)
        schedule, run = drive(model, workload, pool, policy(name, seed))
        assert run.unfinished == ()
        reasons |= {output.reason for output in run.outputs.values()}
        again = execute(model, workload, parse_schedule(schedule.document()))
        assert again.trajectory == run.trajectory
        assert again.outputs == run.outputs
        # Stand-ins for the tokens do not change what happens to whom, nor when.
        assert check(workload, schedule).logs() == run.logs()
    assert reasons == {"eos", "length"}
