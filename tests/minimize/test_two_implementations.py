"""Removals and legality, by the producer and by the verifier."""

from __future__ import annotations

import pytest

from lockstep.lifecycle import Pool
from lockstep.minimize.dimensions import Removal, dimensions, removals
from lockstep.minimize.legality import Rules
from lockstep.minimize.removals import without
from lockstep_verify.derive.finding_case import digest
from lockstep_verify.derive.finding_removals import removal_count, single_removals
from lockstep_verify.derive.finding_rules import judge, weakening
from tests.minimize.conftest import swarm_case


@pytest.mark.parametrize("seed", range(6))
def test_both_list_the_same_removals(seed: int) -> None:
    case = swarm_case(seed)
    mine = [
        (removal.dimension, removal.place, without(case, (removal,)).sha256)
        for removal in removals(case)
    ]
    theirs = [
        (name, place, digest(smaller))
        for name, place, smaller in single_removals(case.document(), list(dimensions()))
    ]
    assert mine == theirs
    for name in dimensions():
        assert removal_count(case.document(), [name]) == [n for n, _, _ in mine].count(name)
    assert {name for name, _, _ in mine} >= {"requests", "actions", "steps", "prompt_tokens"}


@pytest.mark.parametrize("seed", range(6))
def test_both_refuse_with_the_same_code(seed: int) -> None:
    case, rules = swarm_case(seed), Rules()
    assert rules.refusal(case) == judge(case.document(), "")[0] == ""
    smaller = [without(case, (removal,)) for removal in removals(case)]
    every = list({one.sha256: one for one in smaller}.values())[:: 1 + len(smaller) // 40]
    found = [(rules.refusal(one), rules.stuck(one)) for one in every]
    assert found == [judge(one.document(), "") for one in every]
    assert len({code for code, _ in found}) > 2
    assert not any(stuck for _, stuck in found)


def test_blocks_that_the_pool_lacks() -> None:
    for seed in range(12):
        case = swarm_case(seed)
        named = [r for r in removals(case, ("named_blocks",))]
        if named:
            break
    one_block = without(case, (Removal("pool_blocks", (), case.pool.blocks - 1),))
    assert Rules().refusal(one_block) == judge(one_block.document(), "")[0]
    assert Rules().refusal(one_block) in ("BAD_VALUE", "REQUEST_NEVER_FITS")


def test_the_weakening_is_that_of_the_mutation() -> None:
    case = swarm_case(0)
    tight = type(case)(case.workload, Pool(1, 4), ())
    for name, code in (("never_fitting_accepted", ""), ("refcount_leak", "REQUEST_NEVER_FITS")):
        rules = Rules(name)
        weakened = weakening({"name": name})
        assert rules.refusal(tight) == judge(tight.document(), weakened)[0] == code
        assert rules.stuck(tight) == judge(tight.document(), weakened)[1] == (code == "")
    # One that admission does not know changes nothing here.
    assert Rules("lazy_reservation").weakening == weakening({"name": "lazy_reservation"}) == ""
