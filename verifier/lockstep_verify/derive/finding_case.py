"""The form of a finding's case, and what it was run on (FIND-11, steps 1, 2 and 8)."""

import hashlib
from typing import Any

from lockstep_verify import lcj, limits
from lockstep_verify.derive.environment import Environment, check_environment
from lockstep_verify.derive.finding_removals import actions_of
from lockstep_verify.derive.model import check_model
from lockstep_verify.derive.replay_ledger import NAMING
from lockstep_verify.derive.workload_requests import check_requests
from lockstep_verify.errors import Refusal

_AT = "/predicate"


def digest(case: dict[str, Any]) -> str:
    """Give the digest of a case, in hex [FIND-1]."""
    return hashlib.sha256(lcj.encode(case)).hexdigest()


def check_surroundings(predicate: dict[str, Any]) -> Environment:
    """Judge environment and model (step 1)."""
    environment = check_environment(predicate["environment"], f"{_AT}/environment")
    model = predicate["model"]
    check_model(model, environment.resolved["dtype"])
    stop = model["stop_tokens"]
    if stop != sorted(set(stop)) or any(token >= model["vocab_size"] for token in stop):
        raise Refusal("BAD_VALUE", f"{_AT}/model/stop_tokens", "ascending tokens", stop)
    return environment


def check_case(predicate: dict[str, Any]) -> None:
    """Judge the form of the case (step 2)."""
    case = predicate["case"]
    requests, actions = case["workload"]["requests"], list(actions_of(case))
    tokens = sum(len(request["prompt"]) + request["max_new"] for request in requests)
    work = case["pool"]["blocks"] + tokens
    work *= len(case["steps"]) + len(actions) + len(requests)
    work *= len(predicate["removals"]) + 1
    if work > limits.FINDING_WORK:
        raise Refusal("LIMIT_SIZE", f"{_AT}/case", f"at most {limits.FINDING_WORK}", work)
    check_requests(requests, predicate["model"], f"{_AT}/case/workload/requests")
    for (step, place), action in actions:
        at, blocks = f"{_AT}/case/steps/{step}/{place}", action.get("blocks", [])
        if ("tokens" in action) != (action["event"] == "chunk"):
            raise Refusal("BAD_VALUE", at, "tokens in a chunk alone", action["event"])
        if ("blocks" in action and action["event"] not in NAMING) or len(set(blocks)) < len(blocks):
            raise Refusal("BAD_VALUE", at, "distinct blocks, where they may be named", blocks)
        if max(blocks, default=0) >= case["pool"]["blocks"]:
            raise Refusal("BAD_VALUE", at, "blocks of the pool", blocks)
    if predicate["case_sha256"] != digest(case):
        raise Refusal("BAD_VALUE", f"{_AT}/case_sha256", digest(case), predicate["case_sha256"])


def check_subject(statement: dict[str, Any], name: str, sha256: str) -> None:
    """Compare a subject with what it stands for (step 8)."""
    names = [subject["name"] for subject in statement["subject"]]
    if name not in names:
        raise Refusal("SUBJECT_MISMATCH", "/subject", f"{name} {sha256}", f"no subject {name}")
    at = names.index(name)
    got = statement["subject"][at]["digest"]["sha256"]
    if got != sha256:
        raise Refusal("SUBJECT_MISMATCH", f"/subject/{at}/digest/sha256", sha256, got)
