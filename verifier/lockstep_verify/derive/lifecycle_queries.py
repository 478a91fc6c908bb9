"""The lifecycle's SMT-LIB texts, made from the spec's template and data [LIFE-23] to [LIFE-26].

Loops are expanded from the outside in, with the values of the loops around them at hand; the
rule states it from the inside out. Where no loop stands within another of its own letter, and
none does, the text is the same.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

from lockstep_verify import spec


class Expected(NamedTuple):
    """A query that a certificate must carry: its name, the answer of each solver, its text."""

    name: str
    expected: str
    text: str


class _Scope(NamedTuple):
    """What a line is expanded within: bounds, weakening in force, names, and marks' values."""

    model: dict[str, int]
    weakening: str
    marks: dict[str, str]


def queries() -> list[Expected]:
    """Give every query of the lifecycle, in its order."""
    return [*_inductive(), *_traces()]


@cache
def _data() -> dict[str, Any]:
    data: dict[str, Any] = spec.load("lifecycle.json")
    return data


@cache
def _sections() -> dict[str, list[str]]:
    sections: dict[str, list[str]] = {}
    current: list[str] = []
    for line in spec.read("lifecycle.smt2.template").decode("ascii").split("\n"):
        if line.startswith("[") and line.endswith("]"):
            current = sections[line[1:-1]] = []
        elif line != "" and not line.startswith(";;"):
            current.append(line)
    return sections


def _inductive() -> list[Expected]:
    found = []
    scope = _Scope(_data()["models"]["inductive"], "", {})
    for entry in _data()["inductive"]:
        for words in _each(entry["each"]):
            lines = _opening(scope)
            for section in entry["sections"]:
                name, time = section.split(" ")
                lines += _section(scope, name, int(time))
            lines += _assertions(scope, entry["assert"], words)
            name = f"lifecycle/{_fill(entry['name'], words)}".lower()
            found.append(Expected(name, "unsat", _closed(lines)))
    return found


def _traces() -> list[Expected]:
    found = []
    for entry in _data()["witnesses"]:
        words = {"$state": entry["state"], "$event": entry["event"]}
        name = f"lifecycle/witness/{entry['state']}/{entry['event']}".lower()
        found.append(Expected(name, "sat", _trace(entry["steps"], "witness", "", words)))
    for entry in _data()["weakenings"]:
        text = _trace(entry["steps"], entry["breaks"], entry["name"], {})
        found.append(Expected(f"lifecycle/foil/{entry['name']}", "sat", text))
    return found


def _trace(steps: int, goal: str, weakening: str, words: dict[str, str]) -> str:
    scope = _Scope(_data()["models"]["bounded"], weakening, {})
    lines = [*_opening(scope), *_section(scope, "state", 0), *_section(scope, "initial", 0)]
    lines.append("(assert initial_0)")
    for time in range(steps):
        lines += _section(scope, "choice", time)
        lines += _section(scope, "state", time + 1)
        lines += _section(scope, "effect", time)
        lines.append(f"(assert step_{time})")
    at = _Scope(scope.model, weakening, _times(steps))
    for section in _data()["goals"][goal]["sections"]:
        name, at_time = _expand(section, at).split(" ")
        lines += _section(scope, name, int(at_time))
    return _closed(lines + _assertions(at, _data()["goals"][goal]["assert"], words))


def _opening(scope: _Scope) -> list[str]:
    return ["(set-logic QF_LIA)", *_section(scope, "names"), *_section(scope, "requests")]


def _closed(lines: list[str]) -> str:
    return "\n".join([*lines, "(check-sat)", ""])


def _assertions(scope: _Scope, texts: list[str], words: dict[str, str]) -> list[str]:
    return [f"(assert {_expand(_fill(text, words), scope)})" for text in texts]


def _each(each: str | None) -> list[dict[str, str]]:
    if each == "events":
        return [{"$event": event} for event in _data()["events"]]
    if each == "unreachable":
        return [{"$state": p["state"], "$event": p["event"]} for p in _data()["unreachable"]]
    return [{}]


def _section(scope: _Scope, name: str, time: int | None = None) -> list[str]:
    """Give a section's lines; those without a time hold no mark of one."""
    scope = scope if time is None else scope._replace(marks=_times(time))
    return [line for raw in _sections()[name] for line in _line(raw, scope)]


def _times(time: int) -> dict[str, str]:
    return {"@": str(time), "^": str(time + 1)}


def _line(line: str, scope: _Scope) -> list[str]:
    """Expand a line: its condition, then its outer loops, then those within it."""
    for word in ("if ", "unless "):
        if line.startswith(word):
            name, line = line[len(word) :].split(": ", 1)
            if (name == scope.weakening) != (word == "if "):
                return []
            break
    scopes = [scope]
    if line.startswith("for "):
        letters, line = line[len("for ") :].split(": ", 1)
        for letter in letters.split(" "):
            scopes = [_within(s, marks) for s in scopes for marks in _range(letter, scope)]
    return [_expand(line, each) for each in scopes]


def _within(scope: _Scope, marks: dict[str, str]) -> _Scope:
    return scope._replace(marks={**scope.marks, **marks})


def _expand(text: str, scope: _Scope) -> str:
    """Expand the loops of a text, then put in what stands for the marks outside of them."""
    opening = text.find("{")
    if opening < 0:
        model = scope.model
        bounds = {"%R": model["requests"], "%B": model["blocks"], "%S": model["block_size"]}
        return _fill(text, {**scope.marks, **{mark: str(n) for mark, n in bounds.items()}})
    depth, closing = 1, opening
    while depth:
        closing += 1
        depth += (text[closing] == "{") - (text[closing] == "}")
    letter, body = text[opening + 1], text[opening + 4 : closing]
    rounds = [_expand(body, _within(scope, marks)) for marks in _range(letter, scope)]
    before, after = _expand(text[:opening], scope), _expand(text[closing + 1 :], scope)
    return before + " ".join(rounds) + after


def _range(letter: str, scope: _Scope) -> list[dict[str, str]]:
    if letter in ("s", "e"):
        names = _data()["states" if letter == "s" else "events"]
        return [{f"${letter}": name, f"#{letter}": str(i)} for i, name in enumerate(names)]
    if letter == "k":
        members = ("state", "event", "next")
        return [{f"$k.{member}": cell[member] for member in members} for cell in _data()["cells"]]
    count = scope.model["requests" if letter in ("r", "q") else "blocks"]
    return [{f"${letter}": str(number)} for number in range(count)]


def _fill(text: str, marks: dict[str, str]) -> str:
    for mark, value in marks.items():
        text = text.replace(mark, value)
    return text
