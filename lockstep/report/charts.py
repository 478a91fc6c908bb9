"""What drawings are made of: scales, axes, and a frame with a name for those who do not see it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from lockstep.report.markup import Content, Markup, element


@dataclass(frozen=True)
class Scale:
    """A scale from values to coordinates, linear or logarithmic to the base 10."""

    low: float
    high: float
    start: float
    stop: float
    log: bool = False

    def __call__(self, value: float) -> float:
        """Give the coordinate of a value."""
        low, high, own = self.low, self.high, value
        if self.log:
            low, high, own = math.log10(low), math.log10(high), math.log10(value)
        share = (own - low) / (high - low) if high > low else 0.5
        return self.start + share * (self.stop - self.start)

    def ticks(self) -> list[float]:
        """Give the values to be marked: decades, or four to eight round steps."""
        if self.log:
            first, last = math.ceil(math.log10(self.low)), math.floor(math.log10(self.high))
            stride = max(1, (last - first) // 8)
            return [10.0**exponent for exponent in range(first, last + 1, stride)]
        span = (self.high - self.low) or 1.0
        step = 10.0 ** math.floor(math.log10(span / 4))
        step *= next(many for many in (1, 2, 5, 10) if span / (step * many) <= 7)
        first = math.ceil(self.low / step - 1e-9)
        last = math.floor(self.high / step + 1e-9)
        return [number * step for number in range(first, last + 1)]


def drawing(width: int, height: int, label: str, *content: Content, links: bool = False) -> Markup:
    """Give a drawing with its name; one with links in it is a group of them, not a picture."""
    return element(
        "svg",
        content,
        viewBox=f"0 0 {width} {height}",
        width=width,
        height=height,
        role="group" if links else "img",
        aria_label=label,
    )


def bottom_axis(scale: Scale, y: float, label: str, top: float | None = None) -> Markup:
    """Give an axis at the foot, with lines up to `top` where one is given."""
    middle = (scale.start + scale.stop) / 2
    parts: list[Content] = [
        element("line", x1=scale.start, y1=y, x2=scale.stop, y2=y, class_="axis"),
        text(middle, y + 34, label, "middle"),
    ]
    for value in scale.ticks():
        x = scale(value)
        if top is not None:
            parts.append(element("line", x1=x, y1=top, x2=x, y2=y, class_="rule"))
        parts.append(element("line", x1=x, y1=y, x2=x, y2=y + 4, class_="axis"))
        parts.append(text(x, y + 17, compact(value, scale.log), "middle"))
    return element("g", parts, class_="scale")


def left_axis(scale: Scale, x: float, label: str, right: float | None = None) -> Markup:
    """Give an axis on the left, with lines to `right` where one is given."""
    parts: list[Content] = [
        element("line", x1=x, y1=scale.start, x2=x, y2=scale.stop, class_="axis"),
        text(x, min(scale.start, scale.stop) - 8, label, "middle"),
    ]
    for value in scale.ticks():
        y = scale(value)
        if right is not None:
            parts.append(element("line", x1=x, y1=y, x2=right, y2=y, class_="rule"))
        parts.append(text(x - 6, y + 4, compact(value, scale.log), "end"))
    return element("g", parts, class_="scale")


def text(x: float, y: float, content: Content, anchor: str = "start", class_: str = "") -> Markup:
    """Give a line of text at a place."""
    return element("text", content, x=x, y=y, text_anchor=anchor, class_=class_ or None)


def compact(value: float, log: bool = False) -> str:
    """Write a tick's value in few characters."""
    if log and not 0.01 <= value <= 1000:
        return f"1e{round(math.log10(value))}"
    size = abs(value)
    if size >= 10_000:
        return f"{value / 1000:,.4g}k"
    return f"{value:.4g}"


def range_of(values: Sequence[float], share: float = 0.06) -> tuple[float, float]:
    """Give least and greatest with some room around them."""
    low, high = min(values), max(values)
    room = (high - low) * share or abs(high) * share or 1.0
    return low - room, high + room
