"""The lifecycle's queries: what an invariant proves, witnesses, and foils [LIFE-25] [LIFE-26]."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lockstep import spec
from lockstep.lifecycle.relation import parse
from lockstep.proofs.lifecycle.template import Model, Template
from lockstep.proofs.query import Expected, Query

PREFIX = "lifecycle/"


@dataclass(frozen=True)
class Run:
    """What a `sat` query's model is a run of, so that it can be told step by step.

    Attributes:
        query: the query.
        model: its bounds.
        weakening: the weakening in force, or None.
        steps: the steps before the goal.
        goal: the goal's name in `lifecycle.json#/goals`.
    """

    query: Query
    model: Model
    weakening: str | None
    steps: int
    goal: str


def inductive(weakening: str | None = None) -> tuple[Query, ...]:
    """Give the queries of the invariant and of what follows from it, under given rules.

    Each asks for a counterexample; under the rules as they stand there is none.
    """
    document = _document()
    template = Template(Model(**document["models"]["inductive"]), parse(document), weakening)
    return tuple(
        _query(template, entry, chosen)
        for entry in document["inductive"]
        for chosen in _choices(document, entry["each"])
    )


def witnesses() -> tuple[Run, ...]:
    """Give, for each cell, the query for a run that takes it."""
    document = _document()
    return tuple(
        _run(document, "witness", entry["steps"], None, entry) for entry in document["witnesses"]
    )


def foils() -> tuple[Run, ...]:
    """Give, for each weakening, the query for a run that breaks the claim it names."""
    document = _document()
    return tuple(
        _run(document, entry["breaks"], entry["steps"], entry["name"], entry)
        for entry in document["weakenings"]
    )


def queries() -> tuple[Query, ...]:
    """Give all queries of the lifecycle, in their order [LIFE-25]."""
    return (*inductive(), *(run.query for run in (*witnesses(), *foils())))


def _document() -> dict[str, Any]:
    document: dict[str, Any] = spec.load("lifecycle.json")
    return document


def _choices(document: dict[str, Any], each: str | None) -> list[dict[str, str]]:
    if each is None:
        return [{}]
    if each == "events":
        return [{"event": event} for event in document["events"]]
    return [{"state": pair["state"], "event": pair["event"]} for pair in document[each]]


def _query(template: Template, entry: dict[str, Any], chosen: dict[str, str]) -> Query:
    parts = [template.section("names"), template.section("requests")]
    parts += [_section(template, section) for section in entry["sections"]]
    parts += [_assert(template, text, chosen) for text in entry["assert"]]
    return _made(entry["name"], entry["shows"], "unsat", parts, chosen)


def _run(
    document: dict[str, Any], goal: str, steps: int, weakening: str | None, entry: dict[str, Any]
) -> Run:
    model = Model(**document["models"]["bounded"])
    template = Template(model, parse(document), weakening)
    wanted = document["goals"][goal]
    parts = _steps(template, steps)
    chosen: dict[str, str] = {name: entry[name] for name in ("state", "event") if name in entry}
    chosen |= {"weakening": weakening} if weakening else {}
    for text in wanted["sections"]:
        parts.append(_section(template, template.expand(text, steps)))
    parts += [_assert(template, text, chosen, steps) for text in wanted["assert"]]
    name = "foil/$weakening" if weakening else "witness/$state/$event"
    query = _made(name, wanted["shows"], "sat", parts, chosen)
    return Run(query, model, weakening, steps, goal)


def _steps(template: Template, steps: int) -> list[str]:
    """Give the text of a run of so many steps from the initial state."""
    parts = [template.section("names"), template.section("requests")]
    parts += [template.section(name, 0) for name in ("state", "initial")]
    parts.append("(assert initial_0)\n")
    for time in range(steps):
        parts += [template.section("choice", time), template.section("state", time + 1)]
        parts += [template.section("effect", time), f"(assert step_{time})\n"]
    return parts


def _section(template: Template, text: str) -> str:
    name, time = text.split(" ")
    return template.section(name, int(time))


def _assert(template: Template, text: str, chosen: dict[str, str], time: int | None = None) -> str:
    return f"(assert {template.expand(_chosen(text, chosen), time)})\n"


def _chosen(text: str, chosen: dict[str, str]) -> str:
    for word, value in chosen.items():
        text = text.replace(f"${word}", value)
    return text


def _made(
    name: str, shows: str, expected: Expected, parts: list[str], chosen: dict[str, str]
) -> Query:
    return Query(
        PREFIX + _chosen(name, chosen).lower(),
        _chosen(shows, chosen),
        expected,
        "".join(["(set-logic QF_LIA)\n", *parts, "(check-sat)\n"]),
    )
