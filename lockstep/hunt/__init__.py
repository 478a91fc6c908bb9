"""The layout hunt: every demanded pair of a set's layouts probed, moved and decoded from.

`hunt` observes and decides no verdict; `lockstep.claims.hunt` folds what it observed.
"""

from lockstep.hunt.observe import HuntObservations
from lockstep.hunt.runner import Options, Progress, hunt

__all__ = ["HuntObservations", "Options", "Progress", "hunt"]
