"""The registry of metrics and questions: what answers, and what only seems to."""

from __future__ import annotations

import re

import pytest

from lockstep.certify.adapters import catalogue
from lockstep.measure.registry import answering, pairings, questions, require_answer
from lockstep_verify.derive import measurement_records as verifiers
from tests.refusals import refused


def test_each_pairing_is_whole_and_said_once() -> None:
    seen = set()
    for one in pairings():
        key = (one.engine, one.metric, one.question)
        assert key not in seen
        seen.add(key)
        assert one.question in questions()
        assert len(one.reason) > 20
        assert re.fullmatch(r"\S+ \S+ at [0-9a-f]{40}", one.source), one.source
        # Who is sent elsewhere is sent to a metric that does answer.
        assert not one.answers or not one.instead
        assert not one.instead or one.instead in answering(one.engine, one.question)


def test_every_server_that_can_be_spoken_to_is_in_it() -> None:
    engines = {one.engine for one in pairings()}
    assert engines == {"vllm", "sglang", "llamacpp", "tgi", "transformers", "lockstep"}
    assert engines <= set(catalogue.ADAPTERS)


def test_both_packages_read_the_same_registry() -> None:
    theirs = verifiers.pairings()
    assert len(theirs) == len(pairings())
    for one in pairings():
        entry = theirs[one.engine, one.metric, one.question]
        assert (entry["answers"] == "yes") == one.answers
        assert entry["reason"] == one.reason


def test_a_counter_of_outputs_is_no_counter_of_steps() -> None:
    told = refused(
        "METRIC_NOT_AN_ANSWER",
        lambda: require_answer("vllm", "vllm:iteration_tokens_total_count", "steps"),
    )
    assert "vllm:estimated_flops_per_gpu_total" in (told.hint or "")
    assert require_answer("vllm", "vllm:estimated_flops_per_gpu_total", "steps").answers
    assert answering("lockstep", "steps") == ("lockstep_steps_total",)


@pytest.mark.parametrize(
    ("engine", "metric", "question"),
    [("vllm", "vllm:unheard_of", "steps"), ("sglang", "sglang:prompt_tokens_total", "steps"),
     ("lockstep", "lockstep_steps_total", "prompt_tokens"), ("nobody", "x", "steps")],
)  # fmt: skip
def test_what_the_registry_does_not_have_is_refused(
    engine: str, metric: str, question: str
) -> None:
    refused("METRIC_NOT_AN_ANSWER", lambda: require_answer(engine, metric, question))
