"""F1: what is measured, and that faults exceed a bound."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import exp, log

import numpy as np
import pytest

from lockstep.engine.backends.host import HostBackend
from lockstep.engine.model import Model
from lockstep.engine.opening import Opened
from lockstep.engine.tiny import TinyModel
from lockstep.errors import LockstepError
from lockstep.fidelity.judge import measures, near_tie, require_bounds
from lockstep.fidelity.measure import LARGEST, Measured, Record, kl, records_of
from lockstep.fidelity.observe import observe
from lockstep_verify.derive.fidelity import inconsistency
from tests.fidelity.conftest import Judge
from tests.fidelity.defects import FAULTS, FoldReversed, SplitDropped


def out_of_bounds(measured: tuple[Measured, ...]) -> set[str]:
    records = [record for entry in measured for record in entry.records]
    return {measure.name for measure in measures(records, "float32") if not measure.holds}


def test_the_host_is_within_the_bounds(opened: Opened, judge: Judge) -> None:
    assert out_of_bounds(judge(opened.model)) == set()


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_a_fault_exceeds_a_bound(
    fault: type[HostBackend], faulty: Callable[[type[HostBackend]], Model], judge: Judge
) -> None:
    assert out_of_bounds(judge(faulty(fault)))


def test_a_fault_of_splits_shows_past_the_split_alone(
    faulty: Callable[[type[HostBackend]], Model], judge: Judge
) -> None:
    short, past = judge(faulty(SplitDropped))
    assert out_of_bounds((short,)) == set()
    assert {"kl_max", "error_max"} <= out_of_bounds((past,))


def test_fidelity_does_not_see_a_reversed_fold(
    faulty: Callable[[type[HostBackend]], Model], judge: Judge
) -> None:
    # Golden digests are there for it (test_golden).
    assert out_of_bounds(judge(faulty(FoldReversed))) == set()


def test_divergence_of_distant_rows_is_the_textbooks() -> None:
    a, b = [0.5, -1.0, 2.0], [1.5, 0.25, -0.5]
    p, q = ([exp(x) / sum(map(exp, row)) for x in row] for row in (b, a))
    expected = sum(x * log(x / y) for x, y in zip(p, q, strict=True))
    assert kl(np.array([a]), np.array([b]))[0] == pytest.approx(expected, rel=1e-12)


def test_divergence_of_close_rows_keeps_its_digits() -> None:
    # To second order the divergence is half of the variance of the differences.
    b = np.array([[0.25, 1.0, -0.75, 0.0]])
    d = np.array([[1.0, -3.0, 2.0, 0.5]]) * 2.0**-30
    p = np.exp(b) / np.exp(b).sum()
    half_variance = float((p * (d - (p * d).sum()) ** 2).sum() / 2)
    assert kl(b + d, b)[0] == pytest.approx(half_variance, rel=1e-6)
    assert half_variance < 1e-17


def test_records_are_in_their_units_and_round_away_from_the_claim() -> None:
    reference = np.array([[3.0, 1.0, -4.0]])
    logits = np.array([[3.0, 3.5, -4.0]], dtype=np.float32)
    (record,) = records_of((7,), logits, reference)
    assert record.position == 7
    assert (record.error, record.scale, record.margin) == (
        2_500_000_000_000,
        4 * 10**12,
        2 * 10**12,
    )
    assert (record.top, record.reference_top) == (1, 0)


def test_what_is_no_number_is_as_far_off_as_can_be() -> None:
    (record,) = records_of((0,), np.array([[np.nan, 1.0]]), np.array([[2.0, 1.0]]))
    assert (record.kl, record.error) == (LARGEST, LARGEST)
    assert not next(m for m in measures((record,), "float32") if m.name == "kl_max").holds


def record(**changes: int) -> Record:
    whole = {"position": 0, "kl": 0, "error": 0, "scale": 10**13, "margin": 10**12}
    return Record(**(whole | {"top": 1, "reference_top": 1} | changes))


@pytest.mark.parametrize("size", [2, 3, 17, 300])
@pytest.mark.parametrize("scale", [1e-12, 1e-6, 1.0, 50.0, 8000.0])
def test_records_of_any_two_rows_are_consistent(size: int, scale: float) -> None:
    """The verifier's inequalities, over rows apart by some ulps up to more than their own size."""
    random = np.random.default_rng([size, int(scale)])
    rows = 400
    b = random.standard_normal((rows, size)) * scale
    b[::5] = np.round(b[::5] / scale) * scale  # ties
    apart = scale * 10.0 ** random.integers(-17, 2, (rows, 1))
    a = b + apart * random.standard_normal((rows, size))
    a[1::4] = b[1::4] + apart[1::4] * random.choice([-1.0, 1.0], (len(a[1::4]), size))
    a[2::4] = a[2::4].astype(np.float32)
    a[3::40], b[7::40] = np.nan, np.inf
    with np.errstate(all="ignore"):
        records = records_of(tuple(range(rows)), a, b)
    assert {record.top != record.reference_top for record in records} == {True, False}
    for record in records:
        assert inconsistency(vars(record), size) == "", record


def test_the_seven_measures() -> None:
    records = [
        record(kl=7, error=1),
        record(kl=2, error=30, top=2, margin=10),
        record(error=50, top=2),
    ]
    found = {m.name: m.value for m in measures(records, "float32")}
    assert found == {
        "kl_max": 7, "kl_mean": 3, "error_max": 5, "error_median": 3, "near_ties": 334,
        "top_disagreements": 1, "top_agreement": 333,
    }  # fmt: skip


def test_a_near_tie_is_what_an_admitted_error_can_turn() -> None:
    bound = Fraction(1_000_000, 10**12)
    edge = int(2 * bound * 10**13)
    assert near_tie(record(margin=edge), "float32")
    assert not near_tie(record(margin=edge + 1), "float32")


def test_a_measure_out_of_its_bound_is_refused_by_name() -> None:
    stated = [m._asdict() for m in measures([record(top=2)], "float32")]
    with pytest.raises(LockstepError) as caught:
        require_bounds(stated)
    assert (caught.value.code, caught.value.pointer) == (
        "FIDELITY_BOUND_EXCEEDED",
        "top_disagreements",
    )


def test_the_reference_is_not_judged_by_itself() -> None:
    with pytest.raises(LockstepError) as caught:
        observe(TinyModel(), "float64")
    assert caught.value.code == "USAGE"
