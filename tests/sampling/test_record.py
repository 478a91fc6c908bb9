"""Artifacts of an execution: honest ones, of the engine's own draws."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from lockstep.engine.drive import drive
from lockstep.engine.opening import Opened, open_model
from lockstep.engine.sampling import Sampling
from lockstep.engine.tiny import TinyModel, make_tiny
from lockstep.sampling import demonstration
from lockstep.sampling.observe import judge
from lockstep.sampling.parameters import resolve
from lockstep.sampling.record import Recorder, model_of
from lockstep.sampling.seed import Origin, derive_seed
from lockstep.sampling.shadow import PATHS, shadow
from lockstep.sampling.support import choose
from lockstep.schedule.policies import ADVERSARIAL, CONTINUOUS
from lockstep.schedule.policies.batching import Batching, Settings
from lockstep.schedule.workload import Request, Workload
from lockstep.schedule.workloads import pool_for

DRAWN = Request("chain-7.0", (1, 2, 3), 6, ignore_eos=True, sampling=Sampling("1", 20, seed=4))
REQUESTS = Workload(
    (
        DRAWN,
        replace(DRAWN, id="chain-7.1"),
        Request("wide", (5, 6), 3, sampling=Sampling("0.9", top_p="0.9", beacon="0a" * 32)),
        Request("greedy", (7, 8, 9), 3),
    )
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_tiny(tmp_path_factory.mktemp("tiny") / "model", TinyModel())


@pytest.fixture(scope="module")
def opened(folder: Path) -> Opened:
    return open_model(folder)


def recorded(
    opened: Opened, workload: Workload, settings: Settings = CONTINUOUS, shadowed: bool = False
) -> Recorder:
    recorder = Recorder(shadowed)
    drive(opened.model, workload, pool_for(workload, 16), Batching(settings), recorder)
    return recorder


def test_what_is_recorded_is_honest_under_any_schedule(folder: Path, opened: Opened) -> None:
    model = model_of(folder, opened)
    documents = [
        recorded(opened, REQUESTS, settings).document(model)
        for settings in (CONTINUOUS, ADVERSARIAL)
    ]
    assert documents[0] == documents[1]
    told = [(one.request["inference_id"], one.choice, one.outcome) for one in judge(documents[0])]
    assert [(name, choice, found.verdict) for name, choice, found in told] == [
        ("chain-7", 0, "honest"),
        ("chain-7", 1, "honest"),
        ("wide", 0, "honest"),
        ("greedy", 0, "not_covered"),
    ]
    asked = [one["request"] for one in documents[0]["sequences"]]
    assert [one["choices"] for one in asked] == [2, 2, 1, 1]
    assert [one["beacon"] for one in asked] == ["", "", "0a" * 32, ""]
    assert asked[0]["stop_tokens"] == [] and asked[2]["stop_tokens"] == [0]


def test_shadows_change_nothing_and_are_counted(folder: Path, opened: Opened) -> None:
    plain, watched = recorded(opened, REQUESTS), recorded(opened, REQUESTS, shadowed=True)
    model = model_of(folder, opened)
    assert plain.document(model) == watched.document(model)
    positions, differing = watched.shadows
    assert positions == 15 and set(differing) == {path.name for path in PATHS}
    assert sum(watched.differing("wide", "binary32")) <= 3
    assert plain.shadows.positions == 0


@pytest.mark.parametrize(
    "other", [replace(DRAWN, id="chain-7.0.5"), replace(DRAWN, id="chain-7.1", max_new=5)]
)
def test_a_name_of_two_requests_is_left_out(folder: Path, opened: Opened, other: Request) -> None:
    recorder = recorded(opened, Workload((DRAWN, other, replace(DRAWN, id="whole"))))
    sequences = recorder.document(model_of(folder, opened))["sequences"]
    assert [one["request"]["inference_id"] for one in sequences] == ["whole"]


def test_nothing_was_seen(folder: Path, opened: Opened) -> None:
    assert Recorder().document(model_of(folder, opened)) == {"sequences": []}


def test_the_demonstration_is_the_engines_own() -> None:
    made = demonstration.document()
    assert json.loads(json.dumps(made)) == made
    found = [one.outcome for one in judge(made)]
    assert [one.reason for one in found] == ["", "", "", "", "", "", "", "greedy"]
    assert found[5].positions < 64


def test_floats_draw_from_weights_that_sum_to_what_they_may() -> None:
    units = np.array([-(n * n) * 10**9 - 10**12 for n in range(300)])
    parameters = resolve("0.7", None, "0.9", "0.01")
    held = choose(np.arange(300), units, parameters, 300)
    totals = set()
    for position in range(40):
        for path in PATHS:
            totals.add(
                shadow(held, parameters, derive_seed(Origin(1, "a"), 0, position), path).total
            )
    assert totals != {1 << 16}
