"""The comparison with another implementation: what differs is counted, silence is no agreement."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import pytest

from lockstep.errors import LockstepError
from lockstep.sampling.parity import compare, outcome
from lockstep.sampling.random_positions import UPSTREAM, V1, positions

SERVER = """
import json, sys
from lockstep.sampling.parity import outcome

def answer(number, request):
    here = outcome(request)
    {fault}
    if here is None:
        return {{"id": request["id"], "result": "refused", "code": "BAD_VALUE"}}
    return {{"id": request["id"], "result": "ok", "code": "OK", "value": here}}

for number, line in enumerate(sys.stdin):
    print(json.dumps(answer(number, json.loads(line))))
"""
COUNT = 60


def server(fault: str = "pass") -> Sequence[str]:
    """Give a command that answers as this implementation does, but for a fault."""
    return [sys.executable, "-c", SERVER.format(fault=fault)]


def test_an_implementation_that_agrees() -> None:
    found = compare(server(), "agreement", COUNT)
    assert found[:2] == (COUNT, COUNT // 3)
    assert found.differences == 0 and found.first == ()
    assert 0 < found.refused < COUNT // 2


@pytest.mark.parametrize(
    "fault",
    [
        "if number == 3: here['weights'][0][1] += 1",
        "if number == 3: here['token'] = here['token'] + '0'",
        "if number == 3: here = None",
        "if number == 3: return {'id': '3', 'result': 'unsupported'}",
        "if number == 3: return {'id': '3', 'result': 'refused', 'code': 'INTERNAL'}",
    ],
)
def test_one_difference_is_found(fault: str) -> None:
    found = compare(server(fault), "agreement", 5)
    assert found.differences == 1
    assert found.first[0].here == outcome(found.first[0].position)


@pytest.mark.parametrize(
    "fault",
    ["if number == 3: sys.exit(0)", "if number == 4: sys.exit(1)", "request['id'] = 'x'"],
)
def test_a_command_that_does_not_answer_is_no_agreement(fault: str) -> None:
    with pytest.raises(LockstepError) as refused:
        compare(server(fault), "agreement", 5)
    assert refused.value.code == "BAD_VALUE"


def test_jobs_change_nothing() -> None:
    fault = "if number == 3: here['token'] = ''"
    alone = compare(server(fault), "jobs", 2_010)
    assert compare(server(fault), "jobs", 2_010, jobs=2) == alone
    assert alone.differences == 2


def test_positions_are_those_of_their_seed() -> None:
    first = list(positions("a", 300))
    assert list(positions("a", 300)) == first
    assert list(positions("b", 300)) != first
    assert {position["profile"] for position in first} == {V1, UPSTREAM}
    sizes = {len(position["support"]) for position in first}
    assert {1, 2, 5, 20} <= sizes
