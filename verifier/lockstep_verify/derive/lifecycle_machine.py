"""The lifecycle machine, and the traces of a certificate run on it (spec/lifecycle.md).

A trace that reaches its goal here needs no solver to be believed [LIFE-27].
"""

from __future__ import annotations

from typing import Any

from lockstep_verify import spec
from lockstep_verify.errors import Refusal

Step = dict[str, Any]
"""A step as a certificate holds it: request, event, tokens, blocks, published."""


class Request:
    """A request: its constants, and what changes [LIFE-6]."""

    def __init__(self, prompt: int, max_new: int, state: str) -> None:
        self.prompt = prompt
        self.max_new = max_new
        self.state = state
        self.computed = 0
        self.outputs = 0
        self.table: list[int] = []

    @property
    def known(self) -> int:
        """Tokens that there are to compute."""
        return self.prompt + self.outputs

    @property
    def active(self) -> bool:
        """Whether it is admitted and not finished or preempted."""
        return self.state in ("ADMITTED", "PREFILLING", "DECODING")


class Machine:
    """A pool, its requests and their queue, under the rules or with one weakening in force."""

    def __init__(self, blocks: int, block_size: int, weakening: str) -> None:
        data = spec.load("lifecycle.json")
        self.cells = {(c["state"], c["event"]): c["next"] for c in data["cells"]}
        self.events: list[str] = data["events"]
        self.initial: str = data["initial"]
        self.terminal: list[str] = data["terminal"]
        self.size = block_size
        self.references = [0] * blocks
        self.cached = [False] * blocks
        self.requests: list[Request] = []
        self.queue: list[int] = []
        self.weakening = weakening

    def submit(self, prompt: int, max_new: int) -> bool:
        """Take a request in, unless it can never fit [LIFE-9]."""
        request = Request(prompt, max_new, self.initial)
        self.queue.append(len(self.requests))
        self.requests.append(request)
        fits = self.need(request) <= len(self.references)
        return min(prompt, max_new) >= 1 and (fits or self.weakening == "never_fitting_accepted")

    def blocks_of(self, tokens: int) -> int:
        """Give the blocks that so many tokens take."""
        return (tokens + self.size - 1) // self.size

    def need(self, request: Request) -> int:
        """Give the request's reservation in blocks."""
        return self.blocks_of(request.prompt + request.max_new)

    def owed(self, request: Request) -> int:
        """Give the blocks that are reserved and not yet taken."""
        return self.need(request) - len(request.table) if request.active else 0

    def free(self, block: int) -> bool:
        """Whether nobody holds a block, or is offered it."""
        return self.references[block] == 0 and not self.cached[block]

    def free_count(self) -> int:
        """Give the number of free blocks."""
        return sum(self.free(block) for block in range(len(self.references)))

    def slack(self) -> int:
        """Give the blocks that no reservation has a claim to [LIFE-7]."""
        return self.references.count(0) - sum(self.owed(request) for request in self.requests)

    def admissible(self, number: int) -> bool:
        """Whether the request is the head and its need is there [LIFE-10]."""
        granted = self.need(self.requests[number]) <= self.slack()
        return self.queue[:1] == [number] and (granted or self.weakening == "unreserved_admission")

    def allows(self, step: Step) -> bool:
        """Whether a step's guard holds [LIFE-10] to [LIFE-17]."""
        event, blocks, published = step["event"], step["blocks"], step["published"]
        if not 0 <= step["request"] < len(self.requests) or event not in self.events:
            return False
        for chosen in (blocks, published):
            if len(set(chosen)) < len(chosen):
                return False
            if not all(0 <= block < len(self.references) for block in chosen):
                return False
        request = self.requests[step["request"]]
        computing = event in ("chunk", "decode")
        if (step["tokens"] and event != "chunk") or (published and not computing):
            return False
        if event in ("admit", "resume"):
            wanted = "QUEUED" if event == "admit" else "PREEMPTED"
            return self.admissible(step["request"]) and request.state == wanted and not blocks
        if event == "finish":
            return request.state == "DECODING" and not blocks
        if not request.active and (event, self.weakening) != ("decode", "decode_while_waiting"):
            return False
        if event == "cache_hit":
            granted = len(blocks) * self.size
            offered = all(self.cached[block] for block in blocks)
            return request.computed == 0 < granted < request.known and offered
        if event == "evict":
            short = self.free_count() < self.owed(request)
            idle = [self.cached[b] and self.references[b] == 0 for b in blocks]
            return short and idle == [True]
        if event == "preempt_rc":
            victim = request.computed >= 1 or self.weakening == "victim_without_tokens"
            return victim and request.outputs < request.max_new and not blocks
        return self._computes(request, step)

    def _computes(self, request: Request, step: Step) -> bool:
        """Whether the rest of the guard of a chunk or a decode holds."""
        until = self._until(request, step)
        cover = max(0, self.blocks_of(until) - len(request.table))
        if step["event"] == "chunk":
            if not request.computed < until < request.known:
                return False
        elif request.outputs >= request.max_new:
            return False
        elif self.weakening != "lazy_reservation":
            cover = self.owed(request)
        table = request.table + step["blocks"]
        if self.weakening != "early_publishing":
            table = table[: until // self.size]
        return (
            len(step["blocks"]) == cover
            and all(self.free(block) for block in step["blocks"])
            and all(block in table and not self.cached[block] for block in step["published"])
        )

    def _until(self, request: Request, step: Step) -> int:
        """Give the computed tokens after a chunk or a decode."""
        tokens: int = step["tokens"]
        return request.computed + tokens if step["event"] == "chunk" else request.known

    def writes_alone(self, step: Step) -> bool:
        """Whether each block that a step writes is its request's alone [LIFE-14]."""
        request = self.requests[step["request"]]
        if step["event"] not in ("chunk", "decode"):
            return True
        last = self.blocks_of(self._until(request, step))
        written = request.table[request.computed // self.size : last]
        return all(self.references[b] == 1 and not self.cached[b] for b in written)

    def take(self, step: Step) -> bool:
        """Take a step whose guard holds and which has a cell; otherwise change nothing."""
        if not self.allows(step):
            return False
        number, event, request = step["request"], step["event"], self.requests[step["request"]]
        if (request.state, event) not in self.cells:
            return False
        request.state = self.cells[request.state, event]
        if event in ("admit", "resume"):
            del self.queue[0]
        elif event == "evict":
            self.cached[step["blocks"][0]] = False
        elif event in ("preempt_rc", "finish"):
            self._give_back(request, event)
            self.queue[:0] = [number] if event == "preempt_rc" else []
        else:
            granted = len(step["blocks"]) * self.size
            hit = event == "cache_hit"
            request.computed = granted if hit else self._until(request, step)
            request.outputs += event == "decode"
            request.table += step["blocks"]
            for block in step["blocks"]:
                self.references[block] += 1
            for block in step["published"]:
                self.cached[block] = True
        return True

    def _give_back(self, request: Request, event: str) -> None:
        request.computed = 0
        if event == "preempt_rc" and self.weakening == "preempted_keeps_blocks":
            return
        for block in request.table:
            left = self.references[block] - 1
            self.references[block] = 0 if self.weakening == "shared_release" else left
        request.table = []

    def stuck(self) -> bool:
        """Whether some request is unfinished and nothing but a preemption is enabled [LIFE-22]."""
        free = self.free_count()
        evictable = self.references.count(0) - free
        for number, request in enumerate(self.requests):
            owed, left = self.owed(request), request.known - request.computed
            room = request.computed < self.size * len(request.table)
            may = (
                request.state == "DECODING",
                not request.active and self.admissible(number),
                request.active and request.outputs < request.max_new and owed <= free,
                request.active and free < owed and evictable > 0,
                request.active and left > 1 and (room or free > 0),
                request.active
                and request.computed == 0
                and any(self.cached)
                and self.size < request.known,
            )
            if any(may):
                return False
        return any(request.state not in self.terminal for request in self.requests)

    def idle_holds(self) -> bool:
        """Whether a request that is not active holds a block or has a token computed."""
        return any(not r.active and (r.table or r.computed) for r in self.requests)

    def miscounts(self) -> bool:
        """Whether references of some block is not the number of its holders."""
        held = [block for request in self.requests for block in request.table]
        return any(count != held.count(block) for block, count in enumerate(self.references))


def check_traces(traces: list[Any], pointer: str) -> None:
    """Run each trace and see that it reaches its goal [LIFE-27].

    Args:
        traces: what the certificate holds, in the form of its schema.
        pointer: where that stands.

    Raises:
        Refusal: BAD_VALUE, a trace is missing, surplus or out of order, or has not the number of
            requests or steps that its query has; COUNTEREXAMPLE_NOT_REPLAYED, at the step that
            cannot be taken, or at the trace where its goal is not reached.
    """
    data = spec.load("lifecycle.json")
    demanded = [
        (f"witness/{e['state']}/{e['event']}".lower(), "witness", "", e) for e in data["witnesses"]
    ]
    demanded += [(f"foil/{e['name']}", e["breaks"], e["name"], e) for e in data["weakenings"]]
    if len(traces) != len(demanded):
        raise Refusal("BAD_VALUE", pointer, len(demanded), len(traces))
    for i, (trace, (name, goal, weakening, entry)) in enumerate(zip(traces, demanded, strict=True)):
        at = f"{pointer}/{i}"
        if trace["name"] != f"lifecycle/{name}":
            raise Refusal("BAD_VALUE", f"{at}/name", f"lifecycle/{name}", trace["name"])
        _check(trace, goal, weakening, entry, data["models"]["bounded"], at)


def _check(
    trace: dict[str, Any],
    goal: str,
    weakening: str,
    entry: dict[str, Any],
    model: dict[str, int],
    at: str,
) -> None:
    requests, steps, before = trace["requests"], trace["steps"], entry["steps"]
    length = before + (goal in ("witness", "only_cells", "exclusive_write"))
    for member, given, wanted in (
        ("requests", requests, model["requests"]),
        ("steps", steps, length),
    ):
        if len(given) != wanted:
            raise Refusal("BAD_VALUE", f"{at}/{member}", wanted, len(given))
    machine = Machine(model["blocks"], model["block_size"], weakening)
    for i, request in enumerate(requests):
        if not machine.submit(request["prompt"], request["max_new"]):
            raise Refusal(
                "COUNTEREXAMPLE_NOT_REPLAYED", f"{at}/requests/{i}", "a request that fits"
            )
    for i, step in enumerate(steps[:before]):
        if not machine.take(step):
            raise Refusal(
                "COUNTEREXAMPLE_NOT_REPLAYED", f"{at}/steps/{i}", "a step that may be taken"
            )
    if not _reached(machine, goal, entry, steps[before:]):
        raise Refusal("COUNTEREXAMPLE_NOT_REPLAYED", at, goal, "not shown")


def _reached(machine: Machine, goal: str, entry: dict[str, Any], rest: list[Step]) -> bool:
    if goal == "no_deadlock":
        return machine.stuck()
    if goal == "idle_holds_nothing":
        return machine.idle_holds()
    if goal == "references_match_holders":
        return machine.miscounts()
    step = rest[0]
    if not machine.allows(step):
        return False
    pair = (machine.requests[step["request"]].state, step["event"])
    if goal == "witness":
        return pair == (entry["state"], entry["event"]) and machine.take(step)
    if goal == "only_cells":
        return pair not in machine.cells
    return pair in machine.cells and not machine.writes_alone(step)
