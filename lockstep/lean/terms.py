"""Names, universe levels and terms of Lean's kernel, each distinct one held once.

A store hands out small integers for levels and terms; equal ones have equal numbers, so that a
shared term is walked once however often it stands. Bound variables are de Bruijn indices.
"""

from collections.abc import Callable, Iterator
from typing import Any

Name = tuple[str | int, ...]
"""A hierarchical name from its root; the anonymous name is the empty tuple."""

Node = tuple[Any, ...]
"""A level or term: its kind, then its parts as listed in `LEVEL_PARTS` and `TERM_PARTS`."""

LEVEL_PARTS = {
    "zero": (),
    "succ": ("level",),
    "max": ("level", "level"),
    "imax": ("level", "level"),
    "param": ("name",),
}
"""Kinds of universe levels, with what each part is."""

TERM_PARTS = {
    "bvar": ("count",),
    "sort": ("level",),
    "const": ("name", "levels"),
    "app": ("term", "term"),
    "lam": ("name", "term", "term", "binder"),
    "pi": ("name", "term", "term", "binder"),
    "let": ("name", "term", "term", "term"),
    "nat": ("count",),
    "str": ("text",),
    "proj": ("name", "count", "term"),
}
"""Kinds of terms, with what each part is; binders come as name, type, (value,) body."""

BINDERS = ("default", "implicit", "strictImplicit", "instImplicit")
"""How an argument is written in a source; it has no bearing on what a term means."""


def show(name: Name) -> str:
    """Write a name with dots, for people; distinct names may look alike."""
    return ".".join(str(part) for part in name) or "[anonymous]"


class Terms:
    """A store of levels and terms, each distinct one held once and known by its number."""

    def __init__(self) -> None:
        self.levels: list[Node] = []
        self.terms: list[Node] = []
        self._level_numbers: dict[Node, int] = {}
        self._term_numbers: dict[Node, int] = {}

    def level(self, *node: Any) -> int:
        """Give the number of a level; its parts are numbers of this store."""
        return _number(node, self.levels, self._level_numbers)

    def term(self, *node: Any) -> int:
        """Give the number of a term; its parts are numbers of this store."""
        return _number(node, self.terms, self._term_numbers)

    def below(self, number: int) -> list[int]:
        """List the terms directly within a term, in the order of its parts."""
        node = self.terms[number]
        parts = zip(TERM_PARTS[node[0]], node[1:], strict=True)
        return [part for kind, part in parts if kind == "term"]

    def within(self, roots: list[int]) -> Iterator[int]:
        """Walk the terms within `roots`, each once, in no promised order."""
        seen = set(roots)
        stack = list(roots)
        while stack:
            number = stack.pop()
            yield number
            for part in self.below(number):
                if part not in seen:
                    seen.add(part)
                    stack.append(part)


def _number(node: Node, nodes: list[Node], numbers: dict[Node, int]) -> int:
    number = numbers.get(node)
    if number is None:
        number = numbers[node] = len(nodes)
        nodes.append(node)
    return number


def in_order(
    roots: list[int], parts: Callable[[int], list[int]], done: Callable[[int], bool]
) -> Iterator[int]:
    """Give what `roots` rest on, parts before wholes, then each root; nothing that is `done`.

    The consumer must make `done` true of each number before it takes the next; depth is bounded
    by memory alone.
    """
    stack = [(root, False) for root in reversed(roots)]
    while stack:
        number, ready = stack.pop()
        if done(number):
            continue
        if ready:
            yield number
            continue
        stack.append((number, True))
        stack.extend((part, False) for part in reversed(parts(number)) if not done(part))
