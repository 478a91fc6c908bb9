"""A finding shown again by the engine, in a process of its own [FIND-13].

Nothing of the engine is imported: it gets a statement in a file and prints one line of JSON.
"""

import importlib.util
from typing import Any

from lockstep_verify.derive.replay_execution import ask
from lockstep_verify.errors import Refusal


def execute_again(statement: dict[str, Any]) -> tuple[int, int, str]:
    """Let the engine show a finding again, and test its single removals.

    Returns:
        1 where it agrees, else 0; 0 where it is not comparable here, else 1; a line for people.

    Raises:
        Refusal: FINDING_NOT_REPRODUCED, FINDING_REOPENED, REPLAY_DIFFERS, or
            FINDING_OUTCOME_NOT_DERIVED at the removal that has another outcome.
    """
    predicate = statement["predicate"]
    if importlib.util.find_spec("lockstep") is None:
        return 0, 1, "execution: not repeated here, the engine is not installed"
    if predicate["model"]["recipe"] is None:
        return 0, 1, "execution: not repeated here, the model has no recipe (lockstep replay)"
    answer = ask(statement, "--removals")
    outcome = answer.get("outcome")
    expected, got = answer.get("expected"), answer.get("got")
    if outcome == "same":
        tested = answer["tested"]
        return 1, 1, f"execution: the failure shows here, {tested} other cases give what is said"
    if outcome == "closed":
        return 1, 1, f"execution: does not show here, closed by {predicate['closed_by']}"
    if outcome == "not_comparable":
        return 0, 0, f"execution: NOT_COMPARABLE here, {answer['reason']}"
    if outcome in _REFUSED:
        code, at = _REFUSED[outcome]
        raise Refusal(code, f"/predicate{at}", expected, got)
    if outcome == "another_outcome":
        at = f"/predicate/removals/{answer['removal']}" if answer["removal"] >= 0 else _UNMUTATED
        raise Refusal("FINDING_OUTCOME_NOT_DERIVED", at, expected, got)
    if outcome == "refused":
        raise Refusal("REPLAY_DIFFERS", "/predicate", "an execution", answer["reason"])
    return 0, 1, f"execution: not repeated here, {answer.get('reason', 'no answer')}"


_UNMUTATED = "/predicate/unmutated"
_REFUSED = {
    "not_reproduced": ("FINDING_NOT_REPRODUCED", "/failure"),
    "reopened": ("FINDING_REOPENED", "/closed_by"),
    "differs": ("REPLAY_DIFFERS", "/trajectory_sha256"),
}
