"""Documents, and what is asked of a refusal."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from lockstep.errors import LockstepError

REQUEST: dict[str, Any] = {
    "id": "a",
    "prompt": [1, 2, 3, 4, 5],
    "max_new": 2,
    "arrival": 0,
    "salt": "",
    "ignore_eos": False,
    "sampling": {"temperature": "0", "top_k": 0, "top_p": "1", "min_p": "0", "seed": 0},
}


def refusal(call: Callable[[], object]) -> LockstepError:
    """Give the refusal that a call must end in."""
    with pytest.raises(LockstepError) as caught:
        call()
    # What a user reads names the place and says what to do.
    assert caught.value.pointer in str(caught.value)
    return caught.value


@pytest.fixture
def workload_document() -> dict[str, Any]:
    """A workload of two requests, `a` and `b`; `b` arrives at step 1."""
    second = {**copy.deepcopy(REQUEST), "id": "b", "arrival": 1, "ignore_eos": True}
    return {"version": 1, "requests": [copy.deepcopy(REQUEST), second]}


@pytest.fixture
def schedule_document() -> dict[str, Any]:
    """A complete schedule of that workload: blocks of 2 slots, all of them needed."""
    steps = [
        [{"event": "admit", "request": "a"}, {"event": "chunk", "request": "a", "tokens": 3}],
        [{"event": "admit", "request": "b"}, {"event": "decode", "request": "b"}],
        [{"event": "decode", "request": "b"}, {"event": "decode", "request": "a"}],
        [{"event": "finish", "request": "a"}, {"event": "finish", "request": "b"}],
    ]
    return {"version": 1, "pool": {"blocks": 8, "block_size": 2}, "steps": steps}
