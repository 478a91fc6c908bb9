"""TIME-1."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockstep_verify.times import seconds, written


@given(st.datetimes(datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59)))
def test_round_trip(moment):
    moment = moment.replace(microsecond=0, tzinfo=UTC)
    text = moment.isoformat().replace("+00:00", "Z")
    assert seconds(text) == int((moment - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds())
    assert written(seconds(text)) == text


@pytest.mark.parametrize(
    "text",
    ["", "2026-01-01", "2026-02-29T00:00:00Z", "2026-13-01T00:00:00Z", "2026-01-01T24:00:00Z",
     "2026-01-01T23:59:60Z", "0000-01-01T00:00:00Z", "2026-01-01T00:00:00z",
     "2026-01-01T00:00:00+00:00", "2026-01-01T00:00:00.0Z", "2026-01-01 00:00:00Z",
     "2026-1-01T00:00:00Z", "2026-01-01T00:00:00Z\n", " 2026-01-01T00:00:0Z",
     "+026-01-01T00:00:00Z", "2_26-01-01T00:00:00Z", "٢٠٢٦-01-01T00:00:00Z", 20260101, None, True],
)  # fmt: skip
def test_what_is_no_time(text):
    assert seconds(text) is None


def test_leap_day():
    assert seconds("2024-02-29T00:00:00Z") == 1709164800
