"""The prefix index: hashes that no other input has, and runs without a gap."""

from __future__ import annotations

import hashlib
from itertools import combinations

import pytest

from lockstep.engine.digest import framed, u64
from lockstep.engine.prefix_cache import Chain, PrefixIndex, link, root
from lockstep.errors import LockstepError

MODEL = bytes(32)


def test_a_digest_is_that_of_the_spec() -> None:
    # [ENG-2], written out.
    text = b"\0\0\0\0\0\0\0\3tag" + b"\0\0\0\0\0\0\0\2ab" + b"\0\0\0\0\0\0\0\0"
    assert framed("tag", b"ab", b"") == hashlib.sha256(text).digest()


def test_hashes_are_those_of_the_spec() -> None:
    # [ENG-8], written out.
    def frame(*fields: bytes) -> bytes:
        return b"".join(len(field).to_bytes(8, "big") + field for field in fields)

    start = hashlib.sha256(
        frame(b"lockstep/prefix-root/1", MODEL, (2).to_bytes(8, "big"), "sälz".encode())
    ).digest()
    assert root(MODEL, 2, "sälz") == start
    tokens = (7).to_bytes(8, "big") + (258).to_bytes(8, "big")
    block = hashlib.sha256(frame(b"lockstep/prefix-block/1", start, tokens)).digest()
    assert link(start, (7, 258)) == block
    assert Chain(start, 2).of([7, 258, 9], 0) == block


def test_fields_do_not_run_into_each_other() -> None:
    # Each of these has the bytes of another one, were fields not framed.
    digests = [
        framed("t", b"ab", b"c"),
        framed("t", b"a", b"bc"),
        framed("t", b"abc"),
        framed("t", b"abc", b""),
        framed("ta", b"bc"),
        framed("t", u64(0x6162), b"c"),
    ]
    assert all(a != b for a, b in combinations(digests, 2))


def test_roots_differ_with_model_block_size_and_salt() -> None:
    roots = [
        root(MODEL, 8, ""),
        root(bytes([1]) + bytes(31), 8, ""),
        root(MODEL, 16, ""),
        root(MODEL, 8, "\0"),
        root(MODEL, 8, "8"),
    ]
    assert all(a != b for a, b in combinations(roots, 2))


def test_a_blocks_hash_stands_for_all_tokens_before_its_end() -> None:
    start = root(MODEL, 2, "")
    chain = Chain(start, 2)
    tokens = [1, 2, 3, 4, 5]
    second = chain.of(tokens, 1)
    assert second == link(link(start, (1, 2)), (3, 4))
    assert Chain(start, 2).of([1, 9, 3, 4], 1) != second
    assert Chain(start, 2).of([3, 4], 0) != second
    # Tokens that become known later change nothing.
    assert chain.of([*tokens, 6], 1) == second
    assert chain.of([*tokens, 6], 2) == link(second, (5, 6))


def test_blocks_of_other_sizes_do_not_meet() -> None:
    one, two = Chain(root(MODEL, 1, ""), 1), Chain(root(MODEL, 2, ""), 2)
    assert one.of([1, 2], 1) != two.of([1, 2], 0)


def test_the_longest_run_ends_at_the_first_gap() -> None:
    index = PrefixIndex()
    hashes = [bytes([n]) * 32 for n in range(4)]
    for block, digest in ((5, hashes[0]), (2, hashes[1]), (9, hashes[3])):
        index.offer(block, digest)
    assert index.longest_run(hashes) == (5, 2)
    assert index.longest_run(hashes[1:]) == (2,)
    assert index.longest_run(hashes[2:]) == ()
    assert index.entries() == [(2, hashes[1]), (5, hashes[0]), (9, hashes[3])]
    index.withdraw(5)
    assert hashes[0] not in index and hashes[1] in index
    assert index.longest_run(hashes) == ()


def test_nothing_is_offered_twice() -> None:
    index = PrefixIndex()
    index.offer(1, b"a")
    for block, digest in ((2, b"a"), (1, b"b")):
        with pytest.raises(LockstepError) as caught:
            index.offer(block, digest)
        assert caught.value.code == "LEDGER_MISMATCH"
    assert index.entries() == [(1, b"a")]
