"""What trying seeds costs, by count: with a seed to choose, and with a beacon that nobody chose."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from itertools import count

from lockstep.sampling import Origin, derive_seed, draw, replay_position, resolve, weights
from lockstep.sampling.document import Signed
from tests.sampling.conftest import request_of

SUPPORT = {"1": "-0.223143551314", "2": "-2.302585092994", "3": "-2.302585092994"}
REQUEST = request_of(parameters=resolve("1", 3), vocab_size=300, choices=1, max_tokens=1)
FORGED = Signed("3", tuple(SUPPORT.items()))
"""A token that has one chance in ten."""


def passes(user_seed: int, beacon: str, positions: int = 1) -> bool:
    """Whether a stream gives the forged token at each of the first positions."""
    request = replace(REQUEST, origin=Origin(user_seed, "chain-7", beacon), max_tokens=positions)
    return all(not replay_position(request, 0, at, FORGED).reason for at in range(positions))


def test_a_seed_that_may_be_chosen_is_found() -> None:
    weight = weights(SUPPORT, REQUEST.parameters)["3"]
    assert 6000 < weight < 7000
    for positions, most in ((1, 100), (2, 1000)):
        attempts = next(n for n in count(1) if passes(n, "", positions))
        assert (65536 / weight) ** positions / 20 < attempts < most
        # Replay alone sees nothing of it [SAMP-48].
        assert passes(attempts, "", positions)


def test_a_beacon_makes_each_attempt_a_request() -> None:
    chosen = next(n for n in count(1) if passes(n, ""))
    beacons = [hashlib.sha256(bytes([n])).hexdigest() for n in range(200)]
    lucky = sum(passes(chosen, beacon) for beacon in beacons)
    # Three standard deviations of 200 draws of one in ten are 13.
    assert 7 <= lucky <= 33


def test_each_choice_has_a_stream_of_its_own() -> None:
    own = weights(SUPPORT, REQUEST.parameters)
    origin = Origin(1, "chain-7", "ab" * 32)
    drawn = {draw(own, derive_seed(origin, choice, 0)) for choice in range(40)}
    assert drawn == {"1", "2", "3"}
