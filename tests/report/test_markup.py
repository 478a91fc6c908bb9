"""Markup, colours and scales: what every view rests on."""

from __future__ import annotations

import re

import pytest

from lockstep.report import page
from lockstep.report.charts import Scale, compact
from lockstep.report.markup import Markup, element, escaped
from lockstep.report.parts import data

LEAST_CONTRAST = 4.5
"""Of text against its ground, by level AA of WCAG 2.1, rule 1.4.3."""


def test_text_is_escaped_and_markup_is_not() -> None:
    inner = element("b", "<&>\"'")
    assert inner == "<b>&lt;&amp;&gt;&quot;&#x27;</b>"
    assert element("p", inner, " <i>") == f"<p>{inner} &lt;i&gt;</p>"
    assert isinstance(escaped(["<", Markup("<")]), Markup)
    assert element("a", href='"><script>', data_p="x", hidden=None) == (
        '<a href="&quot;&gt;&lt;script&gt;" data-p="x"></a>'
    )


@pytest.mark.parametrize("sign", ("\u202e", "\x00", "\x1b", "\u200b", "\ud800"))
def test_signs_that_hide_or_turn_text_are_shown_by_their_number(sign: str) -> None:
    shown = element("p", f"a{sign}b", title=sign)
    assert sign not in shown
    assert shown.count(f"\\u{{{ord(sign):x}}}") == 2
    shown.encode("utf-8")


def test_data_cannot_end_its_element() -> None:
    shown = data("x", {"a": "</script><!--", "b": "&\u2028"})
    assert shown.count("<") == 2
    assert "\u2028" not in shown


def test_numbers_of_attributes_are_short_and_alike_everywhere() -> None:
    assert element("line", x1=1 / 3, y1=2.0, x2=-0.001) == '<line x1="0.33" y1="2" x2="-0"/>'


def test_scales_place_and_mark_values() -> None:
    linear = Scale(0, 10, 100, 200)
    assert (linear(0), linear(10), linear(5)) == (100, 200, 150)
    assert linear.ticks() == [0, 2, 4, 6, 8, 10]
    log = Scale(1e-3, 10, 0, 400, log=True)
    assert log(1e-3) == pytest.approx(0)
    assert log(1) == pytest.approx(300)
    assert log.ticks() == pytest.approx([1e-3, 1e-2, 1e-1, 1, 10])
    assert Scale(3, 3, 0, 10)(3) == 5
    assert [compact(value) for value in (0.0, 1234.0, 20000.0)] == ["0", "1234", "20k"]


def palettes() -> list[dict[str, str]]:
    """Give the colours of the light, the dark and the printed page."""
    found = re.findall(r":root \{(.*?)\}", page._asset("report.css"), re.S)
    return [dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6})", text)) for text in found]


def luminance(colour: str) -> float:
    """Give the relative luminance of a colour, as WCAG 2.1 defines it."""
    parts = [int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5)]
    r, g, b = (c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


@pytest.mark.parametrize("number", range(3), ids=("light", "dark", "print"))
@pytest.mark.parametrize(
    "pair",
    (
        "text ground", "quiet ground", "link ground", "text panel", "quiet panel", "bad ground",
        "good ground", "amber ground", "mark ground", "good good-ground", "bad bad-ground",
        "text bad-ground", "quiet bad-ground", "amber amber-ground", "blue blue-ground",
        "text plain-ground", "quiet empty", "ground bad", "link bad-ground",
    ),
)  # fmt: skip
def test_text_stands_out_from_its_ground(number: int, pair: str) -> None:
    colours = palettes()[number]
    high, low = sorted((luminance(colours[name]) for name in pair.split()), reverse=True)
    assert (high + 0.05) / (low + 0.05) >= LEAST_CONTRAST
