"""HTML and SVG as values: text is escaped unless it was made here [REP-6]."""

from __future__ import annotations

import html
from collections.abc import Iterable

from lockstep.cli.tables import visible

VOID = frozenset({"line", "rect", "circle", "path", "meta", "br", "col"})
"""Elements that have no content; those of SVG are closed by themselves."""

_SVG = frozenset({"line", "rect", "circle", "path"})


class Markup(str):
    """Text that is HTML already; made by the functions of this module and by nothing else."""

    __slots__ = ()


Content = str | Markup | None | Iterable["Content"]
"""What stands in an element: a text, which is escaped, markup, nothing, or several of these."""


def escaped(content: Content) -> Markup:
    """Give content as markup.

    A text's control characters, and those that turn the direction of writing, are shown by their
    number: no document of another's can hide or reorder what stands beside it.
    """
    if content is None:
        return Markup("")
    if isinstance(content, Markup):
        return content
    if isinstance(content, str):
        return Markup(html.escape(visible(content)))
    return Markup("".join(escaped(one) for one in content))


def element(name: str, /, *content: Content, **attributes: str | int | float | None) -> Markup:
    """Give an element.

    Args:
        name: of the element.
        content: what stands in it, in order.
        attributes: by name; `_` stands for `-`, a `_` at the end is dropped (`class_`), and None
            leaves an attribute out.
    """
    parts = [f"<{name}"]
    for key, value in attributes.items():
        if value is not None:
            text = html.escape(visible(_number(value)))
            parts.append(f' {key.rstrip("_").replace("_", "-")}="{text}"')
    if name in VOID:
        parts.append("/>" if name in _SVG else ">")
        return Markup("".join(parts))
    return Markup(f"{''.join(parts)}>{escaped(content)}</{name}>")


def raw(text: str) -> Markup:
    """Take a text of this package's own, such as its style sheet, as markup."""
    return Markup(text)


def _number(value: str | int | float) -> str:
    """Write an attribute; coordinates with two decimals at most, alike on every machine."""
    if isinstance(value, float):
        return f"{value:.2f}".rstrip("0").rstrip(".") or "0"
    return str(value)
