"""The two solvers, z3 and cvc5, in this process: both answer every query, or the query fails.

A solver is given the text as it stands. Only when it answered `sat` is it asked, apart from the
text, for the values of the constants that the text declares.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from lockstep import limits
from lockstep.errors import LockstepError
from lockstep.proofs.query import Query

Model = dict[str, int | bool]
"""Values of a query's constants by name."""

_VALUE = re.compile(r"\(([^\s()]+) (true|false|\d+|\(- \d+\))\)")


@dataclass(frozen=True)
class Reply:
    """What one solver said.

    Attributes:
        answer: `sat`, `unsat`, or what it said instead.
        values: the text of its `get-value` answer where it said `sat`, else empty.
    """

    answer: str
    values: str = ""


@dataclass(frozen=True)
class Solver:
    """A solver by name, its version, and the function that puts a text and constants to it."""

    name: str
    version: str
    ask: Callable[[str, tuple[str, ...]], Reply]


@dataclass(frozen=True)
class Answered:
    """A query that every solver answered as expected.

    Attributes:
        query: the query.
        answers: the answer of each solver by name.
        models: for a `sat` query the model of each solver by name, else empty.
    """

    query: Query
    answers: dict[str, str]
    models: dict[str, Model]


def solvers() -> tuple[Solver, ...]:
    """Give both solvers.

    Raises:
        LockstepError: SOLVER_MISSING where a package is not installed.
    """
    z3, cvc5 = _module("z3"), _module("cvc5")
    return (
        Solver("z3", ".".join(map(str, z3.get_version())), _ask_z3),
        Solver("cvc5", str(cvc5.__version__), _ask_cvc5),
    )


def decide(query: Query, by: Sequence[Solver]) -> Answered:
    """Put a query to every solver; nothing but the expected answer of each passes.

    Raises:
        LockstepError: QUERY_NOT_ANSWERED, at the query's name, where solvers disagree, one gives
            up or runs out of time, or the answer is not the expected one.
    """
    replies = {solver.name: solver.ask(query.text, query.constants) for solver in by}
    answers = {name: reply.answer for name, reply in replies.items()}
    if set(answers.values()) != {query.expected}:
        got = ", ".join(f"{name}: {answer}" for name, answer in answers.items()) or "no solver"
        raise LockstepError(
            "QUERY_NOT_ANSWERED", f"query {query.name}", f"{query.expected} of each solver", got
        )
    models: dict[str, Model] = {}
    if query.expected == "sat":
        models = {name: _model(query, name, reply.values) for name, reply in replies.items()}
    return Answered(query, answers, models)


def _module(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as fault:
        raise LockstepError("SOLVER_MISSING", name, "an installed solver", str(fault)) from None


def _model(query: Query, solver: str, text: str) -> Model:
    """Read an answer to `get-value`: integers and booleans only."""
    model: Model = {}
    for name, value in _VALUE.findall(" ".join(text.split())):
        model[name] = value == "true" if value in ("true", "false") else _integer(value)
    if set(model) != set(query.constants):
        raise LockstepError(
            "QUERY_NOT_ANSWERED",
            f"query {query.name}",
            f"an integer or a boolean for {', '.join(query.constants)}",
            f"{solver}: {text.strip()}",
        )
    return model


def _integer(text: str) -> int:
    return -int(text[3:-1]) if text.startswith("(") else int(text)


def _get_value(constants: tuple[str, ...]) -> str:
    return f"(get-value ({' '.join(constants)}))\n"


def _ask_z3(text: str, constants: tuple[str, ...]) -> Reply:
    z3 = _module("z3")
    # A context of its own: nothing of one query reaches the next.
    context = z3.Context()

    def run(script: str) -> str:
        return str(z3.Z3_eval_smtlib2_string(context.ref(), script)).strip()

    try:
        run(f"(set-option :timeout {limits.SOLVER_MILLISECONDS})\n")
        answer = run(text)
        if answer == "unknown":
            return Reply(f"unknown {run('(get-info :reason-unknown)')}")
        return Reply(answer, run(_get_value(constants)) if answer == "sat" and constants else "")
    except z3.Z3Exception as fault:
        return Reply(f"error: {fault}")


def _ask_cvc5(text: str, constants: tuple[str, ...]) -> Reply:
    cvc5 = _module("cvc5")
    solver = cvc5.Solver()
    solver.setOption("produce-models", "true")
    solver.setOption("tlimit-per", str(limits.SOLVER_MILLISECONDS))
    parser = cvc5.InputParser(solver)
    symbols = parser.getSymbolManager()

    def run(script: str) -> str:
        parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, script, "query")
        said = []
        while not (command := parser.nextCommand()).isNull():
            said.append(command.invoke(solver, symbols))
        return "".join(said).strip()

    try:
        answer = run(text)
        if answer == "unknown":
            return Reply(f"unknown {run('(get-info :reason-unknown)')}")
        return Reply(answer, run(_get_value(constants)) if answer == "sat" and constants else "")
    except RuntimeError as fault:
        return Reply(f"error: {fault}")
