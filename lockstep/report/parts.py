"""What views are made of: tables, badges of verdicts, keys to colours, data for the script."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from lockstep.report.figures import Judged, figure
from lockstep.report.markup import Content, Markup, element, raw

_GOOD = frozenset(
    {
        "ACCEPTED", "CLEAN", "DERIVED", "DETECTED", "EXACT_BYTE", "EXPLAINED", "HOLDS",
        "INVARIANT", "MATCHES", "MEASURED", "OBSERVED", "REPLAYED", "REPRODUCED",
        "WITHIN_BOUNDS",
        "agrees", "caught", "clean", "held", "holds", "honest", "interchangeable", "killed",
        "passed", "separated", "shown",
    }
)  # fmt: skip
_BAD = frozenset(
    {
        "CONTRADICTED", "DIFFERENT", "DIFFERS", "DIVERGENT", "FALSE_ALARM", "FINDINGS",
        "IDENTITY_DIFFERS", "IMPLAUSIBLE", "MISSED", "NOT_EXACT", "SETTING_ALTERED", "SURVIVORS",
        "VIOLATED", "WITHDRAWN",
        "contradicted", "diverged", "divergent", "different", "failed", "fraud",
        "invalid_artifact", "not_held", "overlapping", "survived", "violated",
    }
)  # fmt: skip
"""Verdicts and outcomes that say well or ill of what a certificate is about."""


def badge(word: str, text: Content = None) -> Markup:
    """Show a word in the colour of what it says: well, ill, or neither."""
    tone = "good" if word in _GOOD else "bad" if word in _BAD else "plain"
    return element("span", word if text is None else text, class_=f"badge {tone}")


def verdict(judged: Judged, pointer: str) -> Markup:
    """Show a verdict of a certificate, bound to where it stands."""
    word = str(judged.value(pointer))
    return badge(word, figure(judged, pointer, word))


def table(
    caption: Content,
    columns: Sequence[Content],
    rows: Iterable[Sequence[Content]],
    class_: str | None = None,
) -> Markup:
    """Give a table whose rows' first cells head them, in a box that scrolls sideways."""
    head = element("tr", [element("th", column, scope="col") for column in columns])
    body = [
        element("tr", element("th", first, scope="row"), [element("td", cell) for cell in rest])
        for first, *rest in rows
    ]
    whole = element(
        "table",
        element("caption", caption) if caption else None,
        element("thead", head),
        element("tbody", body),
        class_=class_,
    )
    return scrolled(whole, caption)


def grid(
    corner: str,
    columns: Iterable[Content],
    rows: Iterable[tuple[Content, Sequence[Markup]]],
    base: str,
    label: str,
    name: str | None = None,
    class_: str = "grid",
) -> Markup:
    """Give a matrix that the script lets one walk.

    Args:
        corner: what heads the rows.
        columns: what heads each of these.
        rows: what heads each, with its cells.
        base: the pointer that the place of a cell goes on.
        label: the matrix in words.
        name: its id, where a detail of each cell is shown.
        class_: of the table.
    """
    head = [element("th", column, scope="col") for column in columns]
    body = [element("tr", element("th", first, scope="row"), cells) for first, cells in rows]
    return element(
        "table",
        element("thead", element("tr", element("td", corner), head)),
        element("tbody", body),
        class_=class_,
        role="grid",
        id=name,
        data_base=base,
        aria_label=label,
    )


def detail(name: str, hint: str, value: Any) -> list[Markup]:
    """Give the place where the script shows a cell of a grid, and what it makes that of."""
    shown = element("p", hint, class_="hint")
    return [
        element("div", shown, id=f"{name}-detail", class_="detail", aria_live="polite"),
        data(f"{name}-data", value),
    ]


def scrolled(content: Content, label: Content) -> Markup:
    """Put something wide into a box that scrolls, by the keyboard too."""
    name = label if isinstance(label, str) and label else "wide content"
    return element(
        "div", content, class_="scroll", tabindex=0, role="region", aria_label=_plain(name)
    )


def key(entries: Iterable[tuple[str, str, Content]]) -> Markup:
    """Give the key to a drawing: class of a swatch, its sign, what it means."""
    return element(
        "ul",
        [
            element("li", element("span", sign, class_=f"swatch {class_}"), " ", meaning)
            for class_, sign, meaning in entries
        ],
        class_="key",
    )


def details(summary: Content, *content: Content, **attributes: str | None) -> Markup:
    """Give content that is folded until it is asked for."""
    return element("details", element("summary", summary), content, **attributes)


def data(name: str, value: Any) -> Markup:
    """Give data for the script, in an element that no document can break out of."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=True, sort_keys=True)
    safe = text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    return element("script", raw(safe), type="application/json", id=name)


def pairs(entries: Iterable[tuple[Content, Content]]) -> Markup:
    """Give terms with what is said of each."""
    return element("dl", [[element("dt", term), element("dd", said)] for term, said in entries])


def counted(judged: Judged, *names: tuple[str, str]) -> Markup:
    """Give a line of counts, each bound to where it stands: name of the count, and its words."""
    return element(
        "ul",
        [
            element("li", element("b", figure(judged, f"/predicate/counts/{name}")), " ", words)
            for name, words in names
        ],
        class_="counts",
    )


def _plain(text: str) -> str:
    return "table" if "<" in text else text
