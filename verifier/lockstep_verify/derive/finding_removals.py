"""Every single removal of a case, and the case without it (FIND-4, FIND-5).

A case is the JSON value of a certificate; each removal gives a value of its own, and leaves that.
"""

from collections.abc import Callable, Iterator
from typing import Any

from lockstep_verify import spec

Case = dict[str, Any]
Place = tuple[int, ...]
Steps = list[list[dict[str, Any]]]


def single_removals(case: Case, free: list[str]) -> Iterator[tuple[str, Place, Case]]:
    """Give dimension, place and the smaller case of each removal, in the order of FIND-4."""
    for entry in spec.load("finding.json")["dimensions"]:
        if entry["name"] in free:
            for place, smaller in _REMOVALS[entry["name"]](case):
                yield entry["name"], place, smaller


def removal_count(case: Case, free: list[str]) -> int:
    """Give how many there are, without making one: a case may be large, and its list short."""
    requests, steps = case["workload"]["requests"], case["steps"]
    actions = [action for _, action in actions_of(case)]
    counts = {
        "requests": len(requests) if len(requests) > 1 else 0,
        "steps": len(steps) - bool(steps and steps[-1]),
        "actions": len(actions),
        "prompt_tokens": sum(len(r["prompt"]) for r in requests if len(r["prompt"]) > 1),
        "new_tokens": sum(request["max_new"] > 1 for request in requests),
        "chunk_tokens": sum(action.get("tokens", 0) > 1 for action in actions),
        "named_blocks": sum("blocks" in action for action in actions),
        "arrivals": sum(request["arrival"] > 0 for request in requests),
        "pool_blocks": int(case["pool"]["blocks"] > 1),
        "block_size": int(case["pool"]["block_size"] > 1),
    }
    return sum(counts[name] for name in free)


def actions_of(case: Case) -> Iterator[tuple[Place, dict[str, Any]]]:
    """Give the actions of a case, each with its step and its number there."""
    for step, actions in enumerate(case["steps"]):
        for number, action in enumerate(actions):
            yield (step, number), action


def _changed(case: Case, requests: list[Any] | None = None, steps: Steps | None = None) -> Case:
    workload = case["workload"]
    return {
        **case,
        "workload": workload if requests is None else {**workload, "requests": requests},
        "steps": case["steps"] if steps is None else steps,
    }


def _with_request(case: Case, number: int, **members: Any) -> list[Any]:
    requests = list(case["workload"]["requests"])
    requests[number] = {**requests[number], **members}
    return requests


def _kept(case: Case, keep: Callable[[Place, dict[str, Any]], dict[str, Any] | None]) -> Steps:
    """Give the steps with each action as `keep` gives it, or without it where that is None."""
    steps: Steps = [[] for _ in case["steps"]]
    for place, action in actions_of(case):
        kept = keep(place, action)
        if kept is not None:
            steps[place[0]].append(kept)
    return steps


def _left_out(case: Case, places: set[Place]) -> Steps:
    return _kept(case, lambda place, action: None if place in places else action)


def _requests(case: Case) -> Iterator[tuple[Place, Case]]:
    requests = case["workload"]["requests"]
    for number in range(len(requests)) if len(requests) > 1 else ():
        name = requests[number]["id"]
        steps = [[a for a in actions if a["request"] != name] for actions in case["steps"]]
        yield (number,), _changed(case, requests[:number] + requests[number + 1 :], steps)


def _steps(case: Case) -> Iterator[tuple[Place, Case]]:
    steps = case["steps"]
    for step in range(len(steps)):
        last = step == len(steps) - 1
        if last and steps[step]:
            continue
        joined = [] if last else [steps[step] + steps[step + 1]]
        requests = [
            {**request, "arrival": request["arrival"] - (request["arrival"] > step)}
            for request in case["workload"]["requests"]
        ]
        yield (step,), _changed(case, requests, steps[:step] + joined + steps[step + 2 :])


def _actions(case: Case) -> Iterator[tuple[Place, Case]]:
    for gone, removed in actions_of(case):
        dependent = _dependents(case, gone, removed)
        yield gone, _changed(case, steps=_left_out(case, dependent))


def _dependents(case: Case, gone: Place, removed: dict[str, Any]) -> set[Place]:
    """Give the places of an action and of those that go with it."""
    found = {gone}
    if removed["event"] not in ("admit", "resume", "preempt_rc"):
        return found
    for place, action in actions_of(case):
        if place <= gone or action["request"] != removed["request"]:
            continue
        if removed["event"] == "preempt_rc" and action["event"] in ("decode", "preempt_rc"):
            break
        found.add(place)
    return found


def _prompt_tokens(case: Case) -> Iterator[tuple[Place, Case]]:
    for number, request in enumerate(case["workload"]["requests"]):
        prompt, spans = request["prompt"], _spans(case, request["id"])
        for position in range(len(prompt)) if len(prompt) > 1 else ():
            shrunk = {place for place, (begin, end) in spans.items() if begin <= position < end}

            def keep(
                place: Place, action: dict[str, Any], shrunk: set[Place] = shrunk
            ) -> dict[str, Any] | None:
                if place not in shrunk:
                    return action
                left = action["tokens"] - 1
                return {**action, "tokens": left} if left else None

            rest = prompt[:position] + prompt[position + 1 :]
            requests = _with_request(case, number, prompt=rest)
            yield (number, position), _changed(case, requests, _kept(case, keep))


def _spans(case: Case, name: str) -> dict[Place, tuple[int, int]]:
    """Give the positions that each chunk of a request computes, as far as the schedule tells."""
    spans: dict[Place, tuple[int, int]] = {}
    at = 0
    for place, action in actions_of(case):
        if action["request"] != name:
            continue
        if action["event"] in ("admit", "resume"):
            at = 0
        elif action["event"] == "cache_hit":
            at = len(action.get("blocks", ())) * case["pool"]["block_size"]
        elif action["event"] == "chunk":
            spans[place] = (at, at + action["tokens"])
            at += action["tokens"]
    return spans


def _new_tokens(case: Case) -> Iterator[tuple[Place, Case]]:
    for number, request in enumerate(case["workload"]["requests"]):
        left = request["max_new"] - 1
        if left < 1:
            continue
        mine = (request["id"], "decode")
        decodes = [
            p for p, action in actions_of(case) if (action["request"], action["event"]) == mine
        ]
        steps = _left_out(case, set(decodes[left:]))
        yield (number,), _changed(case, _with_request(case, number, max_new=left), steps)


def _chunk_tokens(case: Case) -> Iterator[tuple[Place, Case]]:
    for at, chosen in actions_of(case):
        if chosen.get("tokens", 0) > 1:
            less = {**chosen, "tokens": chosen["tokens"] - 1}
            yield at, _changed(case, steps=_replaced(case, at, less))


def _named_blocks(case: Case) -> Iterator[tuple[Place, Case]]:
    for at, chosen in actions_of(case):
        if "blocks" in chosen:
            unnamed = {name: value for name, value in chosen.items() if name != "blocks"}
            yield at, _changed(case, steps=_replaced(case, at, unnamed))


def _replaced(case: Case, at: Place, instead: dict[str, Any]) -> Steps:
    return _kept(case, lambda place, action: instead if place == at else action)


def _arrivals(case: Case) -> Iterator[tuple[Place, Case]]:
    for number, request in enumerate(case["workload"]["requests"]):
        if request["arrival"] > 0:
            earlier = _with_request(case, number, arrival=request["arrival"] - 1)
            yield (number,), _changed(case, earlier)


def _pool(member: str) -> Callable[[Case], Iterator[tuple[Place, Case]]]:
    def removals(case: Case) -> Iterator[tuple[Place, Case]]:
        if case["pool"][member] > 1:
            yield (), {**case, "pool": {**case["pool"], member: case["pool"][member] - 1}}

    return removals


_REMOVALS: dict[str, Callable[[Case], Iterator[tuple[Place, Case]]]] = {
    "requests": _requests,
    "steps": _steps,
    "actions": _actions,
    "prompt_tokens": _prompt_tokens,
    "new_tokens": _new_tokens,
    "chunk_tokens": _chunk_tokens,
    "named_blocks": _named_blocks,
    "arrivals": _arrivals,
    "pool_blocks": _pool("blocks"),
    "block_size": _pool("block_size"),
}
