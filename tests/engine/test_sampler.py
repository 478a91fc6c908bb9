"""Draws: by the sampler of spec/sampling.md, and such that they know no neighbour."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from lockstep.engine.backends import open_backend
from lockstep.engine.sampler import Drawing, sample, seed, support, units, weigh
from lockstep.engine.sampling import Sampling
from lockstep.errors import LockstepError
from lockstep.sampling import Origin, derive_seed, draw, weights
from lockstep.sampling.number import written

HOST = open_backend("host")
VOCABULARY = 50
WAYS = (
    Sampling("0.7", seed=5),
    Sampling("1", top_k=20),
    Sampling("1.3", top_p="0.9"),
    Sampling("0.9", 40, "0.95", "0.05", 7),
    Sampling("0.00001"),
    Sampling("100", top_k=1, beacon="0b" * 32),
)


def rows(
    count: int, vocabulary: int = VOCABULARY
) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    return np.random.default_rng(3).standard_normal((count, vocabulary)).astype(np.float32) * 3


def drawing(name: str = "a", position: int = 9, choice: int = 0, **parameters: object) -> Drawing:
    sampling = Sampling(**{"temperature": "1", **parameters})  # type: ignore[arg-type]
    return Drawing(name, choice, position, sampling)


def by_texts(row: np.ndarray[tuple[int], np.dtype[np.float32]], way: Drawing) -> int:
    """[ENG-14] and [ENG-15] by the functions that judge what an executor has signed."""
    logprobs = HOST.log_softmax(row[None])[0]
    texts = {str(token): written(float(value)) for token, value in enumerate(logprobs)}
    if 0 < way.sampling.top_k < len(row):
        ranked = sorted(texts.items(), key=lambda pair: (-Decimal(pair[1]), pair[0]))
        texts = dict(ranked[: way.sampling.top_k])
    origin = Origin(way.sampling.seed, way.name, way.sampling.beacon)
    named = derive_seed(origin, way.choice, way.position)
    return int(draw(weights(texts, way.sampling.resolved), named))


@pytest.mark.parametrize("sampling", WAYS)
def test_a_token_is_that_of_the_texts(sampling: Sampling) -> None:
    logits = rows(20)
    ways = [Drawing("chain-7", n % 3, n, sampling) for n in range(len(logits))]
    expected = [by_texts(row, way) for row, way in zip(logits, ways, strict=True)]
    assert sample(HOST, logits, ways) == expected


def test_units_are_exactly_those_of_what_is_written() -> None:
    logits = np.concatenate([rows(30, 700), rows(30, 700) * np.float32(1e-3)])
    logits[0, 0] = 40.0
    logits[1, :2] = 3e38, -3e38
    logprobs = HOST.log_softmax(logits)
    made = units(HOST, logits)
    assert made[1, 1] == -99999 * 10**12 and np.isneginf(logprobs[1, 1])
    logprobs[1, 1] = -2e5
    for values, row in zip(logprobs.tolist(), made.tolist(), strict=True):
        assert [Fraction(written(value)) * 10**12 for value in values] == row


def test_supports_are_those_of_the_rules() -> None:
    row = units(HOST, rows(1, 3000))[0]
    least = {name: len(support(row, way).tokens) for name, way in {
        "top_k": Sampling("1", top_k=1024),
        "more than is signed": Sampling("1", top_k=1025),
        "unbounded": Sampling("1", top_p="0.9"),
        "min_p": Sampling("1", min_p="0.5"),
    }.items()}  # fmt: skip
    assert least["top_k"] == 1024
    assert least["more than is signed"] == least["unbounded"] == 3000
    gaps = (row - row.max()) / 10**12
    assert least["min_p"] == int((np.exp(gaps) >= 0.5).sum()) + 1
    assert len(weigh(row, Sampling("1", top_k=1025))) == 1025
    tokens = [str(token) for token in support(row, Sampling("1", top_p="0.9")).tokens]
    assert tokens == sorted(tokens)


def test_seeds_differ_with_seed_beacon_name_choice_and_position() -> None:
    ways = [
        drawing(),
        drawing(seed=1),
        drawing(beacon="00" * 32),
        drawing("b"),
        drawing(choice=1),
        drawing(position=10),
    ]
    assert len({seed(way) for way in ways}) == len(ways)
    # What does not bear on the draw, does not change it.
    assert seed(drawing(temperature="0.5", top_k=3)) == seed(drawing())


def test_draws_follow_the_weights() -> None:
    logits = np.log(np.array([[6, 3, 1]], dtype=np.float32))
    counts: Counter[int] = Counter()
    for position in range(2000):
        counts.update(sample(HOST, logits, [drawing(position=position)]))
    # Three standard deviations of a binomial of 2,000 are at most 66.
    assert all(abs(counts[token] - 200 * share) < 66 for token, share in ((0, 6), (1, 3), (2, 1)))


@pytest.mark.parametrize("temperature", ["0", "0.000009999"])
def test_greedy_takes_the_first_of_the_largest_and_draws_nothing(temperature: str) -> None:
    logits = np.array([[1, 3, 3, 2], [-5, -7, -0.0, 0.0]], dtype=np.float32)
    greedy = drawing(temperature=temperature)
    assert greedy.sampling.greedy and not drawing(temperature="0.00001").sampling.greedy
    assert sample(HOST, logits, [greedy, greedy]) == [1, 2]
    assert sample(HOST, np.zeros((0, 4), dtype=np.float32), []) == []


def test_a_row_is_drawn_alike_in_any_company() -> None:
    logits = rows(7)
    ways = [
        drawing(f"r{n}", n, temperature="0.8" if n % 3 else "0", seed=n, top_k=20, top_p="0.9")
        for n in range(7)
    ]
    alone = [sample(HOST, logits[n : n + 1], [ways[n]])[0] for n in range(7)]
    assert sample(HOST, logits, ways) == alone
    assert sample(HOST, logits[::-1].copy(), ways[::-1]) == alone[::-1]
    assert len(set(alone)) > 3


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("temperature", ["0", "1"])
def test_what_is_not_finite_is_refused(wrong: float, temperature: str) -> None:
    logits = np.zeros((2, 4), dtype=np.float32)
    logits[1, 2] = wrong
    with pytest.raises(LockstepError) as caught:
        sample(HOST, logits, [drawing("a"), drawing("b", 7, temperature=temperature)])
    assert caught.value.code == "LOGITS_NOT_FINITE"
    assert caught.value.pointer == "request b, output 7"
    assert caught.value.got == f"{np.float32(wrong)} for token 2"
