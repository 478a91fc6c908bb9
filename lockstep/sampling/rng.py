"""A stream of draws that any language can make again [SAMP-1] to [SAMP-3]."""

import hashlib

from lockstep.errors import LockstepError

RANGE = 1 << 64
"""Draws are below it."""


def u64(seed: str, counter: int) -> int:
    """Give a draw of a stream, an integer below 2^64.

    Args:
        seed: names the stream.
        counter: the number of the draw, from 0; after 2^64 - 1 comes 0.
    """
    material = seed.encode("utf-8") + (counter % RANGE).to_bytes(8, "big")
    return int.from_bytes(hashlib.sha256(material).digest()[:8], "big")


def below(seed: str, n: int, counter: int = 0) -> tuple[int, int]:
    """Draw an integer below n, each as likely as any other.

    Args:
        seed: names the stream.
        n: from 1 to 2^64.
        counter: the number of the first draw that is taken.

    Returns:
        The integer, and the number of the next draw of the stream.

    Raises:
        LockstepError: BAD_VALUE, n is out of its range.
    """
    if not 1 <= n <= RANGE:
        raise LockstepError("BAD_VALUE", "/n", "1 to 2^64", n)
    limit = RANGE // n * n
    while True:
        drawn = u64(seed, counter)
        counter += 1
        if drawn < limit:
            return drawn % n, counter
