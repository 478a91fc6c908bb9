"""Which question a server's metric can answer, and which it only seems to (spec/metrics.toml)."""

from __future__ import annotations

import tomllib
from functools import cache
from typing import NamedTuple

from lockstep import spec
from lockstep.errors import LockstepError


class Pairing(NamedTuple):
    """A metric beside a question [MEAS-5].

    Attributes:
        engine: whose metric it is.
        metric: as the server prints it.
        question: of `questions` of the registry.
        answers: whether it does.
        reason: why, or why not.
        instead: the metric of the same engine that answers; empty where none is known.
        source: repository, path and commit of the code that says so.
    """

    engine: str
    metric: str
    question: str
    answers: bool
    reason: str
    instead: str
    source: str


@cache
def pairings() -> tuple[Pairing, ...]:
    """Give the registry, in its order."""
    data = tomllib.loads(spec.read("metrics.toml").decode("utf-8"))
    return tuple(
        Pairing(
            one["engine"],
            one["metric"],
            one["question"],
            one["answers"] == "yes",
            one["reason"],
            one["instead"],
            f"{one['repository']} {one['path']} at {one['commit']}",
        )
        for one in data["pairing"]
    )


@cache
def questions() -> dict[str, str]:
    """Give what each question asks, by its name."""
    data = tomllib.loads(spec.read("metrics.toml").decode("utf-8"))
    return {one["name"]: one["asks"] for one in data["question"]}


def answering(engine: str, question: str) -> tuple[str, ...]:
    """Give the metrics of an engine that answer a question."""
    return tuple(
        one.metric
        for one in pairings()
        if (one.engine, one.question, one.answers) == (engine, question, True)
    )


def require_answer(engine: str, metric: str, question: str | None, pointer: str = "") -> Pairing:
    """Give the pairing of a metric and a question that it answers.

    Raises:
        LockstepError: METRIC_NOT_AN_ANSWER with the metric that would answer, if any is known.
    """
    for one in pairings():
        if (one.engine, one.metric, one.question) == (engine, metric, question):
            if one.answers:
                return one
            hint = f"{one.reason} Ask {one.instead} instead." if one.instead else one.reason
            expected = f"a metric of {engine} that answers {question}"
            raise LockstepError("METRIC_NOT_AN_ANSWER", pointer, expected, metric, hint)
    known = answering(engine, question or "")
    hint = f"Ask {' or '.join(known)}." if known else "Nothing of this engine is known to answer."
    expected = f"a metric of {engine} that the registry has for {question}"
    raise LockstepError("METRIC_NOT_AN_ANSWER", pointer, expected, metric, hint)
