"""The producer's encoder against another implementation, and what has no LCJ form."""

import json

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from lockstep.certificate import lcj
from lockstep.errors import LockstepError

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-lcj.LARGEST, lcj.LARGEST)
    | st.text(st.characters(exclude_categories=("Cs",)))
)
NAMES = st.text(st.characters(exclude_categories=("Cs",)), max_size=6)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=4)
)


@given(VALUES)
def test_it_encodes_as_rfc_8785_does(value: object) -> None:
    encoded = lcj.encode(value)
    assert encoded == rfc8785.dumps(value)  # type: ignore[arg-type]
    assert json.loads(encoded) == value


def test_names_are_sorted_by_utf16_code_units() -> None:
    assert lcj.encode({"\uff5e": 1, "\U0001f600": 2}) == '{"\U0001f600":2,"\uff5e":1}'.encode()


@pytest.mark.parametrize(
    ("value", "code", "pointer"),
    [
        ({"a/b": [1.0]}, "WRONG_TYPE", "/a~1b/0"),
        ({"n": 2**53}, "NUMBER_OUT_OF_PROFILE", "/n"),
        ({"s": "\ud800"}, "BAD_UNICODE", "/s"),
        ({"\ud800": 1}, "BAD_UNICODE", "/\ud800"),
    ],
)
def test_what_has_no_form_is_refused(value: object, code: str, pointer: str) -> None:
    with pytest.raises(LockstepError) as caught:
        lcj.encode(value)
    assert (caught.value.code, caught.value.pointer) == (code, pointer)


def test_depth_is_limited_as_the_reader_limits_it() -> None:
    value: object = 1
    for _ in range(lcj.DEPTH):
        value = [value]
    assert lcj.encode(value)
    with pytest.raises(LockstepError) as caught:
        lcj.encode([value])
    assert caught.value.code == "LIMIT_DEPTH"
