"""The prefix index: whole blocks by a hash of all tokens up to their end [ENG-8] [ENG-9].

A block's hash is chained to that of the block before it, and the chain begins with the model, the
block size and the request's salt. So two requests share a block only where the same model would
write the same keys and values into it, and nobody who does not know a salt can find out by a hit
what another request holds.
"""

from collections.abc import Iterable, Sequence

from lockstep.engine.digest import framed, u64, u64s
from lockstep.errors import LockstepError


def root(model: bytes, block_size: int, salt: str) -> bytes:
    """Give what a request's chain begins with; `model` is the digest of weights and dtype."""
    return framed("lockstep/prefix-root/1", model, u64(block_size), salt.encode("utf-8"))


def link(previous: bytes, tokens: Sequence[int]) -> bytes:
    """Give the hash of a block that holds `tokens` and follows the block of hash `previous`."""
    return framed("lockstep/prefix-block/1", previous, u64s(tokens))


class Chain:
    """The hashes of a request's whole blocks, made as its tokens become known.

    Args:
        start: the chain's root.
        block_size: tokens of a block.
    """

    def __init__(self, start: bytes, block_size: int) -> None:
        self._start = start
        self._size = block_size
        self._hashes: list[bytes] = []

    def of(self, tokens: Sequence[int], block: int) -> bytes:
        """Give the hash of the block of this number in `tokens`, which only ever grow."""
        while len(self._hashes) <= block:
            place = len(self._hashes)
            previous = self._hashes[-1] if place else self._start
            whole = tokens[place * self._size : (place + 1) * self._size]
            self._hashes.append(link(previous, whole))
        return self._hashes[block]


class PrefixIndex:
    """Which block holds the content of a hash; each hash and each block stands in it once."""

    def __init__(self) -> None:
        self._blocks: dict[bytes, int] = {}
        self._hashes: dict[int, bytes] = {}

    def __contains__(self, digest: bytes) -> bool:
        return digest in self._blocks

    def entries(self) -> list[tuple[int, bytes]]:
        """Give each block and its hash, by the block's number."""
        return sorted(self._hashes.items())

    def longest_run(self, hashes: Iterable[bytes]) -> tuple[int, ...]:
        """Give the blocks of the leading hashes that are offered without a gap."""
        run = []
        for digest in hashes:
            block = self._blocks.get(digest)
            if block is None:
                break
            run.append(block)
        return tuple(run)

    def offer(self, block: int, digest: bytes) -> None:
        """Let later lookups find a block, which has been written in full.

        Raises:
            LockstepError: LEDGER_MISMATCH, the block or its content is offered already.
        """
        if digest in self._blocks or block in self._hashes:
            raise LockstepError("LEDGER_MISMATCH", f"block {block}", "content not yet offered")
        self._blocks[digest] = block
        self._hashes[block] = digest

    def withdraw(self, block: int) -> None:
        """Forget a block, which is being evicted."""
        del self._blocks[self._hashes.pop(block)]
