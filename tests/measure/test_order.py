"""The order of a run: recorded by its seed, each entry once, and alike in both implementations."""

from __future__ import annotations

import hashlib

from lockstep.measure.order import shuffled
from lockstep_verify.derive import probe_arms

NAMES = ["invariant", "fast", "peer"]


def test_a_block_has_each_entry_once() -> None:
    orders = {tuple(shuffled(7, block, NAMES)) for block in range(40)}
    assert {tuple(sorted(order)) for order in orders} == {tuple(sorted(NAMES))}
    assert len(orders) == 6


def test_the_order_is_that_of_the_digests() -> None:
    text = "lockstep/order/1/7/3/"
    digests = [hashlib.sha256((text + name).encode()).hexdigest() for name in NAMES]
    assert shuffled(7, 3, NAMES) == [name for _, name in sorted(zip(digests, NAMES, strict=True))]


def test_it_follows_from_the_seed_and_not_from_the_names_order() -> None:
    assert shuffled(1, 0, NAMES) == shuffled(1, 0, reversed(NAMES))
    assert any(shuffled(1, block, NAMES) != shuffled(2, block, NAMES) for block in range(8))


def test_the_verifier_has_the_same() -> None:
    for block in range(20):
        assert probe_arms.order(5, block, NAMES) == shuffled(5, block, NAMES)
