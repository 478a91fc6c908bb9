"""What an executor with another model tries, each judged by replay and by a calibrated distance.

Replay sees tokens that do not follow from what was signed, distance what was signed and is not the
model's. Each attack here is seen by one of them at least; which one is part of the test.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from lockstep.claims.distance_calibration import digest
from lockstep.engine.opening import Opened, open_model
from lockstep.sampling import resolve
from lockstep.sampling.compare import Calibration, Distance, calibration_of, compare
from lockstep.sampling.distance import measure, values
from lockstep.sampling.document import Artifact, Request, Signed, artifact_document
from lockstep.sampling.executor import Logprobs, execute, sample_position
from lockstep.sampling.forced import Chunk, Lanes
from lockstep.sampling.ladder import HONEST, RUNGS, observe
from lockstep.sampling.number import written
from lockstep.sampling.observe import Judged, judge
from lockstep.sampling.recast import blended, halved, recast
from lockstep.sampling.recomputed import Recomputed, read_recomputed, recompute
from lockstep.sampling.upstream_distance import mae_support
from tests.distance_records import folded
from tests.sampling.conftest import request_of
from tests.sampling.documents import request_document

PROMPT = tuple(range(40, 56))
LENGTH = 32
Model = Callable[[list[int]], Logprobs]


@cache
def opened_of(folder: Path, backend: str = "host") -> Opened:
    return open_model(folder, backend)


def model_of(folder: Path, backend: str = "host") -> Model:
    """Give a model's next log-probabilities, fed token by token after one prompt."""
    opened = opened_of(folder, backend).model
    state: dict[str, Any] = {}

    def after(tokens: list[int]) -> Logprobs:
        if not tokens:
            state["lanes"] = Lanes(opened, [len(PROMPT) + LENGTH])
        fed = tuple(tokens[-1:]) or PROMPT
        row = state["lanes"].feed([Chunk(0, fed, 1)])[0][0]
        return dict(enumerate(np.minimum(row, 0).astype(float).tolist()))

    return after


class Scene(NamedTuple):
    """The model that was asked for, what may be served in its place, and how it is judged."""

    folders: dict[str, Path]
    request: Request
    calibration: Calibration
    accepting_int8: Calibration


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    scratch = tmp_path_factory.mktemp("attacks")
    asked = blended(scratch / "asked")
    folders = {
        "asked": asked,
        "other": blended(scratch / "other", 2),
        "smaller": halved(asked, scratch / "smaller"),
        "int8": recast(asked, scratch / "int8_served", "int8"),
        "int4": recast(asked, scratch / "int4_served", "int4"),
    }
    seen = observe(asked, scratch, lambda *_: None, texts=4, rungs=RUNGS[: HONEST + 4])
    told = folded(seen, HONEST)
    sha256 = opened_of(asked).checkpoint.sha256
    request = request_of(
        parameters=resolve("1", 8),
        max_tokens=LENGTH,
        vocab_size=256,
        model_sha256=sha256,
        choices=1,
    )
    loose = folded(seen, HONEST + 3)
    yield Scene(
        folders,
        request,
        calibration_of(told, digest(told)),
        calibration_of(loose, digest(loose)),
    )


def judged(scene: Scene, artifact: Artifact) -> Judged:
    one = {
        "request": request_document(scene.request),
        "choice": 0,
        "artifact": artifact_document(artifact),
    }
    return judge({"sequences": [one]})[0]


def recomputed(scene: Scene, one: Judged) -> Recomputed:
    opened = opened_of(scene.folders["asked"])
    prompts = {scene.request.origin.inference_id: PROMPT}
    return read_recomputed(recompute(opened.model, opened.checkpoint.sha256, [one], prompts))


def verdicts(scene: Scene, artifact: Artifact) -> tuple[str, str]:
    """Give replay's verdict and the distance's."""
    one = judged(scene, artifact)
    found = compare(one, recomputed(scene, one), scene.calibration)
    assert not found.reason
    assert found.calibration == scene.calibration.sha256
    return one.outcome.verdict, found.verdict


def served(scene: Scene, name: str, backend: str = "host") -> Artifact:
    """Serve the request by a model: everything is signed as it was computed."""
    return execute(scene.request, 0, model_of(scene.folders[name], backend))


def test_an_honest_executor_on_other_kernels_is_within(scene: Scene) -> None:
    assert verdicts(scene, served(scene, "asked")) == ("honest", "within")
    assert verdicts(scene, served(scene, "asked", "fast")) == ("honest", "within")


@pytest.mark.parametrize("name", ["smaller", "int8"])
def test_another_model_is_honest_to_replay_and_beyond(scene: Scene, name: str) -> None:
    assert verdicts(scene, served(scene, name)) == ("honest", "beyond")


def test_what_is_accepted_is_a_policy(scene: Scene) -> None:
    # The line may be drawn after rounding to 8 bits: then that is the model, and 4 bits are not.
    for name, verdict in (("int8", "within"), ("int4", "beyond")):
        one = judged(scene, served(scene, name))
        found = compare(one, recomputed(scene, one), scene.accepting_int8)
        assert (name, found.verdict) == (name, verdict)


def test_prefill_then_score_is_fraud_to_replay_alone(scene: Scene) -> None:
    # Another model writes, and the one that was asked for scores what it wrote, in one pass.
    text = served(scene, "other")
    scorer = model_of(scene.folders["asked"])
    positions = []
    tokens: list[int] = []
    for place, one in enumerate(text.positions):
        support = sample_position(scene.request, 0, place, scorer(tokens)).support
        positions.append(Signed(one.token, support))
        tokens.append(int(one.token))
    assert verdicts(scene, replace(text, positions=tuple(positions))) == ("fraud", "within")


def bent(scene: Scene, every: int) -> Artifact:
    """Have another model write every so many tokens, and bend what is signed until they follow."""
    writer, scorer = (model_of(scene.folders[name]) for name in ("other", "asked"))
    positions = []
    tokens: list[int] = []
    for place in range(LENGTH):
        wanted, truth = writer(tokens), scorer(tokens)
        signed = sample_position(scene.request, 0, place, truth)
        if place % every == every - 1:
            ranked = sorted(wanted, key=lambda token: wanted[token], reverse=True)
            signed = _bent(scene, place, truth, ranked)
        positions.append(signed)
        tokens.append(int(signed.token))
    return Artifact(scene.request.copy(0), LENGTH, "length", tuple(positions))


def _bent(scene: Scene, place: int, truth: Logprobs, ranked: list[int]) -> Signed:
    """Sign a likely token of another model, and the least number that makes the draw land on it."""
    drawn = sample_position(scene.request, 0, place, truth).token
    target = next(token for token in ranked if str(token) != drawn)
    for share in (0.2, 0.4, 0.6, 0.8, 0.9, 0.99, 0.999):
        rest = math.log((1 - share) / (1 - math.exp(truth[target])))
        logprobs = {token: value + rest for token, value in truth.items()}
        logprobs[target] = math.log(share)
        signed = sample_position(scene.request, 0, place, logprobs)
        if signed.token == str(target):
            return signed
    raise AssertionError("some share makes any token follow")


def test_bent_log_probabilities_are_honest_to_replay_and_beyond(scene: Scene) -> None:
    assert verdicts(scene, bent(scene, 1)) == ("honest", "beyond")


def test_a_single_one_is_beyond_and_no_mean_of_means_sees_it(scene: Scene) -> None:
    artifact = bent(scene, LENGTH)
    one = judged(scene, artifact)
    other = recomputed(scene, one)
    found = compare(one, other, scene.calibration)
    assert (one.outcome.verdict, found.verdict) == ("honest", "beyond")
    # All gates but the last are those of what was not bent.
    assert found.statistics[:-1] == (0,) * 6
    positions = other.sequences[(scene.request.origin.inference_id, 0)]
    sides: tuple[list[dict[str, float]], list[dict[str, float]]] = (
        [{t: float(x) for t, x in signed.support or ()} for signed in artifact.positions],
        [{t: x / 10**24 for t, x in position.support.items()} for position in positions],
    )
    assert 0.01 < mae_support(*sides) < 0.25


def test_a_narrowed_kept_set_costs_what_was_left_out(scene: Scene) -> None:
    # Replay sees by the mass alone that a likely token is not among those that were signed.
    truth = model_of(scene.folders["asked"])([])
    row = {str(token): written(value) for token, value in truth.items()}
    ranked = sorted(row, key=lambda token: float(row[token]), reverse=True)
    whole = values(row)
    assert measure(values({token: row[token] for token in ranked[:8]}), whole).max == 0
    narrowed = measure(values({token: row[token] for token in ranked[1:9]}), whole)
    gap = float(row[ranked[0]]) - float(row[ranked[8]])
    assert narrowed.max == pytest.approx(gap * 1e12, rel=1e-9)
    # Only the token that was drawn, with its own number.
    single = measure(values({ranked[9]: row[ranked[9]]}), whole)
    assert single.max > narrowed.max > scene.calibration.thresholds[-1]


def test_a_singleton_is_no_artifact_and_is_not_decided(scene: Scene) -> None:
    honest = served(scene, "asked")
    positions = tuple(
        Signed(one.token, tuple(pair for pair in one.support or () if pair[0] == one.token))
        for one in honest.positions
    )
    one = judged(scene, replace(honest, positions=positions))
    assert one.outcome.verdict == "invalid_artifact"
    found = compare(one, recomputed(scene, one), scene.calibration)
    assert found == Distance("not_decided", "artifact_invalid")
