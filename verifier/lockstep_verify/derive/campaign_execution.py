"""Cases of a campaign run again by the engine, in a process of its own (FUZZ-15).

Nothing of the engine is imported: it gets a statement in a file and prints one line of JSON.
"""

import importlib.util
from typing import Any

from lockstep_verify.derive.replay_execution import ask
from lockstep_verify.errors import Refusal


def run_again(statement: dict[str, Any]) -> tuple[int, int, str]:
    """Let the engine run cases of a statement again.

    Returns:
        How many records agree; 0 where they are not comparable here, else 1; a line for people.

    Raises:
        Refusal: REPLAY_DIFFERS, at the first record that differs, or where the engine refuses.
    """
    if importlib.util.find_spec("lockstep") is None:
        return 0, 1, "cases: not run again here, the engine is not installed"
    if statement["predicate"]["model"]["recipe"] is None:
        return 0, 1, "cases: not run again here, the model has no recipe (lockstep replay)"
    answer = ask(statement)
    outcome = answer.get("outcome")
    if outcome == "same":
        return answer["records"], 1, f"cases: {answer['records']} run again here, nothing differs"
    if outcome == "not_comparable":
        return 0, 0, f"cases: NOT_COMPARABLE here, {answer['reason']}"
    if outcome == "differs":
        at = f"/predicate/populations/{answer['index']}/records/{answer['seed']}/{answer['part']}"
        raise Refusal("REPLAY_DIFFERS", at, answer["expected"], answer["got"])
    if outcome == "refused":
        raise Refusal("REPLAY_DIFFERS", "/predicate", "cases that can be run", answer["reason"])
    return 0, 1, f"cases: not run again here, {answer.get('reason', 'no answer')}"
