"""Filters and draws: the order of filters, exact shares, and draws that know no neighbour."""

from __future__ import annotations

import contextlib
import hashlib
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockstep.engine.backends import open_backend
from lockstep.engine.sampler import Drawing, keep, point, sample
from lockstep.engine.sampling import Sampling
from lockstep.errors import LockstepError

HOST = open_backend("host")
LARGEST = 1 << 30


def weights(*values: int) -> np.ndarray[tuple[int], np.dtype[np.uint32]]:
    return np.array(values, dtype=np.uint32)


def kept(values: tuple[int, ...], **parameters: object) -> list[int]:
    """The ids that the filters keep."""
    sampling = Sampling(temperature="1", **parameters)  # type: ignore[arg-type]
    return [int(token) for token in np.flatnonzero(keep(weights(*values), sampling))]


def by_definition(values: list[int], sampling: Sampling) -> list[int]:
    """[ENG-14] in fractions, one token at a time."""
    ranked = sorted(range(len(values)), key=lambda token: (-values[token], token))
    if sampling.top_k:
        ranked = ranked[: sampling.top_k]
    total = sum(values[token] for token in ranked)
    if sampling.top_p != "1":
        prefix, reached = [], 0
        for token in ranked:
            prefix.append(token)
            reached += values[token]
            if reached >= Fraction(sampling.top_p) * total:
                break
        ranked = prefix
    least = Fraction(sampling.min_p) * values[ranked[0]]
    left = {token for token in ranked if values[token] >= least}
    return [value if token in left else 0 for token, value in enumerate(values)]


PLACES = st.integers(0, 999).map(lambda n: f"{n / 1000:.3f}".rstrip("0").rstrip("."))


@given(
    st.lists(st.one_of(st.integers(0, 40), st.integers(0, LARGEST)), max_size=12),
    st.integers(0, 14),
    PLACES.filter(lambda text: text != "0"),
    PLACES,
)
def test_filters_are_those_of_the_spec(rest: list[int], k: int, top_p: str, min_p: str) -> None:
    values = [*rest, LARGEST]
    sampling = Sampling("1", k, top_p, min_p)
    assert keep(weights(*values), sampling).tolist() == by_definition(values, sampling)


def test_each_filter_alone() -> None:
    values = (10, 50, 20, 50, 0)
    assert kept(values) == [0, 1, 2, 3]
    # Equal weights go by id.
    assert kept(values, top_k=1) == [1]
    assert kept(values, top_k=3) == [1, 2, 3]
    # 50 + 50 + 20 of 130 are 0.923….
    assert kept(values, top_p="0.769230769") == [1, 3]
    assert kept(values, top_p="0.76923077") == [1, 2, 3]
    assert kept(values, min_p="0.4") == [1, 2, 3]
    assert kept(values, min_p="0.400000001") == [1, 3]
    assert kept(values, min_p="1") == [1, 3]


def test_top_p_is_a_share_of_what_top_k_kept() -> None:
    values = (50, 30, 20)
    assert kept(values, top_p="0.6") == [0, 1]
    assert kept(values, top_k=2, top_p="0.6") == [0]


def test_a_small_share_keeps_the_first() -> None:
    assert kept((1, LARGEST, LARGEST), top_p="0.000000001") == [1]


def drawing(name: str = "a", position: int = 9, **parameters: object) -> Drawing:
    sampling = Sampling(**{"temperature": "1", **parameters})  # type: ignore[arg-type]
    return Drawing(name, position, sampling)


def test_a_point_is_that_of_the_spec() -> None:
    # [ENG-15], written out.
    fields = (b"lockstep/draw/1", bytes(7) + b"\5", "ä".encode(), bytes(7) + b"\x09", bytes(8))
    text = b"".join(len(field).to_bytes(8, "big") + field for field in fields)
    number = int.from_bytes(hashlib.sha256(text).digest()[:8], "big")
    assert point(drawing("ä", seed=5), 1000) == number * 1000 >> 64


def test_points_that_would_be_likelier_are_rejected() -> None:
    # Of a sum just above 2^63, almost half of all numbers are rejected.
    total = (1 << 63) + 1
    numbers = [
        int.from_bytes(hashlib.sha256(_draw_text(position)).digest()[:8], "big")
        for position in range(64)
    ]
    products = [number * total for number in numbers]
    taken = [product % (1 << 64) >= (1 << 64) % total for product in products]
    assert 16 < sum(taken) < 48
    for position, (product, holds) in enumerate(zip(products, taken, strict=True)):
        assert (point(drawing(position=position), total) == product >> 64) is holds


def test_every_point_is_as_likely_as_any_other(monkeypatch: pytest.MonkeyPatch) -> None:
    # With numbers of 6 bits in place of 64, each of 64 first numbers: ten points, six each.
    monkeypatch.setattr("lockstep.engine.sampler.U64", 64)
    counts: Counter[int] = Counter()
    for first in range(64):
        attempts = iter([first, None])

        def digest(tag: str, *fields: bytes, attempts: Iterator[int | None] = attempts) -> bytes:
            number = next(attempts)
            if number is None:
                raise StopAsyncIteration
            return number.to_bytes(8, "big")

        monkeypatch.setattr("lockstep.engine.sampler.framed", digest)
        with contextlib.suppress(StopAsyncIteration):
            counts[point(drawing(), 10)] += 1
    assert counts == dict.fromkeys(range(10), 6)


def test_a_point_moves_little_where_the_sum_does() -> None:
    for position in range(50):
        way, total = drawing(position=position), 1 << 36
        moved = point(way, total + 40) - point(way, total)
        assert 0 <= moved <= 40


def _draw_text(position: int) -> bytes:
    fields = (b"lockstep/draw/1", bytes(8), b"a", position.to_bytes(8, "big"), bytes(8))
    return b"".join(len(field).to_bytes(8, "big") + field for field in fields)


def test_points_differ_with_seed_name_and_position() -> None:
    ways = [
        drawing(),
        drawing(seed=1),
        drawing("b"),
        drawing(position=10),
        drawing("a\0"),
    ]
    assert len({point(way, 1 << 60) for way in ways}) == len(ways)
    # What does not bear on the draw, does not change it.
    assert point(drawing(temperature="0.5", top_k=3), 1 << 60) == point(drawing(), 1 << 60)


def test_draws_follow_the_weights() -> None:
    logits = np.log(np.array([[6, 3, 1]], dtype=np.float32))
    counts: Counter[int] = Counter()
    for position in range(2000):
        counts.update(sample(HOST, logits, [drawing(position=position)]))
    # Three standard deviations of a binomial of 2,000 are at most 66.
    assert all(abs(counts[token] - 200 * share) < 66 for token, share in ((0, 6), (1, 3), (2, 1)))


def test_greedy_takes_the_first_of_the_largest_and_draws_nothing() -> None:
    logits = np.array([[1, 3, 3, 2], [-5, -7, -0.0, 0.0]], dtype=np.float32)
    greedy = drawing(temperature="0")
    assert sample(HOST, logits, [greedy, greedy]) == [1, 2]
    assert sample(HOST, np.zeros((0, 4), dtype=np.float32), []) == []


def test_a_row_is_drawn_alike_in_any_company() -> None:
    logits = np.random.default_rng(3).standard_normal((7, 50)).astype(np.float32) * 3
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
    assert caught.value.pointer == "request b, position 7"
    assert caught.value.got == f"{np.float32(wrong)} for token 2"
