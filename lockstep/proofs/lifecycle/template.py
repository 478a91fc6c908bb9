"""Expansion of the lifecycle's SMT-LIB template: sections, loops, marks [LIFE-23] [LIFE-24]."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from lockstep import spec
from lockstep.lifecycle.relation import Relation

_SECTION = re.compile(r"\[([a-z]+)\]")
_CONDITION = re.compile(r"(if|unless) ([a-z_]+): ")
_LOOPS = re.compile(r"for ([a-z](?: [a-z])*): ")
_INNERMOST = re.compile(r"\{([a-z]): ([^{}]*)\}")

Marks = Mapping[str, str]
"""What stands for each mark of one value of a loop, such as `$r` or `$k.state`."""


@dataclass(frozen=True)
class Model:
    """The bounds of a model: numbers of requests and of blocks, slots of a block."""

    requests: int
    blocks: int
    block_size: int


@dataclass(frozen=True)
class Template:
    """The template, at one model, over one relation, under the rules as they stand or weakened.

    Attributes:
        model: the bounds.
        relation: what the loops over states, events and cells range over.
        weakened: the weakening in force, or None.
    """

    model: Model
    relation: Relation
    weakened: str | None = None

    def section(self, name: str, time: int | None = None) -> str:
        """Give a section's lines, those of a state or a step at a time."""
        lines = [
            self.expand(line, time)
            for raw in sections()[name]
            if (kept := self._kept(raw)) is not None
            for line in self._repeated(kept)
        ]
        return "".join(f"{line}\n" for line in lines)

    def expand(self, text: str, time: int | None = None) -> str:
        """Unroll the loops within a line, and put in bounds and times."""
        while loop := _INNERMOST.search(text):
            letter, body = loop.groups()
            rounds = " ".join(_put(body, marks) for marks in self._range(letter))
            text = text[: loop.start()] + rounds + text[loop.end() :]
        model = self.model
        bounds = {"%R": model.requests, "%B": model.blocks, "%S": model.block_size}
        text = _put(text, {mark: str(bound) for mark, bound in bounds.items()})
        return text if time is None else _put(text, {"@": str(time), "^": str(time + 1)})

    def _kept(self, line: str) -> str | None:
        """Give a line without its condition, or None where the condition leaves it out."""
        if not (condition := _CONDITION.match(line)):
            return line
        word, weakening = condition.groups()
        return line[condition.end() :] if (word == "if") == (weakening == self.weakened) else None

    def _repeated(self, line: str) -> Iterator[str]:
        """Repeat a line for its leading loops, the last of them running fastest."""
        if not (loops := _LOOPS.match(line)):
            yield line
            return
        lines = [line[loops.end() :]]
        for letter in loops[1].split(" "):
            lines = [_put(line, marks) for line in lines for marks in self._range(letter)]
        yield from lines

    def _range(self, letter: str) -> list[Marks]:
        if letter in "rq":
            return [{f"${letter}": str(number)} for number in range(self.model.requests)]
        if letter in "bc":
            return [{f"${letter}": str(number)} for number in range(self.model.blocks)]
        if letter in "se":
            names = self.relation.states if letter == "s" else self.relation.events
            return [{f"${letter}": name, f"#{letter}": str(i)} for i, name in enumerate(names)]
        if letter == "k":
            return [
                {f"$k.{member}": value for member, value in cell._asdict().items()}
                for cell in self.relation.cells
            ]
        raise ValueError(f"the template has no loop over {letter}")


@cache
def sections() -> dict[str, tuple[str, ...]]:
    """Give the lines of each section of the template, remarks and empty lines left out."""
    found: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in spec.read("lifecycle.smt2.template").decode("ascii").splitlines():
        if heading := _SECTION.fullmatch(line):
            lines = found.setdefault(heading[1], [])
        elif line and not line.startswith(";;"):
            lines.append(line)
    return {name: tuple(body) for name, body in found.items()}


def _put(text: str, marks: Marks) -> str:
    for mark, value in marks.items():
        text = text.replace(mark, value)
    return text
