"""Boundary predicates hold where their definition says so, and not one token beside it."""

from __future__ import annotations

import pytest

from lockstep import spec
from lockstep.errors import LockstepError
from lockstep.fuzz import boundary
from lockstep.fuzz.case import Case
from lockstep.fuzz.lineage import Lineage, case_of
from lockstep.fuzz.populations import populations, predicates, targets
from lockstep.lifecycle import Pool
from lockstep.schedule.schedule import Action, Schedule
from lockstep.schedule.simulate import check, simulate
from lockstep.schedule.workload import Request, Workload

REAL_TOKENS_ALONE = {"finish_before_max_new"}
"""Stand-in tokens end no sequence early."""


def shown(
    steps: str, *sizes: tuple[int, int], blocks: int = 8, size: int = 4, prompt: int = 1
) -> frozenset[str]:
    """Give the predicates of a schedule: steps by `;`, actions by space, as `chunk0:3`."""
    workload = Workload(
        tuple(
            Request(f"r{n}", (prompt,) * length, max_new, ignore_eos=True)
            for n, (length, max_new) in enumerate(sizes)
        )
    )
    made = tuple(tuple(map(_action, step.split())) for step in steps.split(";"))
    pool = Pool(blocks, size)
    run = check(workload, Schedule(pool, made), partial=True)
    return boundary.shown(Case(workload, pool, made), run.events, len(made))


def _action(text: str) -> Action:
    head, _, tokens = text.partition(":")
    return Action(head[:-1], f"r{head[-1]}", int(tokens or 0))


FIRST = "admit0 decode0; decode0; finish0;"
"""The first request leaves its whole blocks behind."""


@pytest.mark.parametrize(
    ("name", "there", "beside"),
    [
        ("prompt_below_block", ("admit0", (7, 1)), ("admit0", (8, 1))),
        ("prompt_at_block", ("admit0", (8, 1)), ("admit0", (9, 1))),
        ("prompt_above_block", ("admit0", (9, 1)), ("admit0", (8, 1))),
        ("need_is_pool", ("admit0", (28, 4)), ("admit0", (27, 1))),
        ("slack_used_up", ("admit0 admit1", (16, 1), (9, 3)), ("admit0 admit1", (16, 1), (7, 1))),
        ("hit_one_block", (FIRST + "admit1 cache_hit1", (8, 2), (5, 1)),
         (FIRST + "admit1 cache_hit1", (8, 2), (9, 1))),
        ("hit_to_last_token", (FIRST + "admit1 cache_hit1", (8, 2), (5, 1)),
         (FIRST + "admit1 cache_hit1", (8, 2), (6, 1))),
        ("chunk_one_token", ("admit0 chunk0:1", (8, 1)), ("admit0 chunk0:2", (8, 1))),
        ("chunk_to_block_edge", ("admit0 chunk0:4", (8, 1)), ("admit0 chunk0:5", (8, 1))),
        ("chunk_past_block_edge", ("admit0 chunk0:5", (8, 1)), ("admit0 chunk0:1", (8, 1))),
        ("chunk_leaves_one", ("admit0 chunk0:7", (8, 1)), ("admit0 chunk0:6", (8, 1))),
        ("decode_fills_block", ("admit0 decode0", (8, 1)), ("admit0 decode0", (7, 1))),
        ("content_twice", ("admit0 admit1 decode0 decode1", (4, 1), (4, 1)),
         ("admit0 admit1 decode0 decode1", (4, 1), (3, 1))),
        ("pool_full", ("admit0 decode0", (28, 4)), ("admit0 decode0", (27, 1))),
        ("preempt_before_output", ("admit0 chunk0:1; preempt_rc0", (8, 2)),
         ("admit0 decode0; preempt_rc0", (8, 2))),
        ("preempt_at_first_output", ("admit0 decode0; preempt_rc0", (8, 3)),
         ("admit0 decode0; decode0; preempt_rc0", (8, 3))),
        ("preempt_before_last_output", ("admit0 decode0; decode0; preempt_rc0", (8, 3)),
         ("admit0 decode0; preempt_rc0", (8, 3))),
        ("preempt_prefill_with_outputs",
         ("admit0 decode0; preempt_rc0; resume0 chunk0:1; preempt_rc0", (8, 3)),
         ("admit0 decode0; preempt_rc0; resume0 decode0; preempt_rc0", (8, 3))),
        ("preempted_twice", ("admit0 decode0; preempt_rc0 resume0 decode0; preempt_rc0", (8, 3)),
         ("admit0 decode0; preempt_rc0 resume0 decode0", (8, 3))),
        ("resume_in_same_step", ("admit0 decode0; preempt_rc0 resume0", (8, 3)),
         ("admit0 decode0; preempt_rc0; resume0", (8, 3))),
        ("hit_after_resume", ("admit0 decode0; preempt_rc0; resume0 cache_hit0", (8, 3)),
         (FIRST + "admit1 cache_hit1", (8, 2), (8, 1))),
        ("finish_at_first_output", ("admit0 decode0; finish0", (8, 1)), (FIRST, (8, 2))),
        ("width_1", ("admit0 decode0", (1, 1)), ("admit0 decode0", (2, 1))),
        ("width_31", ("admit0 chunk0:31", (40, 1)), ("admit0 chunk0:30", (40, 1))),
        ("width_32", ("admit0 chunk0:32", (40, 1)), ("admit0 chunk0:31", (40, 1))),
        ("width_33", ("admit0 chunk0:33", (40, 1)), ("admit0 chunk0:32", (40, 1))),
        ("batch_mixes", ("admit0 admit1 decode0; decode0 chunk1:2", (3, 3), (4, 1)),
         ("admit0 admit1 decode0; decode0 chunk1:1", (3, 3), (4, 1))),
        ("hit_beside_miss",
         (FIRST + "admit1 cache_hit1 admit2 decode1 decode2", (8, 2), (6, 1), (3, 1)),
         (FIRST + "admit1 cache_hit1 admit2 decode1", (8, 2), (6, 1), (3, 1))),
        ("ends_at_split", ("admit0 chunk0:512", (600, 1)), ("admit0 chunk0:511", (600, 1))),
        ("crosses_split", ("admit0 chunk0:513", (600, 1)), ("admit0 chunk0:512", (600, 1))),
        ("decode_at_split", ("admit0 decode0; decode0", (512, 2)),
         ("admit0 decode0; decode0", (511, 2))),
    ],
)  # fmt: skip
def test_predicate(name: str, there: tuple[object, ...], beside: tuple[object, ...]) -> None:
    for (steps, *sizes), expected in ((there, True), (beside, False)):
        long = max(length + most for length, most in sizes) > 40  # type: ignore[misc]
        blocks = 200 if long or name.startswith("width") else 8
        assert (name in shown(steps, *sizes, blocks=blocks)) is expected  # type: ignore[arg-type]


def test_evictions() -> None:
    steps = FIRST + "admit1 evict1"
    last = shown(steps, (4, 2), (12, 1), blocks=4)
    assert {"evicts_last_cached"} <= last
    assert "evicts_own_block" not in last
    own = "admit0 decode0; preempt_rc0; resume0 evict0"
    assert "evicts_own_block" in shown(own, (12, 4), blocks=4)


def test_a_head_that_blocks_a_smaller_one() -> None:
    sizes = ((12, 1), (20, 1), (3, 1))
    assert "head_blocks_smaller" in shown("admit0", *sizes, blocks=6)
    assert "head_blocks_smaller" not in shown("", *sizes, blocks=6)


def test_a_block_that_holds_an_emitted_token() -> None:
    decoded = "admit0 decode0; decode0; decode0; preempt_rc0; resume0 cache_hit0"
    assert "hit_emitted_block" in shown(decoded, (3, 6))
    assert "hit_emitted_block" not in shown(
        "admit0 decode0; preempt_rc0; resume0 cache_hit0", (4, 6)
    )


def test_a_request_that_needs_one_block_more() -> None:
    workload = Workload((Request("r0", (1,) * 61, 4),))
    assert boundary.NEVER_FITS in boundary.shown(Case(workload, Pool(2, 32), ()), (), 0)
    for blocks in (1, 3):
        assert not boundary.shown(Case(workload, Pool(blocks, 32), ()), (), 0)


def test_every_predicate_of_the_specification_is_here() -> None:
    declared = spec.load("fuzz.json")["predicates"]
    assert predicates() == boundary.NAMES
    assert len(declared) >= 20
    by_place = {place: [p["name"] for p in declared if p["at"] == place] for place in
                ("event", "step", "case")}  # fmt: skip
    assert by_place == {
        "event": list(boundary.AT_EVENT),
        "step": list(boundary.AT_STEP_END),
        "case": [boundary.NEVER_FITS],
    }


def test_exploration_shows_them_and_not_always() -> None:
    often: dict[str, int] = dict.fromkeys(boundary.NAMES, 0)
    for seed in range(110):
        case = case_of(Lineage("swarm" if seed < 90 else "eviction", (seed,)))
        try:
            done = simulate(case.workload, case.pool, case.by.policy())  # type: ignore[union-attr]
        except LockstepError as fault:
            assert fault.code == "REQUEST_NEVER_FITS"
            names = boundary.shown(case, (), 0)
        else:
            names = boundary.shown(case, done.run.events, len(done.schedule.steps))
        for name in names:
            often[name] += 1
    assert {name for name, count in often.items() if count == 0} == REAL_TOKENS_ALONE
    assert all(count < 110 for count in often.values())


def test_the_populations() -> None:
    assert list(populations()) == ["swarm", "eviction", "probes"]
    assert populations()["probes"].seeds == len(targets()) == 13 + 25 + 79
    assert populations()["swarm"].credits(("evict", "evict"))
    assert not populations()["eviction"].credits(("evict", "chunk"))
    assert populations()["eviction"].credits(("resume", "cache_hit"))
    assert not any(populations()["probes"].credits(target.gram) for target in targets())
