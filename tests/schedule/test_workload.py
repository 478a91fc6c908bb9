"""Workloads and schedules as data: their schemas, limits, digests, and what a model can take."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockstep import limits, spec
from lockstep.engine.backend import SPLIT
from lockstep.engine.sampling import LARGEST_TOP_K, Sampling
from lockstep.errors import LockstepError
from lockstep.lifecycle import Pool, relation
from lockstep.schedule import workloads
from lockstep.schedule.schedule import (
    Action,
    Schedule,
    parse_schedule,
    read_schedule,
    write_schedule,
)
from lockstep.schedule.workload import (
    Request,
    Workload,
    parse_workload,
    read_workload,
    require_model,
    write_workload,
)
from lockstep.schedule.workloads import KINDS, Shape, make_workload, pool_for

from .conftest import refusal

WORKLOAD_SCHEMA = spec.load("schemas/workload.schema.json")
SCHEDULE_SCHEMA = spec.load("schemas/schedule.schema.json")

SAMPLINGS = st.builds(
    Sampling,
    temperature=st.sampled_from(["0", "0.7", "1", "99.999999999", "100"]),
    top_k=st.integers(0, LARGEST_TOP_K),
    top_p=st.sampled_from(["1", "0.000000001", "0.9"]),
    min_p=st.sampled_from(["0", "0.05", "1"]),
    seed=st.integers(0, 2**53 - 1),
)
REQUESTS = st.builds(
    Request,
    id=st.from_regex(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}", fullmatch=True),
    prompt=st.lists(st.integers(0, limits.TOKEN_ID), min_size=1, max_size=5).map(tuple),
    max_new=st.integers(1, limits.PROMPT_TOKENS),
    arrival=st.integers(0, limits.SCHEDULE_STEPS - 1),
    salt=st.from_regex(r"[ -~]{0,64}", fullmatch=True),
    ignore_eos=st.booleans(),
    sampling=SAMPLINGS,
)
WORKLOADS = st.lists(REQUESTS, min_size=1, max_size=4, unique_by=lambda r: r.id).map(
    lambda requests: Workload(tuple(requests))
)
ACTIONS = st.one_of(
    st.builds(Action, st.sampled_from(["admit", "resume", "preempt_rc", "finish"]), st.just("a")),
    st.builds(
        Action,
        st.sampled_from(["cache_hit", "decode", "evict"]),
        st.just("b"),
        blocks=st.lists(st.integers(0, 99), max_size=3, unique=True).map(tuple),
    ),
    st.builds(Action, st.just("chunk"), st.just("c"), tokens=st.integers(1, 1 << 19)),
)
SCHEDULES = st.builds(
    Schedule,
    st.builds(Pool, st.integers(100, limits.POOL_BLOCKS), st.integers(1, limits.BLOCK_SLOTS)),
    st.lists(st.lists(ACTIONS, max_size=4).map(tuple), max_size=4).map(tuple),
)


@given(workload=WORKLOADS)
def test_a_workload_is_its_document(workload: Workload) -> None:
    document = workload.document()
    jsonschema.validate(document, WORKLOAD_SCHEMA)
    assert parse_workload(document) == workload
    assert parse_workload(document).sha256 == workload.sha256


@given(schedule=SCHEDULES)
def test_a_schedule_is_its_document(schedule: Schedule) -> None:
    document = schedule.document()
    jsonschema.validate(document, SCHEDULE_SCHEMA)
    assert parse_schedule(document) == schedule
    assert parse_schedule(document).sha256 == schedule.sha256


def test_files_come_back_as_they_were(
    tmp_path: Path, workload_document: dict[str, Any], schedule_document: dict[str, Any]
) -> None:
    workload, schedule = parse_workload(workload_document), parse_schedule(schedule_document)
    write_workload(tmp_path / "w.json", workload)
    write_schedule(tmp_path / "s.json", schedule)
    assert read_workload(tmp_path / "w.json") == workload
    assert read_schedule(tmp_path / "s.json") == schedule
    assert (tmp_path / "s.json").read_bytes() == schedule.encode()


def test_what_could_not_be_read_again_is_not_written(tmp_path: Path) -> None:
    path = tmp_path / "w.json"
    bad = Workload((Request("no spaces", (1,), 1),))
    assert refusal(lambda: write_workload(path, bad)).code == "BAD_VALUE"
    empty = Workload((Request("a", (), 1),))
    assert refusal(lambda: write_workload(path, empty)).code == "EMPTY_PROMPT"
    stray = Schedule(Pool(1, 1), ((Action("admit", "a", tokens=1),),))
    assert refusal(lambda: write_schedule(path, stray)).code == "UNKNOWN_FIELD"
    assert list(tmp_path.iterdir()) == []
    assert refusal(lambda: Workload(())).code == "BAD_VALUE"


def test_limits_are_those_of_the_schemas() -> None:
    requests = WORKLOAD_SCHEMA["properties"]["requests"]
    request = WORKLOAD_SCHEMA["$defs"]["request"]["properties"]
    pool = SCHEDULE_SCHEMA["properties"]["pool"]["properties"]
    steps = SCHEDULE_SCHEMA["properties"]["steps"]
    action = SCHEDULE_SCHEMA["$defs"]["action"]["properties"]
    assert requests["maxItems"] == limits.WORKLOAD_REQUESTS
    assert request["prompt"]["maxItems"] == request["max_new"]["maximum"] == limits.PROMPT_TOKENS
    assert request["prompt"]["items"]["maximum"] == limits.TOKEN_ID
    assert request["arrival"]["maximum"] == limits.SCHEDULE_STEPS - 1
    assert pool["blocks"]["maximum"] == limits.POOL_BLOCKS
    assert pool["block_size"]["maximum"] == limits.BLOCK_SLOTS
    assert action["blocks"]["items"]["maximum"] == limits.POOL_BLOCKS - 1
    # A prompt and what it emitted: no chunk is longer, and no table at slots of one token.
    longest = 2 * limits.PROMPT_TOKENS
    assert action["tokens"]["maximum"] == action["blocks"]["maxItems"] == longest
    assert steps["maxItems"] == limits.SCHEDULE_STEPS
    assert steps["items"]["maxItems"] == limits.STEP_ACTIONS
    assert set(action["event"]["enum"]) == set(relation().events)


def test_requests_are_numbered_by_arrival_and_then_place() -> None:
    workload = Workload(
        tuple(Request(name, (1,), 1, arrival=step) for name, step in (("c", 1), ("a", 0), ("b", 1)))
    )
    assert [request.id for request in workload.submission] == ["a", "c", "b"]
    assert workload.numbers == {"a": 0, "c": 1, "b": 2}
    assert workload.alone("b") == Workload((Request("b", (1,), 1),))


def test_a_model_takes_what_it_has_tokens_and_positions_for(
    workload_document: dict[str, Any],
) -> None:
    workload = parse_workload(workload_document)
    require_model(workload, vocab_size=6, max_positions=7)
    token = refusal(lambda: require_model(workload, 5, 7, "w.json"))
    assert (token.code, token.pointer) == ("TOKEN_OUT_OF_RANGE", "w.json:/requests/0/prompt/4")
    negative = Workload((Request("a", (3, -1), 1),))
    assert refusal(lambda: require_model(negative, 5, 7)).pointer == "/requests/0/prompt/1"
    length = refusal(lambda: require_model(workload, 6, 6, "w.json"))
    assert (length.code, length.pointer) == ("SEQUENCE_TOO_LONG", "w.json:/requests/0")
    assert length.got == 7


DIGESTS = {
    "edges": "53949e21586d34bbb38fe31eb1af7cae6f0708cb6f043ddd3466e023e07ca3f7",
    "prefixes": "fc84e16a40c83ed2006a111f36e897a3d6737261cb3f65802b510a5edb29afac",
    "splits": "8587db9b9d12802c3b8807b0cab03e69ae473a596d0f34bef207c70e71cd2068",
}


@pytest.mark.parametrize("kind", KINDS)
def test_made_workloads_stay_the_same(kind: workloads.Kind) -> None:
    made = make_workload(Shape(kind), 0)
    jsonschema.validate(made.document(), WORKLOAD_SCHEMA)
    require_model(made, 256, 2048)
    assert made.sha256 == DIGESTS[kind]
    assert make_workload(Shape(kind), 1) != made


def test_made_workloads_reach_the_edges_that_they_are_for() -> None:
    size = 16
    edges = make_workload(Shape("edges", requests=64, block_size=size), 0)
    lengths = {len(request.prompt) % size for request in edges.requests}
    assert lengths >= {size - 2, size - 1, 0, 1, 2}
    splits = make_workload(Shape("splits", requests=64), 0)
    lengths = {len(request.prompt) for request in splits.requests}
    assert lengths >= {workloads.SPLIT + beside for beside in (-1, 0, 1)}
    assert lengths >= {2 * workloads.SPLIT + beside for beside in (-1, 0, 1)}
    prefixes = make_workload(Shape("prefixes", requests=64), 0)
    heads = {request.prompt[:size] for request in prefixes.requests}
    assert len(heads) == 2
    assert len({(request.salt, request.prompt[:size]) for request in prefixes.requests}) == 4
    for made in (edges, splits, prefixes):
        assert {request.sampling.greedy for request in made.requests} == {True, False}
        assert {request.ignore_eos for request in made.requests} == {True, False}
        assert min(token for request in made.requests for token in request.prompt) >= 1


def test_the_split_is_that_of_the_kernels() -> None:
    assert workloads.SPLIT == SPLIT


@pytest.mark.parametrize(
    "member",
    [
        {"kind": "other"},
        {"requests": 0},
        {"requests": limits.WORKLOAD_REQUESTS + 1},
        {"vocab_size": 1},
        {"block_size": 0},
        {"max_new": 0},
        {"arrivals": 0},
    ],
)
def test_a_shape_out_of_range_is_refused(member: dict[str, Any]) -> None:
    with pytest.raises(LockstepError) as caught:
        Shape(**member)
    assert (caught.value.code, caught.value.pointer) == ("BAD_VALUE", next(iter(member)))


def test_pools_hold_all_or_just_the_largest(workload_document: dict[str, Any]) -> None:
    workload = parse_workload(workload_document)
    assert pool_for(workload, 2) == Pool(8, 2)
    assert pool_for(workload, 2, tight=True) == Pool(4, 2)
