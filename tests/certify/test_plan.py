"""The plan: what was chosen, what the server offers, and what a budget leaves of it."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lockstep import spec
from lockstep.certify import plan as plans
from lockstep.certify.adapters.adapter import Description
from lockstep.certify.adapters.catalogue import ADAPTERS
from lockstep.certify.cells import planned
from lockstep.certify.config import Command, Config, digest_of
from lockstep.certify.positive import positive_of
from lockstep.certify.probe import Found
from lockstep.certify.prompts import read_prompts
from lockstep.certify.results import Records
from lockstep.certify.run import Run, observe
from lockstep.cli.certify_watch import Progress
from lockstep.errors import LockstepError

ALL = tuple(spec.load("certification.json")["capabilities"])
FOUND = Found(ALL, "tokens", "logprobs", (), Description(context=4096), 0.1, 0.01)


def plan(found: Found = FOUND, positive: str = "absent", **chosen: Any) -> dict[str, Any]:
    return plans.parameters(Config(plan=chosen), found, positive)


def test_a_default_plan_has_all_that_is_offered() -> None:
    made = plan()
    assert made["cases"] == [case["name"] for case in spec.load("certification.json")["cases"]]
    assert made["cache"] == ["warm", "cold", "off"]
    assert (made["positive"], made["positive_cases"]) == ("absent", [])
    required = spec.load("schemas/certification.schema.json")["$defs"]["plan"]["required"]
    assert list(made) == required


def test_what_is_not_offered_is_left_out_unless_it_was_chosen() -> None:
    less = replace(FOUND, offers=("token_prompts", "token_ids", "logprobs", "top_logprobs"))
    made = plan(less)
    assert made["cache"] == ["warm"]
    assert "late_arrival" not in made["cases"] and "echo_rescore" not in made["cases"]
    assert plan(less, cache=("warm", "cold"))["cache"] == ["warm", "cold"]
    assert plan(less, cases=("echo_rescore",))["cases"] == ["echo_rescore"]


def test_what_the_server_says_stands_unless_the_user_says_otherwise() -> None:
    told = replace(FOUND, description=Description(context=100, block_size=64, chunk=2048))
    made = plan(told)
    assert (made["context"], made["block_size"], made["chunk"]) == (100, 64, 2048)
    assert plan(told, block_size=32)["block_size"] == 32


def test_text_prompts_have_the_words() -> None:
    made = plan(replace(FOUND, form="text"))
    assert (made["low"], made["span"]) == (0, len(spec.load("certification.json")["words"]))


def test_a_missing_observable_is_told() -> None:
    found = replace(FOUND, observable="tokens", missing=("logprobs",))
    made = plan(found)
    assert made["observable"] == "tokens"
    lines = plans.show(made, planned(made), found)
    assert "  observable missing: logprobs" in lines


def test_names_are_put_in_order_and_unknown_ones_refused() -> None:
    assert plan(cases=("wide_33", "wide_31"))["cases"] == ["wide_31", "wide_33"]
    with pytest.raises(LockstepError) as refusal:
        plan(cases=("wide",))
    assert (refusal.value.code, refusal.value.pointer) == ("USAGE", "--cases")


def test_positive_cases_are_of_the_plan() -> None:
    assert plan(positive="mode_off")["positive_cases"] == ["prefix_equal", "wide_33"]
    assert plan(positive="mode_off", cases=("full_hit",))["positive_cases"] == ["full_hit"]
    with pytest.raises(LockstepError):
        plan(positive_cases=("wide_33",))


COST = plans.Cost(FOUND)


def test_a_budget_weakens_a_plan_until_it_fits() -> None:
    whole = plan(positive="mode_off")
    needs = COST.seconds(whole)
    assert needs == plans.seconds(planned(whole), FOUND)
    assert plans.fitted(whole, COST, 2 * needs) == whole
    for share in (3, 20):
        fitted = plans.fitted(whole, COST, needs / share)
        assert COST.seconds(fitted) <= needs / share
        assert set(fitted["positive_cases"]) <= set(fitted["cases"])
    least = plans.fitted(whole, COST, 0.001)
    assert len(least["cases"]) == 1 and least["repeats"] == 2


def test_what_a_budget_weakened_is_told() -> None:
    whole = plan(lifetimes=2)
    told = plans.fitting(whole, whole, COST, 10_000)
    assert told == ("budget: 166 min left; the whole plan fits",)
    less = {**whole, "repeats": 2, "order": ["fixed"], "cases": whole["cases"][1:]}
    (line,) = plans.fitting(whole, less, COST, 10_000)
    assert line.endswith(
        "weakened to fit: repeats 3 -> 2; without order rotated; without cases prefix_below"
    )
    (line,) = plans.fitting(whole, less, COST, 1)
    assert line.endswith("what is lacking in the end will be not_run")


def test_starts_and_own_prompts_cost_time(tmp_path: Path) -> None:
    path = tmp_path / "eval.jsonl"
    path.write_text('{"prompt": "once upon a time", "max_tokens": 64}\n' * 3)
    own = read_prompts(path, None, None)
    made = plan(positive="fault", lifetimes=3)
    cells = plans.seconds(planned(made), FOUND)
    assert plans.Cost(FOUND, start=20).seconds(made) == pytest.approx(cells + 60)
    one_by_one = 3 * 3 * (3 * 4 * FOUND.alone)
    assert plans.Cost(FOUND, own=own).seconds(made) > cells + one_by_one


def test_the_positive_control_of_the_built_in_server() -> None:
    adapter = ADAPTERS["lockstep"]("m")

    def kind(text: str) -> tuple[str, str] | None:
        found = positive_of(Config(launch=Command(text)), adapter)
        return found and (found[0], found[1].text)

    assert kind("lockstep serve --tiny") == ("mode_off", "lockstep serve --tiny --mode fast")
    assert kind("s --mode invariant -x") == ("mode_off", "s --mode fast -x")
    assert kind("s --mode fast") is None
    assert kind("s --fault x") is None
    assert positive_of(Config(launch=Command("s")), ADAPTERS["vllm"]("m")) is None
    fault = Config(positive=Command("s --fault x"))
    assert positive_of(fault, adapter) == ("fault", fault.positive)


def test_a_positive_control_is_another_server() -> None:
    adapter = ADAPTERS["vllm"]("m")
    same = Config(launch=Command("/a/vllm serve /m"), positive=Command("/b/vllm serve /m"))
    long = Config(launch=Command(f"lockstep serve --x {'y' * 400}"))
    for config, kind in ((same, adapter), (long, ADAPTERS["lockstep"]("m"))):
        with pytest.raises(LockstepError) as refusal:
            positive_of(config, kind)
        assert (refusal.value.code, refusal.value.pointer) == ("USAGE", "--positive")


def test_varying_widths_vary() -> None:
    with pytest.raises(LockstepError) as refusal:
        plan(varying_widths=(5, 5))
    assert (refusal.value.code, refusal.value.pointer) == ("USAGE", "varying_widths")


def test_a_positive_control_needs_an_address_of_its_own() -> None:
    config = Config(endpoint="http://127.0.0.1:1", controlled=True, positive=Command("serve"))
    with pytest.raises(LockstepError) as refusal:
        Run(config, Records(None, ""), Progress(quiet=True))
    assert (refusal.value.code, refusal.value.pointer) == ("USAGE", "--positive")


def test_a_server_that_was_there_has_one_lifetime() -> None:
    config = Config(endpoint="http://127.0.0.1:1", controlled=True, plan={"lifetimes": 2})
    with pytest.raises(LockstepError) as refusal:
        asyncio.run(observe(config, Records(None, ""), Progress(quiet=True)))
    assert (refusal.value.code, refusal.value.pointer) == ("USAGE", "--lifetimes")


def test_records_are_of_what_is_asked_and_of_no_secret() -> None:
    config = Config(endpoint="http://127.0.0.1:1", plan={"repeats": 2})
    same = replace(config, headers={"X-Key": "secret"}, budget=60)
    assert digest_of(config) == digest_of(same)
    assert digest_of(config) != digest_of(replace(config, plan={"repeats": 3}))
