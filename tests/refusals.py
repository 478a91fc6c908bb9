"""What tests of the producer share: the refusal that a call must end in."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from lockstep.errors import LockstepError


def refused(code: str, act: Callable[[], object]) -> LockstepError:
    """Give the refusal of a call, which must have this code."""
    with pytest.raises(LockstepError) as caught:
        act()
    assert caught.value.code == code, caught.value
    return caught.value
