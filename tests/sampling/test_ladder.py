"""A ladder of a tiny model: what is honest is near, and each rung after it is further away."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from lockstep.engine.weights import EMBEDDING, HEAD
from lockstep.sampling import ladder, recast
from lockstep.sampling.ladder import HONEST, RUNGS, Ladder, observe
from lockstep.sampling.recast import blended
from lockstep_verify.derive.distance_measures import parse
from tests.distance_records import folded, whole
from tests.refusals import refused
from tests.statements import judge


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Ladder:
    scratch = tmp_path_factory.mktemp("ladder")
    told: list[tuple[str, int, int]] = []
    made = observe(
        blended(scratch / "model"), scratch, lambda *step: told.append(step), texts=4, tokens=32
    )
    assert [place for _, place, _ in told] == list(range(len(RUNGS) + 1))
    assert {most for _, _, most in told} == {len(RUNGS) + 1}
    return made


def test_what_is_observed(seen: Ladder) -> None:
    assert [one.rung for one in seen.rungs] == list(RUNGS)
    assert (seen.vocab_size, seen.support_tokens, seen.stored_dtype) == (256, 8, "float32")
    same = [one.model_sha256 == seen.model_sha256 for one in seen.rungs]
    assert same == [True] * (HONEST + 1) + [False] * 5
    for one in seen.rungs:
        assert [len(text) for text in one.supports] == [32] * 4
        assert {len(pairs) for text in one.supports for pairs in text} == {8}
    for text in seen.recomputed:
        for pairs in text:
            assert parse(" ".join(f"{t}:{x}" for t, x in pairs), 256) is not None


def test_texts_are_sampled_and_differ(seen: Ladder) -> None:
    assert (
        len({text.tokens for text in seen.texts}) == len({text.prompt for text in seen.texts}) == 4
    )
    for text, row in zip(seen.texts, seen.recomputed, strict=True):
        assert all(str(token) in dict(pairs) for token, pairs in zip(text.tokens, row, strict=True))


def test_schedules_change_nothing_on_an_invariant_backend_and_something_on_another(
    seen: Ladder,
) -> None:
    told = folded(seen, HONEST)
    identical = {rung["name"]: rung["identical"] for rung in told["rungs"]}
    assert identical["chunked"] == identical["decoded"] == 128
    assert all(identical[rung.name] < 10 for rung in RUNGS[2:])


def test_each_rung_is_further_away(seen: Ladder) -> None:
    told = folded(seen, HONEST)
    medians = [rung["quantiles"][0][1] for rung in told["rungs"]][HONEST - 1 :]
    assert medians == sorted(medians)
    assert medians[-1] > 10**5 * medians[0]


def test_its_certificate_tells_each_from_the_model(seen: Ladder) -> None:
    found = judge(whole(seen, HONEST))
    assert found.verdict == "separated"
    assert (found.counts["held"], found.counts["separated"]) == (HONEST, len(RUNGS) - HONEST)
    # Accepting bfloat16 lets in rounding to 8 bits: the ladder says so.
    loose = judge(whole(seen, HONEST + 2))
    assert loose.verdict == "overlapping"
    assert "int8 not_separated" in loose.lines[0] or "int8 overlapping" in loose.lines[0]


def wide(source: Path, target: Path) -> Path:
    """Write a model of a larger vocabulary."""
    tensors = dict(recast._tensors(source))
    for name in (EMBEDDING, HEAD):
        tensors[name] = np.pad(tensors[name], ((0, 44), (0, 0)))
    return recast._write(source, target, {"vocab_size": 300}, tensors)


def test_folders_of_other_models_may_be_given(seen: Ladder, tmp_path: Path) -> None:
    other = blended(tmp_path / "given", 4)
    rungs = (RUNGS[0], RUNGS[-2], RUNGS[-1])
    made = observe(
        blended(tmp_path / "model"),
        tmp_path,
        lambda *_: None,
        smaller=other,
        other=other,
        rungs=rungs,
        texts=1,
        tokens=2,
        support_tokens=3,
    )
    assert made.model_sha256 == seen.model_sha256
    assert made.rungs[1].model_sha256 == made.rungs[2].model_sha256 != made.model_sha256
    made_for_words = wide(other, tmp_path / "wide")
    refused(
        "NOT_COMPARABLE",
        lambda: observe(
            tmp_path / "model",
            tmp_path,
            lambda *_: None,
            other=made_for_words,
            rungs=RUNGS[-1:],
            texts=1,
            tokens=1,
            support_tokens=3,
        ),
    )
    assert ladder.rungs_of(True) == RUNGS
    assert ladder.rungs_of(False) == RUNGS[:-1]
