"""The rotary tables [KERN-12]: against many digits, at positions of every size."""

from __future__ import annotations

from decimal import Decimal, localcontext

import numpy as np
import pytest

from lockstep.engine.rope_tables import POSITIONS, rope_tables, turn_fractions
from lockstep.errors import LockstepError

PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494459230781640628621")


def cosine(angle: Decimal) -> Decimal:
    """The cosine by its power series, to some 60 digits."""
    reduced = angle % (2 * PI)
    term = total = Decimal(1)
    for n in range(1, 60):
        term *= -reduced * reduced / ((2 * n - 1) * 2 * n)
        total += term
    return total


@pytest.mark.parametrize(("theta", "head_dim"), [(1e6, 128), (1e4, 16), (1.0, 6), (5e5, 2)])
def test_entries_are_cosines_and_sines(theta: float, head_dim: int) -> None:
    positions = np.array([0, 1, 2, 3, 511, 512, 40959, 131071, 777_777, POSITIONS - 1])
    cos, sin = rope_tables(theta, head_dim, positions)
    assert cos.dtype == sin.dtype == np.float32
    assert cos.shape == sin.shape == (len(positions), head_dim // 2)
    bound = Decimal(2) ** -25 + Decimal(2) ** -40
    with localcontext() as context:
        context.prec = 75
        for index in range(0, head_dim // 2, 5):
            frequency = Decimal(theta) ** (Decimal(-2 * index) / head_dim)
            for row, position in enumerate(positions.tolist()):
                angle = position * frequency
                assert abs(cosine(angle) - Decimal(float(cos[row, index]))) < bound
                assert abs(cosine(angle - PI / 2) - Decimal(float(sin[row, index]))) < bound


def test_fractions_are_the_nearest_integers() -> None:
    with localcontext() as context:
        context.prec = 75
        for index, fraction in enumerate(turn_fractions(1e6, 128)):
            exact = 2**64 * Decimal(10) ** (Decimal(-12 * index) / 128) / (2 * PI)
            assert abs(exact - fraction) < Decimal("0.5")


def test_every_quarter_of_a_turn_occurs_with_its_signs() -> None:
    positions = np.arange(0, 63)
    cos, sin = rope_tables(1.0, 2, positions)
    signs = {(bool(c > 0), bool(s > 0)) for c, s in zip(cos[1:, 0], sin[1:, 0], strict=True)}
    assert len(signs) == 4


def test_entries_are_almost_always_the_nearest() -> None:
    """At theta 1 a position is an angle in radians, of which NumPy has the cosine to 2^-52."""
    positions = np.arange(0, POSITIONS, 7)
    for table, function in zip(rope_tables(1.0, 2, positions), (np.cos, np.sin), strict=True):
        nearest = function(positions.astype(np.float64)).astype(np.float32)
        assert (table[:, 0] != nearest).sum() < 5


def test_the_origin_is_exact() -> None:
    cos, sin = rope_tables(1e6, 64, np.array([0]))
    assert (cos == 1).all() and (sin == 0).all()


def test_a_row_depends_on_its_position_alone() -> None:
    positions = np.array([5, 900, 5, 1, 0, 900])
    cos, sin = rope_tables(1e6, 32, positions)
    for row, position in enumerate(positions):
        alone = rope_tables(1e6, 32, np.array([position]))
        assert alone[0].tobytes() == cos[row].tobytes()
        assert alone[1].tobytes() == sin[row].tobytes()


@pytest.mark.parametrize(
    ("theta", "head_dim", "position"),
    [
        (1e6, 15, 0),
        (1e6, 0, 0),
        (0.5, 16, 0),
        (float("inf"), 16, 0),
        (float("nan"), 16, 0),
        (1e6, 16, -1),
        (1e6, 16, POSITIONS),
    ],
)
def test_what_has_no_table_is_refused(theta: float, head_dim: int, position: int) -> None:
    with pytest.raises(LockstepError) as caught:
        rope_tables(theta, head_dim, np.array([position]))
    assert caught.value.code == "KERNEL_INPUT"
