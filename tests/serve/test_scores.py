"""Log-probabilities: their order, their ranks, their form in JSON."""

from __future__ import annotations

import json
from decimal import Decimal

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from lockstep.engine.backends import open_backend
from lockstep.serve.scores import Row, json_number, most_probable, score


@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_a_number_is_the_shortest_that_reads_back(value: float) -> None:
    text = json.dumps(json_number(value))
    read = np.float32(json.loads(text))
    assert read.tobytes() == np.float32(value).tobytes()
    # NumPy's text of a float32 is the shortest decimal that tells it from its neighbours.
    assert Decimal(text) == Decimal(str(np.float32(value)))


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=20), st.integers(0, 25))
def test_the_most_probable_stand_in_order(values: list[int], count: int) -> None:
    row = np.array(values, dtype=np.float32)
    order = sorted(range(len(values)), key=lambda token: (-values[token], token))
    assert most_probable(row, count) == order[:count]


def test_a_score_has_rank_and_top() -> None:
    backend = open_backend("host")
    logits = np.array([0, 2, 1, 2], dtype=np.float32)
    expected = backend.numpy(backend.log_softmax(backend.array(logits[None])))[0]
    [third, first] = score(backend, [Row(logits, 2, 2), Row(logits, 1, 0)])
    assert third.rank == 3
    assert third.logprob == expected[2]
    assert [token for token, _ in third.top] == [1, 3]
    assert (first.rank, first.top) == (1, ())
    assert score(backend, []) == []


def test_a_tie_counts_by_id() -> None:
    backend = open_backend("host")
    logits = np.array([2, 2], dtype=np.float32)
    assert [score(backend, [Row(logits, token, 0)])[0].rank for token in (0, 1)] == [1, 2]
