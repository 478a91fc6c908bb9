"""The pool of physical blocks: who holds them, how far they are written, which goes next.

What the lifecycle leaves open is chosen here, always in the same way: a request gets the free
blocks of the lowest numbers, and the evictable block that was released first is evicted first
[SCHED-14].
"""

from collections.abc import Sequence
from heapq import nsmallest

from lockstep.errors import LockstepError
from lockstep.lifecycle import Pool


class BlockPool:
    """Blocks by number, each free, held, or held by nobody and still offered.

    Args:
        pool: number and size of the blocks.

    Attributes:
        references: of each block, the number of requests that hold it.
        cached: of each block, whether the prefix index offers it.
        written: of each block, the leading slots written since it was last taken.
    """

    def __init__(self, pool: Pool) -> None:
        self.size = pool.block_size
        self.references = [0] * pool.blocks
        self.cached = [False] * pool.blocks
        self.written = [0] * pool.blocks
        self._free = set(range(pool.blocks))
        # Insertion order is the order of release.
        self._evictable: dict[int, None] = {}

    @property
    def evictable(self) -> tuple[int, ...]:
        """The cached blocks that nobody holds, the one released longest ago first."""
        return tuple(self._evictable)

    @property
    def free(self) -> tuple[int, ...]:
        """The free blocks, ascending."""
        return tuple(sorted(self._free))

    def lowest_free(self, count: int) -> tuple[int, ...]:
        """Give the `count` free blocks of the lowest numbers, fewer where there are not enough."""
        return tuple(nsmallest(count, self._free)) if count > 0 else ()

    def are_free(self, blocks: Sequence[int]) -> bool:
        """Whether these are blocks of the pool, and all of them free."""
        return self._free.issuperset(blocks)

    def take(self, blocks: Sequence[int]) -> None:
        """Give free blocks to a request; nothing is written in them."""
        for block in blocks:
            _require(block in self._free, block, "a free block", self._told(block))
            self._free.remove(block)
            self.references[block] = 1
            self.written[block] = 0

    def share(self, blocks: Sequence[int]) -> None:
        """Let one more request hold cached blocks."""
        for block in blocks:
            _require(self.cached[block], block, "a cached block", self._told(block))
            self.references[block] += 1
            self._evictable.pop(block, None)

    def release(self, table: Sequence[int]) -> None:
        """Take a request's blocks back, the last of its table first [ENG-5].

        So the end of a prefix is evicted before its beginning, without which it is of no use.
        """
        for block in reversed(table):
            _require(self.references[block] > 0, block, "a held block", self._told(block))
            self.references[block] -= 1
            if self.references[block] == 0:
                if self.cached[block]:
                    self._evictable[block] = None
                else:
                    self._free.add(block)

    def evict(self, block: int) -> None:
        """Make an evictable block free."""
        _require(block in self._evictable, block, "an evictable block", self._told(block))
        del self._evictable[block]
        self.cached[block] = False
        self._free.add(block)

    def publish(self, block: int) -> None:
        """Mark a block as offered [ENG-7].

        Raises:
            LockstepError: BLOCK_NOT_WRITTEN, a slot of it is not written yet.
        """
        if self.written[block] != self.size:
            raise LockstepError(
                "BLOCK_NOT_WRITTEN", f"block {block}", f"{self.size} slots", self.written[block]
            )
        self.cached[block] = True

    def assert_exclusive(self, block: int, offset: int) -> None:
        """Refuse a write that another request could see, or that leaves a gap [ENG-6].

        Raises:
            LockstepError: BLOCK_NOT_EXCLUSIVE, the block is not held exactly once, is cached, or
                the slot is not the first one that is not written.
        """
        alone = self.references[block] == 1 and not self.cached[block]
        if not alone or self.written[block] != offset:
            raise LockstepError(
                "BLOCK_NOT_EXCLUSIVE",
                f"block {block}, slot {offset}",
                "one holder, not cached, and this slot the next to be written",
                self._told(block),
            )

    def wrote(self, block: int, offset: int) -> None:
        """Note that a slot was written, which `assert_exclusive` must allow."""
        self.assert_exclusive(block, offset)
        self.written[block] = offset + 1

    def _told(self, block: int) -> str:
        cached = "cached" if self.cached[block] else "not cached"
        return f"{self.references[block]} holders, {cached}, {self.written[block]} slots written"


def _require(holds: bool, block: int, expected: str, got: str) -> None:
    if not holds:
        raise LockstepError("LEDGER_MISMATCH", f"block {block}", expected, got)
