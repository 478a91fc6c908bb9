"""Which sources bear on what the engine gives; certificates of its runs bind their digest."""

ENGINE = (
    "lockstep.engine",
    "lockstep.engine.backends",
    "lockstep.engine.host",
    "lockstep.engine.kernels",
    "lockstep.lifecycle",
    "lockstep.sampling.categorical",
    "lockstep.sampling.exp",
    "lockstep.sampling.near_exp",
    "lockstep.sampling.number",
    "lockstep.sampling.parameters",
    "lockstep.sampling.pipeline",
    "lockstep.sampling.rng",
    "lockstep.sampling.seed",
    "lockstep.sampling.support",
    "lockstep.sampling.weighting",
    "lockstep.schedule",
    "lockstep.schedule.policies",
)
"""Packages, each without those below it, and modules."""
