"""Re-derive a certificate of one execution (spec/replay.md).

Everything but the logits follows from model digest, workload, schedule and emitted tokens, and is
made here anew. The order of the checks is the normative one.
"""

import hashlib
from typing import Any

from lockstep_verify import lcj, limits, spec
from lockstep_verify.derive import Derivation, Options
from lockstep_verify.derive.environment import Environment, check_environment
from lockstep_verify.derive.model import check_model
from lockstep_verify.derive.not_run import check_not_run
from lockstep_verify.derive.replay_ledger import NAMING, Ledger, Row, framed, number, numbers
from lockstep_verify.derive.replay_outputs import LogitParts, check_outputs
from lockstep_verify.derive.replay_totals import check_coverage, check_totals
from lockstep_verify.derive.workload_requests import check_requests
from lockstep_verify.errors import Refusal

_AT = "/predicate"
_TRAJECTORY = "TRAJECTORY_NOT_DERIVED"
_PARTS = ("emitted", "logits", "work", "ledger", "prefixes")
NOT_RUN = (
    "other workloads, schedules, models and backends than these",
    "devices other than the one that the environment names",
)
"""What no such certificate covers [RPL-6]."""


def derive(statement: dict[str, Any], options: Options) -> Derivation:
    """Re-derive the statement of an execution.

    Raises:
        Refusal: the first offence in the order of derivation of [RPL-8].
    """
    predicate = statement["predicate"]
    environment = _check_model(predicate)
    submission = _check_workload(predicate)
    check_outputs(predicate)
    run = _Run(predicate, environment, submission)
    run.follow()
    check_coverage(predicate["coverage"], run.logs)
    counts = check_totals(predicate, run.rows)
    check_not_run(predicate["not_run"], NOT_RUN)
    _check_subjects(statement)
    lines = [
        f"{counts['steps']} steps, {counts['events']} events and {counts['rows']} rows of "
        f"{counts['requests']} requests derived from workload, schedule and tokens",
        f"{counts['tokens']} tokens and the digests of their logits are attested",
        *environment.lines(),
    ]
    replayed, said = 0, "execution: not repeated here (--replay)"
    comparable = 1
    if options.replay:
        # Starting an engine is dear, and few runs ask for it.
        from lockstep_verify.derive.replay_execution import execute_again

        replayed, comparable, said = execute_again(statement)
    verdict = "REPLAYED" if replayed else "DERIVED"
    counts |= {"replayed": replayed, "not_comparable": 1 - comparable}
    return Derivation(verdict, counts, (*lines, said))


def _require(code: str, pointer: str, expected: object, got: object) -> None:
    if expected != got:
        raise Refusal(code, pointer, expected, got)


def _check_model(predicate: dict[str, Any]) -> Environment:
    """Judge environment and model (step 1)."""
    environment = check_environment(predicate["environment"], f"{_AT}/environment")
    model = predicate["model"]
    check_model(model, environment.resolved["dtype"])
    stop = model["stop_tokens"]
    if stop != sorted(set(stop)) or any(token >= model["vocab_size"] for token in stop):
        raise Refusal("BAD_VALUE", f"{_AT}/model/stop_tokens", "ascending tokens", stop)
    return environment


def _check_workload(predicate: dict[str, Any]) -> list[int]:
    """Judge the workload, and give the order of submission (step 2)."""
    requests, pool = predicate["workload"]["requests"], predicate["schedule"]["pool"]
    model = predicate["model"]
    # Each step reads all blocks and requests, and so may each action.
    readings = sum(1 + len(actions) for actions in predicate["schedule"]["steps"])
    cost = (pool["blocks"] + len(requests)) * readings
    if cost > limits.REPLAY_READINGS:
        limit = limits.REPLAY_READINGS
        expected = f"at most {limit} blocks and requests, times steps and actions"
        raise Refusal("LIMIT_SIZE", f"{_AT}/schedule", expected, cost)
    check_requests(requests, model, f"{_AT}/workload/requests")
    order = sorted(range(len(requests)), key=lambda i: requests[i]["arrival"])
    for i in order:
        known = len(requests[i]["prompt"]) + requests[i]["max_new"]
        need = (known + pool["block_size"] - 1) // pool["block_size"]
        if need > pool["blocks"]:
            raise Refusal("REQUEST_NEVER_FITS", f"{_AT}/schedule/pool", need, pool["blocks"])
    return order


class _Run:
    """The schedule, followed step by step; the log and the digests are compared on the way."""

    def __init__(
        self, predicate: dict[str, Any], environment: Environment, submission: list[int]
    ) -> None:
        self.predicate = predicate
        self.submission = submission
        pool = predicate["schedule"]["pool"]
        self.pool: tuple[int, int] = pool["blocks"], pool["block_size"]
        checkpoint = bytes.fromhex(predicate["model"]["sha256"])
        dtype = environment.resolved["dtype"].encode("ascii")
        model = framed("lockstep/model/1", checkpoint, dtype)
        self.ledger = Ledger(*self.pool, model, predicate["model"]["stop_tokens"])
        requests = predicate["workload"]["requests"]
        self.places = {requests[place]["id"]: who for who, place in enumerate(submission)}
        self.states: list[str] = spec.load("lifecycle.json")["states"]
        self.logs: list[list[str]] = [[] for _ in requests]
        self.rows: list[Row] = []
        self.numbers = 0
        self.logits = LogitParts()

    def follow(self) -> None:
        """Follow the schedule to its end (steps 4 to 6).

        Raises:
            Refusal: the first action, event or digest that does not follow.
        """
        steps, trajectory = self.predicate["schedule"]["steps"], self.predicate["trajectory"]
        chain = framed("lockstep/trajectory/1", number(self.pool[0]), number(self.pool[1]))
        _require(_TRAJECTORY, f"{_AT}/trajectory/start", chain.hex(), trajectory["start"])
        for at, held in (
            (f"{_AT}/trajectory/steps", trajectory["steps"]),
            (f"{_AT}/events", self.predicate["events"]),
        ):
            _require("BAD_VALUE", at, len(steps), len(held))
        for step, actions in enumerate(steps):
            self._submit(step)
            self._act(step, actions)
            chain = self._digest(step, chain)
        self._check_end()
        _require(_TRAJECTORY, f"{_AT}/trajectory/sha256", chain.hex(), trajectory["sha256"])

    def _submit(self, step: int) -> None:
        for place in self.submission:
            request = self.predicate["workload"]["requests"][place]
            if request["arrival"] == step:
                self.ledger.submit(request, self.predicate["outputs"][place])

    def _act(self, step: int, actions: list[dict[str, Any]]) -> None:
        log, where = self.predicate["events"][step], f"{_AT}/events/{step}"
        for i, action in enumerate(actions):
            at = f"{_AT}/schedule/steps/{step}/{i}"
            self._check_form(action, at)
            who = self.places.get(action["request"])
            if who is None:
                raise Refusal("REQUEST_UNKNOWN", at, "a request", action["request"])
            if who >= len(self.ledger.sequences):
                raise Refusal("NOT_ARRIVED", at, "a request that has arrived", action["request"])
            event = self.ledger.act(who, action, at)
            if len(self.rows) + len(self.ledger.rows) > limits.REPLAY_ROWS:
                raise Refusal("LIMIT_SIZE", at, f"at most {limits.REPLAY_ROWS} rows")
            self._check_token(who)
            self.logs[who].append(event["event"])
            if i >= len(log):
                raise Refusal("SCHEDULE_NOT_FOLLOWED", where, len(actions), len(log))
            _require("SCHEDULE_NOT_FOLLOWED", f"{where}/{i}", event, log[i])
        _require("SCHEDULE_NOT_FOLLOWED", where, len(actions), len(log))

    def _check_token(self, who: int) -> None:
        """See that a decode that was just taken has a token left to emit."""
        sequence = self.ledger.sequences[who]
        if who in self.ledger.emitting and sequence.emitted >= len(sequence.output):
            at = f"{_AT}/outputs/{self.submission[who]}"
            raise Refusal("BAD_VALUE", at, "a token for each decode", "one too few")

    def _check_form(self, action: dict[str, Any], at: str) -> None:
        """Judge which members an action has [SCHED-10]."""
        event, blocks = action["event"], action.get("blocks", [])
        if ("tokens" in action) != (event == "chunk"):
            raise Refusal("BAD_VALUE", at, "tokens in a chunk alone", event)
        if ("blocks" in action and event not in NAMING) or len(set(blocks)) < len(blocks):
            raise Refusal("BAD_VALUE", at, "distinct blocks, where they may be named", blocks)
        if any(block >= self.pool[0] for block in blocks):
            raise Refusal("BAD_VALUE", at, f"blocks below {self.pool[0]}", blocks)

    def _digest(self, step: int, chain: bytes) -> bytes:
        """End a step, compare its parts, and give the chained digest [ENG-16] [ENG-17]."""
        ledger, rows = self.ledger, self.ledger.rows
        self.rows += rows
        told: list[int] = []
        output_rows: list[str] = []
        for who in ledger.end_step():
            sequence = ledger.sequences[who]
            told += [who, len(sequence.tokens) - 1, sequence.tokens[-1]]
            output = self.predicate["outputs"][self.submission[who]]
            output_rows.append(output["logit_digests"][sequence.emitted - 1])
        ledger.rows = []
        stated, at = self.predicate["trajectory"]["steps"][step], f"{_AT}/trajectory/steps/{step}"
        work = numbers([member for row in rows for member in row])
        index = b"".join(number(b) + digest for b, digest in sorted(ledger.held.items()))
        state = ledger.state_numbers(self.states)
        self.numbers += len(state)
        if self.numbers > limits.REPLAY_NUMBERS:
            expected = f"at most {limits.REPLAY_NUMBERS} numbers in all ledgers"
            raise Refusal("LIMIT_SIZE", f"{at}/ledger", expected, self.numbers)
        parts = {
            "emitted": framed("lockstep/emitted/1", numbers(told)),
            "work": framed("lockstep/rows/1", work),
            "ledger": framed("lockstep/ledger/1", numbers(state)),
            "prefixes": framed("lockstep/prefixes/1", index),
        }
        for name, digest in parts.items():
            _require(_TRAJECTORY, f"{at}/{name}", digest.hex(), stated[name])
        self.logits.check(output_rows, stated["logits"], f"{at}/logits")
        parts["logits"] = bytes.fromhex(stated["logits"])
        link = framed("lockstep/step/1", chain, number(step), *(parts[name] for name in _PARTS))
        _require(_TRAJECTORY, f"{at}/chain", link.hex(), stated["chain"])
        return link

    def _check_end(self) -> None:
        """See that all requests are finished, as their outputs say (step 6)."""
        ids = [request["id"] for request in self.predicate["workload"]["requests"]]
        left = [name for name in ids if not self._finished(name)]
        if left:
            raise Refusal("SCHEDULE_UNFINISHED", f"{_AT}/schedule/steps", "finished requests", left)
        for i, output in enumerate(self.predicate["outputs"]):
            sequence = self.ledger.sequences[self.places[output["request"]]]
            reason = "eos" if sequence.stopped else "length"
            if sequence.emitted != len(output["tokens"]) or output["reason"] != reason:
                expected = f"{sequence.emitted} tokens, ended by {reason}"
                raise Refusal("BAD_VALUE", f"{_AT}/outputs/{i}", expected, output["reason"])

    def _finished(self, name: str) -> bool:
        who = self.places[name]
        lives = self.ledger.machine.requests
        return who < len(lives) and lives[who].state == "FINISHED"


def _check_subjects(statement: dict[str, Any]) -> None:
    """Compare the subjects with the predicate (step 8)."""
    predicate = statement["predicate"]
    expected = {
        "model": predicate["model"]["sha256"],
        "workload": hashlib.sha256(lcj.encode(predicate["workload"])).hexdigest(),
        "schedule": hashlib.sha256(lcj.encode(predicate["schedule"])).hexdigest(),
    }
    names = [subject["name"] for subject in statement["subject"]]
    for name, digest in expected.items():
        if name not in names:
            raise Refusal("SUBJECT_MISMATCH", "/subject", f"{name} {digest}", f"no subject {name}")
        at = names.index(name)
        got = statement["subject"][at]["digest"]["sha256"]
        _require("SUBJECT_MISMATCH", f"/subject/{at}/digest/sha256", digest, got)
