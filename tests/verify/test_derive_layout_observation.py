"""Observed layouts re-derived from bytes, and every member that says otherwise (OBS-1 to 9)."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

from lockstep.layouts.declaration import layouts_root
from tests.observed_layouts import layout, observed, ordered, seen
from tests.statements import get, judge, put, refusal

NHD = layout("vllm/vllm-0.23-nhd", block=2)
HF = layout("huggingface/hf-dynamic")


def test_a_layout_that_is_the_engines_matches() -> None:
    statement = observed(seen(NHD, None, ("bfloat16", "float16", "float32")), seen(HF))
    found = judge(statement, evidence=None)
    assert (found.verdict, found.counts["matches"], found.counts["runs"]) == ("OBSERVED", 2, 4)
    assert found.counts["elements"] == 4 * 240
    assert judge(observed(seen(HF)), evidence=layouts_root()).verdict == "OBSERVED"


@pytest.mark.parametrize("axes", ["Tb KV H Ti D", "KV Tb Ti H D", "Tb Ti KV H D"])
def test_another_order_of_axes_is_found(axes: str) -> None:
    statement = observed(seen(NHD, ordered(NHD, axes), ("bfloat16", "float32")))
    found = judge(statement)
    one = statement["predicate"]["observations"][0]
    assert (found.verdict, one["verdict"]) == ("DIFFERENT", "DIFFERS")
    assert one["explanation"] == [axes.split()]
    assert one["runs"][0]["wrong"] == one["runs"][1]["wrong"] > 0
    assert found.counts["explained"] == 1


def test_what_no_order_explains_is_said_to_be_so() -> None:
    moved = observed(seen(NHD))
    buffer = moved["predicate"]["observations"][0]["runs"][0]["buffers"][0]
    # The first two elements change places.
    for name in ("low", "high"):
        text = buffer[name]
        buffer[name] = text[4:8] + text[:4] + text[8:]
    assert refusal(moved)[0] == "H10_COUNTS_DO_NOT_RECOMPUTE"
    run = moved["predicate"]["observations"][0]["runs"][0]
    run["wrong"] = 2
    run["first"] = {"layer": 0, "element": 0, "buffer": 0, "slot": 0, "held": 1}
    at = "/predicate/observations/0"
    assert refusal(moved) == ("OUTCOME_NOT_DERIVED", f"{at}/verdict")
    put(moved, f"{at}/verdict", "DIFFERS")
    assert refusal(moved) == ("H10_COUNTS_DO_NOT_RECOMPUTE", "/predicate/counts/matches")
    put(moved, "/predicate/counts/matches", 0)
    put(moved, "/predicate/counts/differs", 1)
    put(moved, "/predicate/counts/wrong", 2)
    assert refusal(moved) == ("OUTCOME_NOT_DERIVED", "/predicate/verdict")
    put(moved, "/predicate/verdict", "DIFFERENT")
    assert judge(moved).counts["explained"] == 0


def test_numbers_in_padding_are_stray() -> None:
    statement = observed(seen(NHD))
    buffer = statement["predicate"]["observations"][0]["runs"][0]["buffers"][0]
    for name in ("low", "high"):
        # Five tokens in blocks of two leave the last slots to padding.
        assert buffer[name].endswith("0000")
        buffer[name] = buffer[name][:-4] + "803f"
    assert refusal(statement) == (
        "H10_COUNTS_DO_NOT_RECOMPUTE", "/predicate/observations/0/runs/0/stray"
    )  # fmt: skip


def test_an_order_that_leaves_a_number_in_padding_explains_nothing() -> None:
    one = seen(NHD, ordered(NHD, "Tb KV H Ti D"), ("float16",))
    assert observed_at("float16", one)["predicate"]["observations"][0]["explanation"]
    for digit in (one.runs[0].low, one.runs[0].high):
        # Five tokens in blocks of two leave the last slots to padding.
        assert digit[0].data[-2:] == b"\0\0"
        object.__setattr__(digit[0], "data", digit[0].data[:-2] + b"\x00\x3c")
    statement = observed_at("float16", one)
    assert judge(statement).counts["explained"] == 0
    assert statement["predicate"]["observations"][0]["explanation"] is None


@pytest.mark.parametrize(
    "real", [layout("vllm/vllm-0.23-nhd", block=4), layout("sglang/sglang-token")]
)
def test_other_buffers_are_not_representable(real: Any) -> None:
    statement = observed(seen(NHD, real))
    assert statement["predicate"]["observations"][0]["verdict"] == "NOT_REPRESENTABLE"
    found = judge(statement)
    assert (found.verdict, found.counts["not_representable"]) == ("DIFFERENT", 1)


def test_a_type_is_run_once() -> None:
    statement, at = observed(seen(HF, None, ("bfloat16", "float16"))), "/predicate/observations/0"
    put(statement, f"{at}/runs/1/dtype", "bfloat16")
    assert refusal(statement) == ("BAD_VALUE", f"{at}/runs/1")


EDITS: list[tuple[str, Any, str]] = [
    ("/predicate/geometry/tokens", 4, "BAD_VALUE"),
    ("/predicate/geometry/head_dim", 1, "BAD_VALUE"),
    ("/predicate/geometry/head_dim", 3000, "BAD_VALUE"),
    ("/predicate/observations/0/layout", 1, "BAD_VALUE"),
    ("/predicate/observations/0/runs/0/dtype", "float16", "BAD_VALUE"),
    ("/predicate/observations/0/runs/1/dtype", "bfloat16", "BAD_VALUE"),
    ("/predicate/observations/0/runs/0/buffers/0/extents", [1], "BAD_VALUE"),
    ("/predicate/observations/0/runs/0/buffers/0/low", "00", "BAD_VALUE"),
    ("/predicate/observations/0/runs/0/buffers/0/high", "000000", "BAD_VALUE"),
    ("/predicate/observations/0/runs/0/wrong", 1, "H10_COUNTS_DO_NOT_RECOMPUTE"),
    ("/predicate/observations/0/runs/0/stray", 1, "H10_COUNTS_DO_NOT_RECOMPUTE"),
    (
        "/predicate/observations/0/runs/0/first",
        {"layer": 0, "element": 0, "buffer": 0, "slot": 0, "held": None},
        "OUTCOME_NOT_DERIVED",
    ),
    ("/predicate/observations/0/verdict", "DIFFERS", "OUTCOME_NOT_DERIVED"),
    ("/predicate/observations/0/explanation", [["1", "T", "H", "D"]], "OUTCOME_NOT_DERIVED"),
    ("/predicate/verdict", "DIFFERENT", "OUTCOME_NOT_DERIVED"),
    ("/predicate/not_run", ["nothing", "at all"], "BAD_VALUE"),
    ("/predicate/engine/version", "2", "SUBJECT_MISMATCH"),
    ("/predicate/layouts/0/source/sha256", "1" * 64, "SUBJECT_MISMATCH"),
    ("/predicate/layouts/0/tensors/0/axes", ["1", "H", "T"], "BIJECTION_NOT_DERIVED"),
    (
        "/predicate/layouts/0/tensors/0/components/0/bits",
        32,
        "COVERAGE_DENOMINATOR_NOT_DERIVED",
    ),
    *(
        (f"/predicate/counts/{name}", 99, "H10_COUNTS_DO_NOT_RECOMPUTE")
        for name in (
            "observations", "matches", "differs", "not_representable", "explained", "runs",
            "elements", "wrong", "stray",
        )
    ),
]  # fmt: skip


@pytest.mark.parametrize(("pointer", "value", "code"), EDITS)
def test_an_edit_is_named(pointer: str, value: Any, code: str) -> None:
    statement = observed(seen(HF, None, ("bfloat16", "float32")))
    assert get(statement, pointer) != value
    put(statement, pointer, value)
    found, where = refusal(statement)
    assert found == code
    if code not in ("SUBJECT_MISMATCH", "BAD_VALUE", "BIJECTION_NOT_DERIVED"):
        assert where == pointer


def test_a_layout_without_an_observation_is_refused() -> None:
    statement = observed(seen(HF), seen(NHD))
    fewer = copy.deepcopy(statement)
    del fewer["predicate"]["observations"][1]
    assert refusal(fewer) == ("BAD_VALUE", "/predicate/observations")


def test_random_memory_is_judged_alike_by_both() -> None:
    """Producer and verifier agree on whatever bytes there are."""
    rng = np.random.default_rng(5)
    for _ in range(12):
        one = seen(NHD, None, ("float16",))
        for digit in (one.runs[0].low, one.runs[0].high):
            buffer = bytearray(digit[0].data)
            for at in rng.integers(0, len(buffer), 6):
                buffer[at] = rng.integers(0, 256)
            object.__setattr__(digit[0], "data", bytes(buffer))
        judge(observed_at("float16", one))


def observed_at(dtype: str, one: Any) -> dict[str, Any]:
    from dataclasses import replace

    from lockstep.certificate.statement import observation_subjects, statement
    from lockstep.claims.layout_observation import predicate
    from lockstep.observation.seen import SeenEngine
    from tests.observed_layouts import GEOMETRY, PRODUCER

    geometry = replace(GEOMETRY, dtype=dtype)
    engine = SeenEngine("e", "1", {"f.py": "0" * 64}, "write", geometry, (one,), ())
    folded = predicate(engine, issued_at="2026-01-01T00:00:00Z", producer=PRODUCER)
    return statement("layout-observation", observation_subjects(folded), folded)
