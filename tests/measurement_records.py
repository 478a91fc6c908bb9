"""A small claim about measurements that tests fold, mutate and break."""

from __future__ import annotations

import copy
from typing import Any

from lockstep.certificate.statement import measurement_subjects, statement
from lockstep.claims.measurement import predicate

PRODUCER = {
    "name": "tests", "version": "1", "python": "none", "machine": "none", "command": "none",
}  # fmt: skip
FLOPS = "vllm:estimated_flops_per_gpu_total"
FIXED, STEP, TOKEN = 100_000, 190_000, 966


def profile(name: str, **members: str | None) -> dict[str, Any]:
    """Give a profile of which everything is known, unless it is said otherwise."""
    known: dict[str, str | None] = {
        "model": "a model", "model_sha256": "5" * 64, "tokenizer": "its own",
        "runtime": "an engine 1", "kv_policy": "plain", "topology": "one rank",
        "speculative_policy": "none",
    }  # fmt: skip
    return {"id": name, **known, **members}


def probe(arm: str, budget: int, tokens: int, more_us: int = 0) -> dict[str, Any]:
    """Give a record that follows the law, but for some microseconds."""
    steps = -(-tokens // budget)
    return {
        "id": f"{arm}-{tokens}",
        "arm": arm,
        "values": [
            {"quantity": "wall_us", "value": FIXED + STEP * steps + TOKEN * tokens + more_us},
            {"quantity": "tokens", "value": tokens, "metric": "vllm:prompt_tokens_total"},
            {"quantity": "steps", "value": steps, "metric": FLOPS},
        ],
    }


def distance(name: str, arm: str, against: str, value: int) -> dict[str, Any]:
    """Give a record of a distance between two arms."""
    values = [{"quantity": "distance_unat", "value": value}]
    return {"id": name, "arm": arm, "against": against, "values": values}


def given(name: str, value: str, unit: str) -> dict[str, Any]:
    """Give a reading that is a number of the workload."""
    return {"name": name, "operation": "given", "given": value, "unit": unit, "workload": "some"}


def made(name: str, operation: str, *operands: str, **more: str) -> dict[str, Any]:
    """Give a derived reading."""
    return {
        "name": name, "operation": operation, "operands": list(operands), "workload": "some", **more
    }  # fmt: skip


def document() -> dict[str, Any]:
    """Give records of two budgets on one profile and of a second profile, and what is asked."""
    arms = [
        {"id": "small", "engine": "vllm", "profile": "one", "launch": 1, "budget_tokens": 2048,
         "settings": [{"name": "budget", "requested": "2048", "effective": "2048"}]},
        {"id": "large", "engine": "vllm", "profile": "one", "launch": 2, "budget_tokens": 8192,
         "settings": [{"name": "budget", "effective": "8192", "failure": "a probe threw"}]},
        {"id": "other", "engine": "vllm", "profile": "two", "launch": 3, "budget_tokens": 2048},
        {"id": "other-again", "engine": "vllm", "profile": "two", "launch": 4},
    ]  # fmt: skip
    records = [
        *(probe("small", 2048, n, (n % 7) * 100) for n in (512, 2048, 4096, 8192, 16400)),
        *(probe("large", 8192, n, (n % 5) * 100) for n in (512, 4096, 8192, 16400)),
        probe("other", 2048, 4096),
        {**probe("small", 2048, 6000), "attribution": {"own_tokens": 6000, "booked_tokens": 90000}},
        distance("repeat-one", "small", "small", 0),
        distance("relaunch-one", "small", "large", 0),
        distance("repeat-two", "other", "other", 0),
        distance("relaunch-two", "other", "other-again", 0),
        distance("across", "small", "other", 7),
        {"id": "stalled", "arm": "small", "values": [{"quantity": "stall_us", "value": 2_170_000}]},
    ]
    return {
        "sources": [{"id": "text", "title": "A text", "place": "somewhere"}],
        "profiles": [profile("one"), profile("two", topology="two ranks")],
        "arms": arms,
        "records": records,
        "direct": [
            {"name": "wall_us", "records": ["small-16400"], "quantity": "wall_us",
             "statistic": "only"},
            {"name": "stall_us", "records": ["stalled"], "quantity": "stall_us",
             "statistic": "only"},
            {"name": "middle_us", "records": ["small-512", "small-2048"], "quantity": "wall_us",
             "statistic": "median"},
            {"name": "other_us", "records": ["other-4096"], "quantity": "wall_us",
             "statistic": "only"},
            {"name": "same_us", "records": ["small-4096"], "quantity": "wall_us",
             "statistic": "only"},
        ],
        "fits": [{"name": "law", "law": "wall", "arms": ["small", "large"],
                  "left_out": [{"record": "large-512", "reason": "cold"}]}],
        "derived": [
            given("step_step", "1", "step"),
            given("budget_token_per_step", "2048", "token/step"),
            given("nobody_token_per_step", "1024", "token/step"),
            made("step_us_per_step", "coefficient", "law", coefficient="per_step"),
            made("token_us_per_token", "coefficient", "law", coefficient="per_token"),
            made("tokens_us_per_step", "product", "token_us_per_token", "budget_token_per_step"),
            made("whole_us_per_step", "sum", "step_us_per_step", "tokens_us_per_step"),
            made("law_us", "product", "whole_us_per_step", "step_step"),
            made("token_as_per_token", "convert", "token_us_per_token", unit="as/token"),
            made("change_ratio", "change", "same_us", "other_us"),
        ],
        "predicted": [
            {"name": "small_us_per_step", "operation": "product", "outside": "a budget of 1024",
             "operands": ["token_us_per_token", "nobody_token_per_step"]},
        ],
        "routes": [{"name": "stall", "first": "law_us", "second": "stall_us",
                    "envelope_ppm": 10_000}],
        "published": [
            {"name": "rate", "source": "text", "says": "966 us a token", "unit": "us/token",
             "value": "966", "resolution": "1", "reading": "token_us_per_token"},
            {"name": "wrong", "source": "text", "says": "0.966 us a token", "unit": "us/token",
             "value": "0.966", "resolution": "0.001", "reading": "token_us_per_token"},
            {"name": "lost", "source": "text", "says": "82 ms", "unit": "us", "value": "82000",
             "reason": "a root"},
        ],
        "gates": [{"name": "two-for-one", "first": "one", "second": "two"}],
        "tables": [{"name": "walls", "title": "Walls", "readings": ["wall_us", "law_us"]}],
    }  # fmt: skip


def folded(**changes: Any) -> dict[str, Any]:
    """Fold the document, with sections of one's own in it."""
    asked = {**document(), **changes}
    return predicate(asked, issued_at="2026-05-01T00:00:00Z", producer=PRODUCER)


def signed_statement(**changes: Any) -> dict[str, Any]:
    """Give the statement of the folded document."""
    found = folded(**changes)
    return copy.deepcopy(statement("measurement", measurement_subjects(found), found))


def subjected(one: dict[str, Any]) -> dict[str, Any]:
    """Give a statement whose subjects are those of its predicate, whatever was done to that."""
    return statement("measurement", measurement_subjects(one["predicate"]), one["predicate"])
