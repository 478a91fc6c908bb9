"""LCJ-1 to LCJ-12: encoding, and the first offence of a text in reading order."""

import json

import pytest
import rfc8785
from hypothesis import example, given
from hypothesis import strategies as st

from lockstep_verify import json_reader, lcj, limits
from lockstep_verify.errors import Refusal

LIMIT = 2**53 - 1
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-LIMIT, LIMIT)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
)
NAMES = st.text(st.characters(exclude_categories=["Cs"]), max_size=6) | st.sampled_from(
    ["\ue000", "\U00010000", "\uffff", "a", "A", "\u212a", "K", "\x00", "\x7f", "/", "\\", '"']
)
VALUES = st.recursive(
    SCALARS,
    lambda v: st.lists(v, max_size=4) | st.dictionaries(NAMES, v, max_size=4),
    max_leaves=20,
)
OBJECTS = st.dictionaries(NAMES, VALUES, max_size=5)


def code_of(text):
    data = text if isinstance(text, bytes) else text.encode()
    try:
        lcj.parse(data, "NONCANONICAL_PAYLOAD")
    except Refusal as refusal:
        return refusal.code
    return "OK"


def slow_code_of(data):
    """The code by the exact reader alone, without the shortcut."""
    try:
        text = lcj.decode_utf8(data)
        value = json_reader.read(text)
        return "OK" if lcj.encode(value) == data else "NONCANONICAL_PAYLOAD"
    except Refusal as refusal:
        return refusal.code


@given(OBJECTS)
def test_encoding_is_that_of_rfc_8785_and_reads_back(value):
    data = lcj.encode(value)
    assert data == rfc8785.dumps(value)
    assert lcj.parse(data, "NONCANONICAL_PAYLOAD") == value
    assert json_reader.read(data.decode()) == value


@given(
    OBJECTS,
    st.lists(
        st.tuples(st.integers(0, 400), st.integers(0, 2), st.sampled_from(
            [b" ", b"0", b"-", b".", b"e", b'"', b"\\", b"[", b"]", b"{", b"}", b",", b":", b"\x00",
             b"\xff", b"\xc3\xa9", b"\\ud800", b"NaN", b"null", b"9007199254740992", b'"a":1,']
        )),
        min_size=1, max_size=3,
    ),
)  # fmt: skip
def test_shortcut_and_exact_reader_agree_on_mutants(value, edits):
    data = lcj.encode(value)
    for place, length, piece in edits:
        place %= len(data) + 1
        data = data[:place] + piece + data[place + length :]
    assert code_of(data) == slow_code_of(data)


@given(st.text(alphabet='{}[]",:\\u0d8N-1.e \ttrnafls', max_size=30))
@example('{"a":1,"a":1}')
def test_shortcut_and_exact_reader_agree_on_noise_and_json_agrees_on_validity(text):
    code = code_of(text)
    assert code == slow_code_of(text.encode())
    try:
        value = json.loads(text)
    except ValueError:
        assert code not in ("OK", "NONCANONICAL_PAYLOAD", "NOT_AN_OBJECT")
    else:
        assert code not in ("MALFORMED_JSON",), value


CASES = {
    "": "MALFORMED_JSON",
    " ": "MALFORMED_JSON",
    "{": "MALFORMED_JSON",
    '{"a":1,}': "MALFORMED_JSON",
    '{"a" 1}': "MALFORMED_JSON",
    '{"a":}': "MALFORMED_JSON",
    "{a:1}": "MALFORMED_JSON",
    '{"a":[1 2]}': "MALFORMED_JSON",
    '{"a":[1,]}': "MALFORMED_JSON",
    '{"a":tru}': "MALFORMED_JSON",
    '{"a":nullx}': "MALFORMED_JSON",
    '{"a":01}': "MALFORMED_JSON",
    '{"a":-01}': "MALFORMED_JSON",
    '{"a":+1}': "MALFORMED_JSON",
    '{"a":.5}': "MALFORMED_JSON",
    '{"a":1.}': "MALFORMED_JSON",
    '{"a":-}': "MALFORMED_JSON",
    '{"a":1-2}': "MALFORMED_JSON",
    '{"a":\u0661}': "MALFORMED_JSON",
    '{"a":"\n"}': "MALFORMED_JSON",
    '{"a":"\\x41"}': "MALFORMED_JSON",
    '{"a":"\\u12g4"}': "MALFORMED_JSON",
    '{"a":"\\u 123"}': "MALFORMED_JSON",
    '{"a":"\\': "MALFORMED_JSON",
    '{"a":"\\ud800': "MALFORMED_JSON",
    '{"a":\u00a01}': "MALFORMED_JSON",
    "{'a':1}": "MALFORMED_JSON",
    '{"a":1} ': "TRAILING_DATA",
    '{"a":1}\n': "TRAILING_DATA",
    '{"a":1}\x00': "TRAILING_DATA",
    "{}{}": "TRAILING_DATA",
    "[1] ": "TRAILING_DATA",
    "[]": "NOT_AN_OBJECT",
    "7": "NOT_AN_OBJECT",
    ' "x"': "NOT_AN_OBJECT",
    "null": "NOT_AN_OBJECT",
    '{"a":1.0}': "NUMBER_OUT_OF_PROFILE",
    '{"a":1280.0}': "NUMBER_OUT_OF_PROFILE",
    '{"a":1.28e3}': "NUMBER_OUT_OF_PROFILE",
    '{"a":1E+3}': "NUMBER_OUT_OF_PROFILE",
    '{"a":-0}': "NUMBER_OUT_OF_PROFILE",
    '{"a":-0.0}': "NUMBER_OUT_OF_PROFILE",
    '{"a":NaN}': "NUMBER_OUT_OF_PROFILE",
    '{"a":Infinity}': "NUMBER_OUT_OF_PROFILE",
    '{"a":-Infinityx': "NUMBER_OUT_OF_PROFILE",
    '{"a":1e400}': "NUMBER_OUT_OF_PROFILE",
    '{"a":9007199254740992}': "NUMBER_OUT_OF_PROFILE",
    '{"a":9007199254740993}': "NUMBER_OUT_OF_PROFILE",
    '{"a":-9007199254740992}': "NUMBER_OUT_OF_PROFILE",
    '{"a":' + "9" * 5000 + "}": "NUMBER_OUT_OF_PROFILE",
    '{"a":9007199254740991,"b":-9007199254740991}': "OK",
    '{"verdict":1,"verdict":1}': "DUPLICATE_KEY",
    '{"verdict":1,"verdic\\u0074":1}': "DUPLICATE_KEY",
    '{"a":1,"a"': "DUPLICATE_KEY",
    '{"a":1,"a"x': "DUPLICATE_KEY",
    '{"a":{"b":1,"b":2},"a":1}': "DUPLICATE_KEY",
    '{"\\ud800":1,"\\ud800":1}': "BAD_UNICODE",
    '{"a":"\\ud800"}': "BAD_UNICODE",
    '{"a":"\\udc00\\ud800"}': "BAD_UNICODE",
    '{"a":"\\ud83dx\\ude00"}': "BAD_UNICODE",
    '{"a":"\\ud83d\\ude00"}': "NONCANONICAL_PAYLOAD",
    '{"a":"\\u00e9"}': "NONCANONICAL_PAYLOAD",
    '{"a":"\\/"}': "NONCANONICAL_PAYLOAD",
    '{"a":"\\u001F"}': "NONCANONICAL_PAYLOAD",
    '{"a":"\\u000a"}': "NONCANONICAL_PAYLOAD",
    '{"a":"\\u001f\\n"}': "OK",
    '{"a":"\x7f\u2028/"}': "OK",
    '{"a": 1}': "NONCANONICAL_PAYLOAD",
    ' {"a":1}': "NONCANONICAL_PAYLOAD",
    '{"b":1,"a":1}': "NONCANONICAL_PAYLOAD",
    '{"\U00010000":1,"\ue000":1}': "OK",
    '{"\ue000":1,"\U00010000":1}': "NONCANONICAL_PAYLOAD",
    '{"a":' + "[" * 63 + "]" * 63 + "}": "OK",
    '{"a":' + "[" * 64 + "]" * 64 + "}": "LIMIT_DEPTH",
    '{"a":' + "[" * 100_000: "LIMIT_DEPTH",
    "[" * 100_000: "LIMIT_DEPTH",
    '{"a":' * 100_000: "LIMIT_DEPTH",
    # The first offence in reading order wins.
    '{"a":1.5,"a":"\\ud800"} ': "NUMBER_OUT_OF_PROFILE",
    '{"a":"\\ud800","b":1.5}': "BAD_UNICODE",
    '{"a":1,"a":01}': "DUPLICATE_KEY",
    '{"a":"\\ud800\n"}': "MALFORMED_JSON",
}  # fmt: skip


@pytest.mark.parametrize("text", CASES, ids=lambda text: ascii(text[:24]))
def test_first_offence(text):
    assert code_of(text) == CASES[text]
    assert slow_code_of(text.encode()) == CASES[text]


def test_a_refusal_says_where():
    with pytest.raises(Refusal) as caught:
        lcj.parse('{"é":1,"é":2}'.encode(), "NONCANONICAL_PAYLOAD")
    assert caught.value.got == 'byte 8: "é":2}'
    with pytest.raises(Refusal) as caught:
        lcj.parse(b'{"b":1,"a":1}', "NONCANONICAL_ENVELOPE")
    assert caught.value.code == "NONCANONICAL_ENVELOPE"
    assert caught.value.expected.startswith("at byte 2:")


def test_texts_of_too_many_values_are_not_read():
    text = b'{"a":[' + b"[],[" * 500_000 + b"]"
    with pytest.raises(Refusal) as caught:
        lcj.parse(text, "NONCANONICAL_ENVELOPE", limits.ENVELOPE_MARKS)
    assert caught.value.code == "LIMIT_SIZE"
    admitted = b'{"a":"' + b"," * 999_999 + b'"}'
    assert lcj.parse(admitted, "NONCANONICAL_ENVELOPE", limits.ENVELOPE_MARKS)
    assert limits.PAYLOAD_MARKS > 4096 * (256 + 60)
