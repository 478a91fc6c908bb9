"""Showing again what a certificate of a finding says was found [FIND-12]."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lockstep.engine.environment import binding_of, not_comparable
from lockstep.errors import LockstepError
from lockstep.fuzz.case import Case, parse_case
from lockstep.minimize.dimensions import removals
from lockstep.minimize.legality import Rules
from lockstep.minimize.observe import mutation_of
from lockstep.minimize.removals import without
from lockstep.minimize.worker import Engine, Workers

UNMUTATED = -1
"""In the place of a removal's number, the case on the engine as it is."""


@dataclass(frozen=True)
class FindingAgain:
    """What came of showing a finding again.

    Attributes:
        outcome: `same`, `closed`, `reopened`, `not_reproduced`, `differs`, `another_outcome` or
            `not_comparable`.
        expected: what the certificate says where something differs.
        got: what there is here.
        removal: number of the removal with another outcome, or `UNMUTATED`.
        tested: cases other than the finding's own that were tested again.
        reason: the settings that differ, where nothing was executed.
    """

    outcome: str
    expected: str = ""
    got: str = ""
    removal: int = 0
    tested: int = 0
    reason: str = ""


def show_again(
    predicate: Mapping[str, Any], folder: str | None = None, every: bool = False, jobs: int = 1
) -> FindingAgain:
    """Show what a predicate says was found, if it is comparable here.

    Args:
        predicate: in the form of its schema.
        folder: where the model lies; None for one that has a recipe.
        every: whether every legal single removal is tested again, too.
        jobs: workers.

    Raises:
        LockstepError: BAD_VALUE, a model without recipe and no folder; SUBJECT_MISMATCH, another
            model; MUTATION_UNKNOWN; as `Workers.show`.
    """
    engine = _engine(predicate, folder)
    mutation = mutation_of(engine)
    if mutation != predicate["mutation"]:
        return FindingAgain("not_comparable", reason=f"the edits of {engine.mutation}")
    case = parse_case(predicate["case"])
    with Workers(engine, jobs) as workers:
        stated = workers.stated()
        _require_model(predicate["model"], stated["model"])
        stated_binding = binding_of(predicate["environment"])
        reason = not_comparable(stated_binding, binding_of(stated["environment"]))
        if reason and not predicate["closed_by"]:
            return FindingAgain("not_comparable", reason=reason)
        shown = workers.show(case)
        failure = predicate["failure"]
        wanted = failure["kind"], failure["code"], failure["part"]
        told = " ".join(filter(None, wanted))
        got = " ".join(filter(None, shown.signature or ())) or "nothing is wrong"
        if predicate["closed_by"]:
            outcome = "reopened" if shown.signature == wanted else "closed"
            return FindingAgain(outcome, f"closed by {predicate['closed_by']}", got)
        if shown.signature != wanted:
            return FindingAgain("not_reproduced", told, got)
        if shown.trajectory != predicate["trajectory_sha256"]:
            return FindingAgain("differs", predicate["trajectory_sha256"], shown.trajectory)
        found = _unmutated(predicate, case, engine, wanted)
        if found.outcome != "same" or not every:
            return found
        return _removals(predicate, case, workers, wanted, found.tested)


def _engine(predicate: Mapping[str, Any], folder: str | None) -> Engine:
    resolved = {entry["name"]: entry["value"] for entry in predicate["environment"]["resolved"]}
    recipe = predicate["model"]["recipe"]
    if recipe is None and folder is None:
        raise LockstepError("BAD_VALUE", "/predicate/model/recipe", "a recipe, or --model", "null")
    name = predicate["mutation"]["name"] if predicate["mutation"] else None
    return Engine(name, recipe, folder, resolved["backend"], resolved["dtype"])


def _require_model(stated: Mapping[str, Any], here: Mapping[str, Any]) -> None:
    for name, got in here.items():
        # A model that is read from a folder has no recipe, whatever it was made by.
        if name != "recipe" and stated[name] != got:
            raise LockstepError("SUBJECT_MISMATCH", f"/predicate/model/{name}", stated[name], got)


def _unmutated(
    predicate: Mapping[str, Any], case: Case, engine: Engine, wanted: tuple[str, str, str]
) -> FindingAgain:
    """Compare what comes of the case on the engine as it is."""
    told = predicate["unmutated"]
    if told is None or Rules().refusal(case):
        return FindingAgain("same")
    with Workers(Engine(None, engine.recipe, engine.folder, engine.backend, engine.dtype)) as real:
        (outcome,) = real.test([case], wanted)
    if (outcome.name, outcome.code) != (told["outcome"], told["code"]):
        expected, got = f"{told['outcome']} {told['code']}", f"{outcome.name} {outcome.code}"
        return FindingAgain("another_outcome", expected.strip(), got.strip(), UNMUTATED)
    return FindingAgain("same", tested=1)


def _removals(
    predicate: Mapping[str, Any],
    case: Case,
    workers: Workers,
    wanted: tuple[str, str, str],
    tested: int,
) -> FindingAgain:
    """Test every legal case with a single removal, each once."""
    free = [entry["name"] for entry in predicate["dimensions"] if entry["held"] is None]
    rules = Rules(workers.engine.mutation)
    first: dict[Case, int] = {}
    for number, removal in enumerate(removals(case, free)):
        first.setdefault(without(case, (removal,)), number)
    stated = [(row["dimension"], tuple(row["place"])) for row in predicate["removals"]]
    if stated != [(removal.dimension, removal.place) for removal in removals(case, free)]:
        expected = "every single removal of the case"
        raise LockstepError("FINDING_REMOVALS_NOT_DERIVED", "/predicate/removals", expected)
    legal = [smaller for smaller in first if not rules.refusal(smaller)]
    for smaller, outcome in zip(legal, workers.test(legal, wanted), strict=True):
        told = predicate["removals"][first[smaller]]
        if (outcome.name, outcome.code) != (told["outcome"], told["code"]):
            expected, got = f"{told['outcome']} {told['code']}", f"{outcome.name} {outcome.code}"
            number = first[smaller]
            return FindingAgain("another_outcome", expected.strip(), got.strip(), number)
    return FindingAgain("same", tested=tested + len(legal))
