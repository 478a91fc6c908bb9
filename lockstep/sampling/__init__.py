"""Reproducible sampling, `sampling/v1` (spec/sampling.md): replay what an executor says it drew.

Pure functions of their arguments: integers, texts and a decimal context of their own for each
call. Nothing is global, so that threads do not matter; nothing needs an array library.
"""

from lockstep.sampling.categorical import draw
from lockstep.sampling.parameters import Parameters, resolve
from lockstep.sampling.replay import replay_position, replay_sequence
from lockstep.sampling.seed import Origin, derive_seed
from lockstep.sampling.weighting import weights

__all__ = [
    "Origin",
    "Parameters",
    "derive_seed",
    "draw",
    "replay_position",
    "replay_sequence",
    "resolve",
    "weights",
]
