"""The verdict on a sequence: each reason for which it is not decided, and what decides it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from lockstep import spec
from lockstep.claims.distance_calibration import digest
from lockstep.engine.opening import open_model
from lockstep.engine.tiny import TinyModel
from lockstep.sampling import resolve
from lockstep.sampling.compare import Calibration, calibration_of, compare
from lockstep.sampling.document import artifact_document
from lockstep.sampling.executor import execute
from lockstep.sampling.forced import Schedule, Text, forced
from lockstep.sampling.number import written
from lockstep.sampling.observe import Judged, judge
from lockstep.sampling.recomputed import Recomputed, measurable, read_recomputed, recompute
from tests.distance_records import folded, ladder
from tests.refusals import refused
from tests.sampling.conftest import logprobs_after, request_of
from tests.sampling.documents import request_document

VOCABULARY = 40
MODEL = logprobs_after(VOCABULARY)
REQUEST = request_of(parameters=resolve("1", 6), vocab_size=VOCABULARY, max_tokens=33, choices=1)
MOST = Calibration("c" * 64, REQUEST.model_sha256, 6, (10**9,) * 7, False)
HONEST = execute(REQUEST, 0, MODEL)


def stated(**changes: Any) -> dict[str, Any]:
    return {
        "request": {**request_document(REQUEST), **changes},
        "choice": 0,
        "artifact": json.loads(json.dumps(artifact_document(HONEST))),
    }


def judged(one: dict[str, Any] | None = None) -> Judged:
    return judge({"sequences": [one or stated()]})[0]


def document(moved: float = 0.0) -> dict[str, Any]:
    """Give what a validator recomputed: the same model, but for one token that is moved."""
    positions, tokens = [], []
    for one in HONEST.positions:
        row = {str(token): written(value) for token, value in MODEL(tokens).items()}
        held = [token for token, _ in one.support or ()]
        row[held[0]] = written(float(row[held[0]]) - moved)
        ranked = sorted(row, key=lambda token: (-float(row[token]), token))[:6]
        support = [[token, row[token]] for token in sorted({*held, *ranked})]
        positions.append({"token": one.token, "support": support})
        tokens.append(int(one.token))
    sequence = {
        "inference_id": REQUEST.origin.inference_id,
        "choice": 0,
        "positions": positions,
    }
    return {
        "version": "distance/v1",
        "model_sha256": REQUEST.model_sha256,
        "backend": "host",
        "dtype": "float32",
        "sequences": [sequence],
    }


def recomputed(**changes: Any) -> Recomputed:
    return read_recomputed({**document(), **changes})


def test_what_is_the_same_is_within_any_thresholds() -> None:
    found = compare(judged(), recomputed(), MOST._replace(thresholds=(0,) * 7))
    assert (found.verdict, found.reason, found.positions) == ("within", "", 33)
    assert found.statistics == (0,) * 7
    assert (found.calibration, found.thresholds) == ("c" * 64, (0,) * 7)


def test_a_statistic_above_its_threshold_is_beyond() -> None:
    other = read_recomputed(document(moved=0.01))
    told = compare(judged(), other, MOST).statistics
    assert compare(judged(), other, MOST._replace(thresholds=told)).verdict == "within"
    for gate, statistic in enumerate(told):
        assert statistic > 0
        below = tuple(most - (place == gate) for place, most in enumerate(told))
        assert compare(judged(), other, MOST._replace(thresholds=below)).verdict == "beyond"


def test_a_single_position_of_a_short_sequence_can_be_beyond() -> None:
    """Else whoever bends numbers would draw a stop token early, and be judged by nothing."""
    short = stated(max_tokens=9)
    short["artifact"] |= {"positions": short["artifact"]["positions"][:9], "length": 9}
    few = document(moved=0.01)
    few["sequences"][0]["positions"] = few["sequences"][0]["positions"][:9]
    other = read_recomputed(few)
    told = compare(judged(short), other, MOST).statistics
    at_most = MOST._replace(thresholds=told)
    assert compare(judged(short), other, at_most).reason == "positions_few"
    gates = spec.load("distance-calibration.json")["gates"]
    assert [gate["permille"] for gate in gates][-1] == 1000
    largest = MOST._replace(thresholds=(*told[:-1], told[-1] - 1))
    assert compare(judged(short), other, largest)[:3] == ("beyond", "", 9)
    rest = MOST._replace(thresholds=(*(0,) * (len(told) - 1), told[-1]))
    assert compare(judged(short), other, rest).reason == "positions_few"
    for void in (largest._replace(void=True), None):
        assert compare(judged(short), other, void).reason == "positions_few"


def without(document: dict[str, Any], *way: Any) -> dict[str, Any]:
    target: Any = document
    for step in way[:-1]:
        target = target[step]
    del target[way[-1]]
    return document


def changed(document: dict[str, Any], value: Any, *way: Any) -> dict[str, Any]:
    target: Any = document
    for step in way[:-1]:
        target = target[step]
    target[way[-1]] = value
    return document


POSITION = ("sequences", 0, "positions", 3)


def test_each_reason_has_a_case() -> None:
    short = stated(max_tokens=31)
    short["artifact"] |= {"positions": short["artifact"]["positions"][:31], "length": 31}
    few = document()
    few["sequences"][0]["positions"] = few["sequences"][0]["positions"][:31]
    held = HONEST.positions[3].support or ()
    signed = next(
        n
        for n, (token, _) in enumerate(document()["sequences"][0]["positions"][3]["support"])
        if token == held[2][0]
    )
    invalid = stated()
    invalid["artifact"]["positions"][5]["support"] = None
    half = stated()
    half["artifact"]["positions"][5]["support"] = None
    half["artifact"]["positions"][0]["token"] = next(
        token
        for token, _ in HONEST.positions[0].support or ()
        if token != HONEST.positions[0].token
    )
    outside = document()
    outside["sequences"][0]["positions"][3]["support"].append(["99", "-9"])
    massless = document()
    for pair in massless["sequences"][0]["positions"][3]["support"]:
        pair[1] = "-20"
    cases: dict[str, list[tuple[dict[str, Any], dict[str, Any], Calibration | None]]] = {
        "not_covered": [
            (stated(temperature="0"), document(), MOST),
            (stated(version="sampling/v2"), document(), MOST),
        ],
        "artifact_invalid": [(invalid, document(), MOST), (half, document(), MOST)],
        "recomputed_missing": [(stated(), changed(document(), [], "sequences"), MOST)],
        "recomputed_other_model": [(stated(), changed(document(), "9" * 64, "model_sha256"), MOST)],
        "recomputed_other_tokens": [
            (stated(), changed(document(), "39", *POSITION, "token"), MOST),
            (stated(), without(document(), *POSITION), MOST),
        ],
        "recomputed_incomplete": [
            (stated(), without(document(), *POSITION, "support", signed), MOST),
            (stated(), outside, MOST),
            (stated(), massless, MOST),
        ],
        "positions_few": [(short, few, MOST)],
        "calibration_missing": [(stated(), document(), None)],
        "calibration_other": [
            (stated(), document(), MOST._replace(model_sha256="8" * 64)),
            (stated(), document(), MOST._replace(support_tokens=7)),
        ],
        "calibration_void": [(stated(), document(), MOST._replace(void=True))],
    }
    assert list(cases) == spec.load("distance-calibration.json")["reasons"]
    for reason, tried in cases.items():
        for one, other, calibration in tried:
            found = compare(judged(one), read_recomputed(other), calibration)
            assert (found.verdict, found.reason) == ("not_decided", reason)
            assert (found.thresholds, found.calibration) == ((), "")


def test_a_fraud_is_measured_all_the_same() -> None:
    forged = stated()
    forged["artifact"]["positions"][0]["token"] = "39"
    one = judged(forged)
    assert (one.outcome.verdict, measurable(one)) == ("fraud", True)
    other = changed(document(), "39", "sequences", 0, "positions", 0, "token")
    assert compare(one, read_recomputed(other), MOST).verdict == "within"


@pytest.mark.parametrize(("noises", "accepts", "void"), [
    ((0.0, 1e-6, 1.0), 2, False),
    ((0.0, 1.0, 1e-6), 2, False),
])  # fmt: skip
def test_a_calibration_is_taken_as_it_was_placed(
    noises: tuple[float, ...], accepts: int, void: bool
) -> None:
    told = folded(ladder(noises=noises), accepts)
    found = calibration_of(told, digest(told))
    assert found.thresholds == tuple(told["placements"][accepts - 1]["thresholds"])
    assert (found.void, found.support_tokens, found.sha256) == (void, 4, digest(told))


def test_a_calibration_that_decides_nothing_is_void() -> None:
    told = folded(ladder(texts=2))
    assert told["verdict"] == "not_decided"
    assert calibration_of(told, digest(told)).void
    told = folded(ladder())
    told["placements"][told["accepts"] - 1]["outcomes"][0] = "not_held"
    assert calibration_of(told, digest(told)).void


@pytest.mark.parametrize(
    ("way", "value", "code"),
    [
        (("version",), "distance/v2", "BAD_VALUE"),
        (("model_sha256",), "9", "BAD_VALUE"),
        (("sequences", 0, "choice"), "0", "WRONG_TYPE"),
        ((*POSITION, "support", 0), ["39", "-1"], "BAD_VALUE"),
        ((*POSITION, "support", 0, 1), "-1.0", "BAD_VALUE"),
        ((*POSITION, "support", 0, 0), "00", "BAD_VALUE"),
        ((*POSITION, "more"), 1, "UNKNOWN_FIELD"),
    ],
)
def test_what_is_no_such_document_is_refused(way: tuple[Any, ...], value: Any, code: str) -> None:
    made = changed(document(), value, *way)
    refused(code, lambda: read_recomputed(made, "file.json"))


def test_a_sequence_stands_there_once() -> None:
    made = document()
    made["sequences"].append(made["sequences"][0])
    refused("BAD_VALUE", lambda: read_recomputed(made))


def test_masked_tokens_are_no_part_of_a_distribution() -> None:
    # [SAMP-26]: the executor's numbers are normalised after the mask, and so are the validator's.
    opened = open_model(TinyModel())
    request = replace(REQUEST, vocab_size=256, min_tokens=1, stop_tokens=(7, 8, 9), max_tokens=2)
    prompt = (1, 2, 3)

    def after(tokens: list[int]) -> dict[int, float]:
        text = Text("x", prompt, (*tokens, 0))
        row = forced(opened.model, [text], Schedule("alone"))[0][-1].astype(float)
        if not tokens:
            row = np.delete(row, list(request.stop_tokens))
            ids = np.delete(np.arange(256), list(request.stop_tokens))
            row = row - np.log(np.exp(row).sum())
            return dict(zip(ids.tolist(), np.minimum(row, 0).tolist(), strict=True))
        return dict(enumerate(np.minimum(row, 0).tolist()))

    artifact = execute(request, 0, after)
    one = judge(
        {
            "sequences": [
                {
                    "request": request_document(request),
                    "choice": 0,
                    "artifact": artifact_document(artifact),
                }
            ]
        }
    )[0]
    assert one.outcome.verdict == "honest"
    made = recompute(
        opened.model, request.model_sha256, [one], {request.origin.inference_id: prompt}
    )
    found = compare(one, read_recomputed(made), None)
    assert found.reason == "positions_few"
    assert max(found.statistics) < 10**7
    refused("MISSING_FIELD", lambda: recompute(opened.model, request.model_sha256, [one], {}))
