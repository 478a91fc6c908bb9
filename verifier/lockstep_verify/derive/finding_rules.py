"""Whether a case is legal, and stuck, by the rules and stand-in tokens (FIND-6, SCHED-19)."""

from typing import Any

from lockstep_verify import spec
from lockstep_verify.derive.finding_removals import Case, actions_of
from lockstep_verify.derive.lifecycle_machine import Machine
from lockstep_verify.derive.replay_ledger import Ledger
from lockstep_verify.errors import Refusal

_END = 1 << 40
"""The stand-in for an end of sequence; the others lie above it, a range for each request."""

_RANGE = 1 << 20
"""More than a request may emit."""

_NEVER_FITTING = "never_fitting_accepted"


def weakening(mutation: dict[str, Any] | None) -> str:
    """Give the weakening that a mutation is, empty for none that admission knows."""
    name: str = mutation["name"] if mutation else ""
    entries = spec.load("lifecycle.json")["weakenings"]
    known = [entry["name"] for entry in entries if entry["breaks"] == "no_deadlock"]
    return name if name in known else ""


def judge(case: Case, weakened: str) -> tuple[str, bool]:
    """Give the code by which the rules refuse a case, empty if none; and whether it ends stuck."""
    code = _misfit(case, weakened)
    if code:
        return code, False
    ledger = _fresh(case, weakened)
    try:
        _follow(case, ledger)
    except Refusal as refusal:
        return refusal.code, False
    return "", ledger.machine.stuck()


def _misfit(case: Case, weakened: str) -> str:
    """Give the code of what is refused before the first step."""
    pool, requests = case["pool"], case["workload"]["requests"]
    for _, action in actions_of(case):
        if any(block >= pool["blocks"] for block in action.get("blocks", ())):
            return "BAD_VALUE"
    slots = pool["blocks"] * pool["block_size"]
    longest = max(len(request["prompt"]) + request["max_new"] for request in requests)
    if longest > slots and weakened != _NEVER_FITTING:
        return "REQUEST_NEVER_FITS"
    arrivals = {request["id"]: request["arrival"] for request in requests}
    for (step, _), action in actions_of(case):
        if action["request"] not in arrivals:
            return "REQUEST_UNKNOWN"
        if arrivals[action["request"]] > step:
            return "NOT_ARRIVED"
    return ""


def _fresh(case: Case, weakened: str) -> Ledger:
    pool = case["pool"]
    ledger = Ledger(pool["blocks"], pool["block_size"], b"stand-in", [_END])
    ledger.machine = Machine(pool["blocks"], pool["block_size"], weakened)
    return ledger


def _follow(case: Case, ledger: Ledger) -> None:
    """Take all steps, and then empty ones until every request has arrived."""
    requests = case["workload"]["requests"]
    order = sorted(range(len(requests)), key=lambda number: requests[number]["arrival"])
    numbers: dict[str, int] = {}
    outputs = _stand_ins(case)
    for step, actions in enumerate([*case["steps"], []]):
        for number in order[len(numbers) :]:
            request = requests[number]
            # After the last step nothing happens any more but that the others arrive.
            if request["arrival"] <= step or step == len(case["steps"]):
                numbers[request["id"]] = len(numbers)
                ledger.submit(request, {"tokens": outputs[request["id"]]})
        for action in actions:
            ledger.act(numbers[action["request"]], action, "")
        ledger.end_step()
        ledger.rows = []


def _stand_ins(case: Case) -> dict[str, list[int]]:
    """Give what each request emits: tokens like no others, an end where its finish says so."""
    outputs: dict[str, list[int]] = {}
    ends: dict[str, int] = {}
    for number, request in enumerate(case["workload"]["requests"]):
        outputs[request["id"]] = []
        first = _END + 1 + number * _RANGE
        for _, action in actions_of(case):
            if action["request"] == request["id"]:
                mine = outputs[request["id"]]
                if action["event"] == "decode":
                    mine.append(first + len(mine))
                elif action["event"] == "finish":
                    ends.setdefault(request["id"], len(mine))
    for name, length in ends.items():
        if length:
            outputs[name][length - 1] = _END
    return outputs
