"""SHA-256 over framed fields, so that no two lists of fields have the same bytes [ENG-2]."""

import hashlib
from collections.abc import Iterable


def u64(number: int) -> bytes:
    """Encode an integer from 0 to 2^64 - 1 in 8 bytes, the highest first."""
    return number.to_bytes(8, "big")


def u64s(numbers: Iterable[int]) -> bytes:
    """Encode integers one after the other."""
    return b"".join(number.to_bytes(8, "big") for number in numbers)


def framed(tag: str, *fields: bytes) -> bytes:
    """Give the SHA-256 of an ASCII tag and fields, each preceded by its length."""
    digest = hashlib.sha256()
    for field in (tag.encode("ascii"), *fields):
        digest.update(u64(len(field)))
        digest.update(field)
    return digest.digest()
