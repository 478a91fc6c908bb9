"""The built-in server measured against itself: what invariance costs, over its mode `fast`."""

from __future__ import annotations

from lockstep.certify.config import Command
from lockstep.certify.faults import served
from lockstep.claims.throughput import Criterion
from lockstep.measure.load import REQUESTED
from lockstep.measure.observation import Workload
from lockstep.measure.server import Wanted

LOW, SPAN = 10, 246
"""Token ids of prompts: below 256, which every vocabulary has, and above the special ones."""
BLOCKS = 9
"""With nine pairs an interval of 95 % leaves the smallest and the largest ratio out."""
WORKLOAD = Workload(LOW, SPAN, 1, (48, 96, 160, 640), 16)
"""One prompt crosses the chunk of 512 tokens, the split of attention, too."""
COMPARISONS = (("invariant", "fast"),)
CRITERIA = (Criterion(0, 1_150_000, "above"),)
"""Where invariance costs more than 15 % of the mode that it constrains, it ends the endeavour."""


def wanted(mode: str) -> Wanted:
    """Give the arm of a mode, `invariant` or `fast`: a server of this environment."""
    command = Command(served(f" --mode {mode}"))
    return Wanted(mode, mode, command, adapter="lockstep", requested=REQUESTED)
