"""Ways to judge positions, of which each gives the same reasons."""

from __future__ import annotations

from typing import NamedTuple

from lockstep.errors import LockstepError
from lockstep.sampling.replay import Look, one_by_one


class Path(NamedTuple):
    """A way to judge positions.

    Attributes:
        name: what it is called.
        look: judges positions.
    """

    name: str
    look: Look


ONE_BY_ONE = Path("one by one, in decimal arithmetic", one_by_one)


def choose(batch: bool | None = None) -> Path:
    """Choose how positions are judged.

    Args:
        batch: many at a time, which needs NumPy; None is where there is NumPy.

    Raises:
        LockstepError: LIBRARY_MISSING, batches are asked for and there is no NumPy.
    """
    if batch is False:
        return ONE_BY_ONE
    try:
        from lockstep.sampling.batch.replay import in_batches
    except ModuleNotFoundError as fault:
        if fault.name is None or fault.name.partition(".")[0] != "numpy":
            raise
        if batch:
            hint = "Install the extra 'hunt', or leave the option out: the results are the same."
            raise LockstepError("LIBRARY_MISSING", "--batch", "numpy", "none", hint) from None
        return ONE_BY_ONE
    return Path("in batches, by the exact path", in_batches)
