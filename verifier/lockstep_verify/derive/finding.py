"""Re-derive a certificate of a finding (spec/finding.md).

The list of single removals is made here anew from the case, and whatever the rules decide of
them; what an engine alone can say of them stays the signer's word until it is executed again.
"""

from typing import Any

from lockstep_verify import spec
from lockstep_verify.derive import Derivation, Options
from lockstep_verify.derive.environment import Environment
from lockstep_verify.derive.failure import check_failure
from lockstep_verify.derive.finding_case import (
    check_case,
    check_subject,
    check_surroundings,
    digest,
)
from lockstep_verify.derive.finding_removals import removal_count, single_removals
from lockstep_verify.derive.finding_rules import judge, weakening
from lockstep_verify.derive.not_run import check_not_run
from lockstep_verify.derive.replay_ledger import framed, number
from lockstep_verify.errors import Refusal

_AT = "/predicate"
NOT_RUN = (
    "other models and backends than this one",
    "whether the failure has other causes, or shows in cases of other forms",
)
"""What no such certificate covers [FIND-10]."""
_OUTCOME = "FINDING_OUTCOME_NOT_DERIVED"
_OF_TOKENS = ("REQUEST_ENDED", "REQUEST_NOT_ENDED")
"""Refusals that depend on what a model emits, and are no failure [FIND-2]."""


def derive(statement: dict[str, Any], options: Options) -> Derivation:
    """Re-derive the statement of a finding.

    Raises:
        Refusal: the first offence in the order of derivation of [FIND-11].
    """
    predicate = statement["predicate"]
    environment = check_surroundings(predicate)
    check_case(predicate)
    _check_mutation(predicate["mutation"])
    weakened = weakening(predicate["mutation"])
    by_rules = bool(weakened) and predicate["failure"]["kind"] == "stuck"
    _check_failure(predicate, weakened, by_rules)
    free = _check_dimensions(predicate)
    derived = _check_removals(predicate, free, weakened, by_rules)
    _check_unmutated(predicate)
    _check_trajectory(predicate)
    counts = _check_counts(predicate, free)
    check_not_run(predicate["not_run"], NOT_RUN)
    check_subject(statement, "model", predicate["model"]["sha256"])
    check_subject(statement, "case", predicate["case_sha256"])
    lines = _lines(predicate, environment, derived, by_rules)
    replayed, comparable, said = 0, 1, "execution: not repeated here (--replay)"
    if options.replay:
        # Starting an engine is dear, and few runs ask for it.
        from lockstep_verify.derive.finding_execution import execute_again

        replayed, comparable, said = execute_again(statement)
    counts |= {"replayed": replayed, "not_comparable": 1 - comparable}
    return Derivation("REPLAYED" if replayed else "MINIMAL", counts, (*lines, said))


def _lines(
    predicate: dict[str, Any], environment: Environment, derived: int, by_rules: bool
) -> list[str]:
    removals = predicate["removals"]
    failure, mutation = predicate["failure"], predicate["mutation"]
    told = f"{failure['kind']} {failure['code']}".strip()
    under = f" under the mutation {mutation['name']}" if mutation else ""
    lines = [
        f"{told}{under}: {len(removals)} single removals enumerated from the case, none of which "
        "reproduces",
        f"{derived} outcomes follow from the rules, {len(removals) - derived} are attested; the "
        f"failure itself {'follows from the rules' if by_rules else 'is attested'}",
        *environment.lines(),
    ]
    if predicate["closed_by"]:
        lines.append(f"closed by {predicate['closed_by']}")
    return lines


def _require(code: str, pointer: str, expected: object, got: object) -> None:
    if expected != got:
        raise Refusal(code, pointer, expected, got)


def _check_mutation(mutation: dict[str, Any] | None) -> None:
    """See that the mutation is an operator of the specification, with its edits (step 3)."""
    if mutation is None:
        return
    known = {one["id"]: one["edits_sha256"] for one in spec.load("mutation.json")["operators"]}
    name, at = mutation["name"], f"{_AT}/mutation"
    if name not in known:
        raise Refusal("BAD_VALUE", f"{at}/name", "an operator of mutation.json", name)
    _require("BAD_VALUE", f"{at}/sha256", known[name], mutation["sha256"])


def _check_failure(predicate: dict[str, Any], weakened: str, by_rules: bool) -> None:
    """See that the case is legal and, where the rules say it, stuck (step 3)."""
    failure, at = predicate["failure"], f"{_AT}/failure"
    check_failure(failure, at)
    if failure["kind"] == "refused" and failure["code"] in _OF_TOKENS:
        raise Refusal("BAD_VALUE", f"{at}/code", "a refusal that no token decides", failure["code"])
    if by_rules:
        _require("BAD_VALUE", f"{at}/part", "machine", failure["part"])
    code, stuck = judge(predicate["case"], weakened)
    if code:
        raise Refusal(code, f"{_AT}/case", "a legal case", code)
    if by_rules and not stuck:
        raise Refusal("FINDING_NOT_REPRODUCED", f"{_AT}/failure", "stuck", "an event is enabled")


def _check_dimensions(predicate: dict[str, Any]) -> list[str]:
    """Judge the list of dimensions, and give the free ones (step 4)."""
    names = [entry["name"] for entry in spec.load("finding.json")["dimensions"]]
    told, at = predicate["dimensions"], f"{_AT}/dimensions"
    _require("BAD_VALUE", at, len(names), len(told))
    for i, (name, entry) in enumerate(zip(names, told, strict=True)):
        _require("BAD_VALUE", f"{at}/{i}/name", name, entry["name"])
    free = [entry["name"] for entry in told if entry["held"] is None]
    if not free:
        raise Refusal("BAD_VALUE", at, "a free dimension", "none")
    return free


def _check_removals(
    predicate: dict[str, Any], free: list[str], weakened: str, by_rules: bool
) -> int:
    """Judge the single removals, and give how many outcomes are derived (step 5)."""
    told, at = predicate["removals"], f"{_AT}/removals"
    count = removal_count(predicate["case"], free)
    _require("FINDING_REMOVALS_NOT_DERIVED", at, count, len(told))
    demanded = single_removals(predicate["case"], free)
    known: dict[str, tuple[str, str]] = {}
    judged: dict[str, tuple[str, bool]] = {}
    derived = 0
    for i, ((dimension, place, smaller), entry) in enumerate(zip(demanded, told, strict=True)):
        sha256 = digest(smaller)
        got = entry["dimension"], tuple(entry["place"]), entry["sha256"]
        _require("FINDING_REMOVALS_NOT_DERIVED", f"{at}/{i}", (dimension, place, sha256), got)
        if sha256 not in judged:
            judged[sha256] = judge(smaller, weakened)
        code, stuck = judged[sha256]
        outcome = entry["outcome"], entry["code"]
        _check_legality(code, outcome, f"{at}/{i}")
        if by_rules and not code:
            _require(_OUTCOME, f"{at}/{i}", stuck, outcome[0] == "reproduces")
        derived += bool(code) or by_rules
        _check_code(entry, f"{at}/{i}")
        _require(_OUTCOME, f"{at}/{i}", known.setdefault(sha256, outcome), outcome)
    for i, entry in enumerate(told):
        if entry["outcome"] == "reproduces":
            raise Refusal("FINDING_NOT_MINIMAL", f"{at}/{i}", "another outcome", "reproduces")
    return derived


def _check_legality(code: str, outcome: tuple[str, str], at: str) -> None:
    """See that a case is illegal exactly where the rules refuse it, and by which code."""
    if code:
        _require(_OUTCOME, at, ("illegal", code), outcome)
    elif outcome[0] == "illegal":
        raise Refusal(_OUTCOME, at, "a legal case", outcome)


def _check_code(entry: dict[str, Any], at: str) -> None:
    """See that an outcome's code is one that it may have; those of illegal cases are derived."""
    if entry["outcome"] == "fails_otherwise":
        kinds = spec.load("finding.json")["kinds"]
        if entry["code"] not in kinds:
            raise Refusal(_OUTCOME, at, kinds, entry["code"])
    elif entry["outcome"] != "illegal":
        _require(_OUTCOME, at, "", entry["code"])


def _check_unmutated(predicate: dict[str, Any]) -> None:
    """Judge what the case comes to on the engine as it is, and what closed it (step 6)."""
    at, told = f"{_AT}/unmutated", predicate["unmutated"]
    mutated = predicate["mutation"] is not None
    _require("BAD_VALUE", at, mutated, told is not None)
    if not mutated:
        return
    code, _ = judge(predicate["case"], "")
    _check_legality(code, (told["outcome"], told["code"]), at)
    _check_code(told, at)
    _require("BAD_VALUE", f"{_AT}/closed_by", None, predicate["closed_by"])


def _check_trajectory(predicate: dict[str, Any]) -> None:
    """Compare the digest of an execution in which nothing happened (step 7)."""
    case = predicate["case"]
    late = any(request["arrival"] for request in case["workload"]["requests"])
    if case["steps"] or late:
        return
    pool = case["pool"]
    start = framed("lockstep/trajectory/1", number(pool["blocks"]), number(pool["block_size"]))
    at = f"{_AT}/trajectory_sha256"
    _require("TRAJECTORY_NOT_DERIVED", at, start.hex(), predicate["trajectory_sha256"])


def _check_counts(predicate: dict[str, Any], free: list[str]) -> dict[str, int]:
    """Compare the counts (step 8)."""
    case, removals = predicate["case"], predicate["removals"]
    requests = case["workload"]["requests"]
    outcomes = [entry["outcome"] for entry in removals]
    counts = {
        "free": len(free),
        "held": len(predicate["dimensions"]) - len(free),
        "removals": len(removals),
        "distinct": len({entry["sha256"] for entry in removals}),
        **{name: outcomes.count(name) for name in ("illegal", "passes", "fails_otherwise")},
        "requests": len(requests),
        "prompt_tokens": sum(len(request["prompt"]) for request in requests),
        "new_tokens": sum(request["max_new"] for request in requests),
        "steps": len(case["steps"]),
        "actions": sum(map(len, case["steps"])),
    }
    for name, count in counts.items():
        at = f"{_AT}/counts/{name}"
        _require("H10_COUNTS_DO_NOT_RECOMPUTE", at, count, predicate["counts"][name])
    return counts
