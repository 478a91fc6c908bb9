"""An execution repeated by the engine, in a process of its own [RPL-10].

Nothing of the engine is imported: it gets a statement in a file and prints one line of JSON.
"""

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from typing import Any

from lockstep_verify import lcj, limits
from lockstep_verify.errors import Refusal

_START = "import sys; from lockstep.cli import main; sys.exit(main())"
_REFUSED = 3  # the exit status of a command that refuses what it was given
_PARTS = ("emitted", "logits", "work", "ledger", "prefixes")


def execute_again(statement: dict[str, Any]) -> tuple[int, int, str]:
    """Let the engine execute a statement again.

    Returns:
        1 where it agrees, else 0; 0 where it is not comparable here, else 1; a line for people.

    Raises:
        Refusal: REPLAY_DIFFERS, at what differs first, or where the engine refuses to execute.
    """
    if importlib.util.find_spec("lockstep") is None:
        return 0, 1, "execution: not repeated here, the engine is not installed"
    if statement["predicate"]["model"]["recipe"] is None:
        return 0, 1, "execution: not repeated here, the model has no recipe (lockstep replay)"
    answer = ask(statement)
    outcome = answer.get("outcome")
    if outcome == "same":
        return 1, 1, f"execution: repeated here, {answer['steps']} steps, nothing differs"
    if outcome == "not_comparable":
        return 0, 0, f"execution: NOT_COMPARABLE here, {answer['reason']}"
    if outcome == "differs":
        raise Refusal("REPLAY_DIFFERS", _place(answer), answer["expected"], answer["got"])
    if outcome == "refused":
        raise Refusal("REPLAY_DIFFERS", "/predicate", "an execution", answer["reason"])
    return 0, 1, f"execution: not repeated here, {answer.get('reason', 'no answer')}"


def ask(statement: dict[str, Any], *options: str) -> dict[str, Any]:
    """Have `lockstep replay` execute a statement, and give its answer.

    Returns:
        What it printed. Where that is no answer: `outcome` "refused" if it refused the statement,
        and the `reason` in its words.
    """
    with tempfile.TemporaryDirectory() as scratch:
        path = os.path.join(scratch, "statement.json")
        with open(path, "wb") as file:
            file.write(lcj.encode(statement))
        try:
            done = subprocess.run(
                [sys.executable, "-c", _START, "replay", path, "--json", *options],
                capture_output=True,
                timeout=limits.REPLAY_SECONDS,
                check=False,
            )
        except (OSError, subprocess.SubprocessError) as fault:
            return {"reason": type(fault).__name__}
    try:
        answer = json.loads(done.stdout)
    except ValueError:
        said = done.stderr.decode("utf-8", "replace").strip()
        reason = said[:200] or f"exit status {done.returncode}"
        return {"outcome": "refused" if done.returncode == _REFUSED else "", "reason": reason}
    return answer if isinstance(answer, dict) else {"reason": "an answer of another form"}


def _place(answer: dict[str, Any]) -> str:
    """Point to the part of the step, or to the output, that differs."""
    if answer["part"] in _PARTS:
        return f"/predicate/trajectory/steps/{answer['step']}/{answer['part']}"
    return "/predicate/outputs" if answer["part"] == "outputs" else "/predicate/trajectory"
