"""Verdicts in batches are those one by one, of honest, forged and broken positions alike."""

from __future__ import annotations

import math
import random
import sys
from collections.abc import Sequence
from dataclasses import replace

import pytest

from lockstep.errors import LockstepError
from lockstep.sampling import benchmark, paths, resolve
from lockstep.sampling.batch import texts
from lockstep.sampling.batch.replay import Replay, in_batches
from lockstep.sampling.document import Request, Signed, artifact_document
from lockstep.sampling.number import is_logprob, is_token, written
from lockstep.sampling.observe import judge
from lockstep.sampling.replay import FRAUD, one_by_one
from tests.sampling.conftest import logprobs_after, request_of
from tests.sampling.documents import request_document

TEXTS = (
    *("", "0", "-0", "-0.0", "-1", "-12345", "-123456", "-01.5", "-1.50", "1.5", "-.5", "-1."),
    *("-0.000000000001", "-0.0000000000001", "-1.2.3", "--1", "-1\n", "-\u0661", "-1:5", "-/"),
)
TOKENS = ("", "00", "07", "9999999999", "12345678901", "a", "1\n2", "\u0665", "1:", "-1")


def broken(chosen: random.Random, signed: Signed) -> Signed:
    """Break a position in one of the ways that a reason is for, or in none."""
    pairs = list(signed.support or ())
    place = chosen.randrange(len(pairs))
    token, text = pairs[place]
    kind = chosen.randrange(9)
    if kind == 0:
        return Signed(signed.token, None)
    if kind == 1:
        return Signed(chosen.choice((*TOKENS, token)), signed.support)
    if kind == 2:
        pairs[place] = (token, chosen.choice(TEXTS))
    elif kind == 3:
        pairs[place] = (chosen.choice(TOKENS), text)
    elif kind == 4:
        pairs.pop(place)
    elif kind == 5:
        pairs.append(pairs[0])
    elif kind == 6:
        pairs.reverse()
    elif kind == 7:
        pairs[place] = (token, "-0.000001")
    return Signed(signed.token, tuple(pairs))


def require_same(request: Request, positions: Sequence[Signed], first: int = 0) -> Replay:
    found = Replay(request, 0, first, positions)
    assert found.reasons() == one_by_one(request, 0, first, positions)
    return found


def test_reasons_are_those_one_by_one() -> None:
    request, chosen = benchmark.request_of(5), random.Random(1)
    honest = benchmark.positions(5, 120, 1)
    found = require_same(request, [broken(chosen, signed) for signed in honest], first=3)
    assert 20 < found.effort.alone < 110
    assert found.effort.positions == 120


def test_honest_and_fraudulent_positions_are_not_looked_at_alone() -> None:
    request = benchmark.request_of(20)
    positions = benchmark.positions(20, 60, 2)
    reasons = in_batches(request, 0, 0, positions)
    assert set(reasons) == {"", FRAUD} or set(reasons) == {FRAUD}
    assert require_same(request, positions).effort.alone == 0


@pytest.mark.parametrize("bound", ["0.99", "1.01"])
def test_a_mass_by_a_bound_is_looked_at_alone(bound: str) -> None:
    request = benchmark.request_of(5)
    # Four tokens of e^-40, and one that has the rest of the mass, in steps about the bound.
    log, positions = math.log(float(bound)), []
    for step in (-1e-4, -2e-6, -1e-9, 0, 1e-9, 2e-6, 1e-4):
        if log + step > 0:
            pairs = [
                ("1", written(math.log(0.5))),
                ("2", written(math.log(float(bound) - 0.5) + step)),
            ]
        else:
            pairs = [("1", "-40"), ("2", written(log + step))]
        pairs += [(str(token), "-40") for token in (3, 4, 5)]
        positions.append(Signed("2", tuple(sorted(pairs))))
    # Besides those beside the bound, the one whose mass is wrong.
    assert require_same(request, positions).effort.alone == 6


@pytest.mark.parametrize(
    "changes",
    [
        {"parameters": resolve("0.8", None, "0.9", "0.05"), "vocab_size": 5000},
        {"parameters": resolve("1"), "vocab_size": 30},
        {"parameters": resolve("1", 12), "min_tokens": 3, "stop_tokens": (1, 7, 25)},
        {"parameters": resolve("999.9999999999999999", 12), "max_tokens": 2},
    ],
)
def test_each_rule_of_a_support(changes: dict[str, object]) -> None:
    from lockstep.sampling.executor import execute

    request = request_of(**changes)
    masked = request.stop_tokens if request.min_tokens else ()
    artifact = execute(request, 0, logprobs_after(request.vocab_size, masked))
    chosen = random.Random(2)
    positions = [*artifact.positions, *(broken(chosen, one) for one in artifact.positions)]
    require_same(request, positions)


def test_a_request_that_is_not_covered_is_refused_alike() -> None:
    request = replace(benchmark.request_of(5), features=("beam",))
    with pytest.raises(LockstepError) as refused:
        in_batches(request, 0, 0, benchmark.positions(5, 1, 1))
    assert refused.value.code == "NOT_COMPARABLE"


def test_texts_are_read_as_their_grammars_say() -> None:
    pairs = tuple((token, text) for token in (*TOKENS, "0", "10", "2") for text in TEXTS)
    lines = texts.lined(pairs)
    assert lines != pairs
    kept = tuple(pair for pair in pairs if all(t.isascii() and "\n" not in t for t in pair))
    assert texts.read([pairs]) is None
    found = texts.read([kept])
    assert found is not None
    for place, (token, text) in enumerate(kept):
        short = len(text.partition(".")[2]) <= 12
        assert found.well[place] == (is_token(token, 10**10) and is_logprob(text) and short)
    assert texts.key("10") < texts.key("2") < texts.key("20")


def test_without_numpy_there_is_the_plain_path(monkeypatch: pytest.MonkeyPatch) -> None:
    assert paths.choose().look is in_batches
    assert paths.choose(False) is paths.ONE_BY_ONE
    for name in [name for name in sys.modules if name.startswith("lockstep.sampling.batch")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "numpy", None)
    assert paths.choose() is paths.ONE_BY_ONE
    with pytest.raises(LockstepError) as refused:
        paths.choose(True)
    assert refused.value.code == "LIBRARY_MISSING"


def test_jobs_change_no_outcome() -> None:
    from lockstep.sampling.executor import execute

    request = request_of(max_tokens=4)
    sequences = [
        {
            "request": request_document(request),
            "choice": choice,
            "artifact": artifact_document(execute(request, choice, logprobs_after(5000))),
        }
        for choice in range(2)
    ]
    sequences[1]["artifact"]["positions"][2]["token"] = "1"  # type: ignore[index]
    alone = judge({"sequences": sequences})
    assert [one.outcome.verdict for one in alone] == ["honest", "fraud"]
    for look in (one_by_one, in_batches):
        for jobs in (1, 2, 3):
            assert judge({"sequences": sequences}, "", look, jobs) == alone
    sequences[1]["choice"] = 2
    with pytest.raises(LockstepError) as refused:
        judge({"sequences": sequences}, "x", in_batches, 2)
    assert refused.value.pointer == "x:/sequences/1/choice"
