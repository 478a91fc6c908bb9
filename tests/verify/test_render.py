"""OUT-2, OUT-4: nothing of a document reaches a terminal as it stands."""

import json

from hypothesis import given
from hypothesis import strategies as st

from lockstep_verify import lcj, render
from lockstep_verify.errors import Refusal, registry
from lockstep_verify.result import Result, worst
from lockstep_verify.verify import refused

EVIL = "\x1b]0;owned\x07\x1b[2J\u202eevil\u2066\r\n\u200b\x9b31m"


@given(st.text())
def test_safe_text_is_printable_ascii(text):
    assert all(" " <= character <= "~" for character in render.safe(text))


def test_terminal_escapes_from_every_part_of_a_result():
    refusal = Refusal("BAD_VALUE", "/" + EVIL, expected=[EVIL], got={EVIL: EVIL}, hint=EVIL)
    result = refused(Result(EVIL, signers=((EVIL, EVIL, EVIL),), lines=(EVIL,)), refusal)
    text = render.text(result._replace(verdict=EVIL, issued_at=EVIL, time=EVIL))
    assert all(" " <= character <= "~" or character == "\n" for character in text)
    assert text.splitlines()[0].startswith("BAD_VALUE \\u{1b}]0;owned\\u{7}")
    for line in (render.json_line(result), render.attestation(result, 0, EVIL, "00")):
        assert "\n" not in line and "\x1b" not in line
        assert lcj.encode_text(json.loads(line)) == line


def test_json_line_of_an_odd_file_name():
    line = render.json_line(Result("a\udcffb", got=float("nan"), expected=("x", 1)))
    assert json.loads(line.encode("utf-8"))["file"] == "a\\udcffb"


def test_long_values_are_cut():
    shown = render.shown("x" * 1000)
    assert shown is not None and len(shown) < 340 and "1000 characters" in shown


def test_every_code_is_explained():
    for code in registry():
        assert render.explain(code).startswith(f"{code} (exit ")


def test_the_gravest_exit_wins():
    def run(*exits):
        return worst([Result("f", exit=status) for status in exits])

    assert [run(0, 5), run(5, 2), run(2, 3), run(3, 1), run(1, 4), run(0)] == [5, 2, 3, 1, 4, 0]


def test_values_that_cannot_be_written_are_named():
    deep = {}
    for _ in range(100_000):
        deep = {"a": deep}
    assert render.shown(deep) == "a value too large to show (dict)"
    assert render.shown([1 << 60_000]) == "a value too large to show (list)"
    assert render.shown([float("nan")]) == "[nan]"
