"""What is told of steps is counted by nothing that is made of it (MEAS-9)."""

from __future__ import annotations

from fractions import Fraction

import pytest

from lockstep.claims.measurement_grounds import Grounds, of_operation

HAD = {"one": {2048}}
COUNTED = Grounds(frozenset({("record", "steps")}))
COMPUTED = Grounds(frozenset(), told=True)
ONE = of_operation("given", Fraction(1), "step", (), [], HAD)


def made(operation: str, value: int, *operands: Grounds, unit: str = "step") -> Grounds:
    """Give what a reading of one profile rests on."""
    return of_operation(operation, Fraction(value), unit, ("one",), operands, HAD)


@pytest.mark.parametrize("value", [0, 1])
@pytest.mark.parametrize("operation", ["given", "sum", "difference", "product", "quotient"])
def test_no_step_and_one_lie_within_and_stay_uncounted(operation: str, value: int) -> None:
    found = made(operation, value, ONE, ONE)
    assert (found.uncounted, found.outside) == (True, False)
    assert made("sum", 2, found, COUNTED).outside


@pytest.mark.parametrize("other", [ONE, COUNTED, COMPUTED])
@pytest.mark.parametrize("operation", ["sum", "difference"])
def test_steps_with_a_told_one_are_counted_no_longer(operation: str, other: Grounds) -> None:
    for operands in ((ONE, other), (other, ONE)):
        assert made(operation, 2, *operands).outside


@pytest.mark.parametrize("operation", ["sum", "difference"])
def test_counted_and_computed_steps_may_be_added(operation: str) -> None:
    found = made(operation, 2, COUNTED, COMPUTED)
    assert (found.uncounted, found.outside) == (False, False)


def test_what_is_converted_is_counted_as_before() -> None:
    assert made("convert", 1, ONE).uncounted
    assert not made("convert", 2, COMPUTED).uncounted


@pytest.mark.parametrize("operation", ["steps", "change", "coefficient"])
def test_what_is_computed_of_steps_is_not_told(operation: str) -> None:
    assert not made(operation, 2, ONE, ONE).uncounted


@pytest.mark.parametrize(
    ("unit", "tells"),
    [("step", True), ("step^2", True), ("step/token", True), ("step*us", True), ("1/step", True),
     ("us/step", False), ("token/step", False), ("token", False), ("1", False)],
)  # fmt: skip
def test_a_unit_tells_of_steps_above_the_line_or_alone(unit: str, tells: bool) -> None:
    for operation in ("product", "quotient"):
        assert made(operation, 2048, COMPUTED, COMPUTED, unit=unit).outside == tells
        assert not made(operation, 2048, COUNTED, COUNTED, unit=unit).outside
