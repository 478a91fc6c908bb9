"""The pool of blocks: what is taken and evicted first, and the writes that it refuses."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from lockstep.engine.blocks import BlockPool
from lockstep.lifecycle import Pool
from tests.refusals import refused


def written(blocks: int = 4, size: int = 2, held: tuple[int, ...] = (0, 1)) -> BlockPool:
    """A pool in which one request holds some blocks, all of them written."""
    pool = BlockPool(Pool(blocks, size))
    pool.take(held)
    for block in held:
        for offset in range(size):
            pool.wrote(block, offset)
    return pool


def test_the_lowest_free_blocks_are_taken() -> None:
    pool = BlockPool(Pool(5, 2))
    pool.take((3, 0))
    assert pool.lowest_free(2) == (1, 2) and pool.lowest_free(0) == ()
    assert pool.lowest_free(9) == pool.free == (1, 2, 4)
    pool.release((3, 0))
    assert pool.free == (0, 1, 2, 3, 4)


def test_cached_blocks_are_evicted_in_the_order_of_release_ends_of_tables_first() -> None:
    pool = written(held=(2, 0, 1))
    for block in (0, 1, 2):
        pool.publish(block)
    pool.release((2, 0, 1))
    assert pool.evictable == (1, 0, 2) and pool.free == (3,)
    # A grant takes a block out of the order; its release puts it at the end.
    pool.share((1,))
    assert pool.evictable == (0, 2)
    pool.release((1,))
    assert pool.evictable == (0, 2, 1)
    pool.evict(2)
    assert pool.evictable == (0, 1) and pool.free == (2, 3) and not pool.cached[2]


def test_a_block_stays_with_its_other_holder() -> None:
    pool = written()
    pool.publish(0)
    pool.share((0,))
    pool.release((0, 1))
    assert pool.references == [1, 0, 0, 0] and pool.evictable == () and pool.free == (1, 2, 3)


@pytest.mark.parametrize(
    "act",
    [
        lambda pool: pool.take((0,)),
        lambda pool: pool.take((0, 2)),
        lambda pool: pool.share((1,)),
        lambda pool: pool.release((3,)),
        lambda pool: pool.evict(0),
        lambda pool: pool.evict(3),
    ],
    ids=["held", "held of two", "not cached", "not held", "in use", "free"],
)
def test_what_does_not_agree_with_the_ledger_is_refused(act: Callable[[BlockPool], None]) -> None:
    pool = written()
    pool.publish(0)
    refused("LEDGER_MISMATCH", lambda: act(pool))


def test_a_write_needs_a_block_of_ones_own() -> None:
    pool = BlockPool(Pool(2, 3))
    pool.take((0,))
    pool.assert_exclusive(0, 0)
    pool.references[0] = 2
    assert "2 holders" in str(refused("BLOCK_NOT_EXCLUSIVE", lambda: pool.wrote(0, 0)))
    refused("BLOCK_NOT_EXCLUSIVE", lambda: pool.assert_exclusive(1, 0))


def test_a_cached_block_is_not_written() -> None:
    pool = written(size=1)
    pool.publish(0)
    fault = refused("BLOCK_NOT_EXCLUSIVE", lambda: pool.assert_exclusive(0, 1))
    assert fault.pointer == "block 0, slot 1" and "1 holders, cached" in str(fault)


@pytest.mark.parametrize("offset", [0, 2])
def test_slots_are_written_in_order_and_once(offset: int) -> None:
    pool = BlockPool(Pool(2, 3))
    pool.take((0,))
    pool.wrote(0, 0)
    refused("BLOCK_NOT_EXCLUSIVE", lambda: pool.assert_exclusive(0, offset))


def test_a_block_is_published_only_when_written() -> None:
    pool = BlockPool(Pool(2, 3))
    pool.take((1,))
    pool.wrote(1, 0)
    pool.wrote(1, 1)
    fault = refused("BLOCK_NOT_WRITTEN", lambda: pool.publish(1))
    assert (fault.expected, fault.got) == ("3 slots", 2) and not pool.cached[1]
    pool.wrote(1, 2)
    pool.publish(1)
    # Taken anew, it is unwritten again.
    pool.release((1,))
    pool.evict(1)
    pool.take((1,))
    refused("BLOCK_NOT_WRITTEN", lambda: pool.publish(1))
