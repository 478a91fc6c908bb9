"""A case: what is asked of an engine, over which pool, and what decides its steps [FUZZ-5]."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from lockstep.certificate import lcj
from lockstep.errors import LockstepError
from lockstep.lifecycle import Pool
from lockstep.schedule.policies.batching import Batching, Settings
from lockstep.schedule.policies.swarm import Features, Swarm
from lockstep.schedule.policy import Policy
from lockstep.schedule.schedule import Action, Schedule, parse_schedule
from lockstep.schedule.workload import Workload, parse_workload

VERSION = 1
"""The version of the document."""

Steps = tuple[tuple[Action, ...], ...]


@dataclass(frozen=True)
class Driven:
    """A policy with its parameters: one of `features`, with a seed, and `settings`.

    Attributes:
        seed: of what a swarm draws; 0 under settings, which draw nothing.
        features: of a swarm.
        settings: of continuous batching.

    Raises:
        LockstepError: BAD_VALUE, both of them, or neither.
    """

    seed: int = 0
    features: Features | None = None
    settings: Settings | None = None

    def __post_init__(self) -> None:
        if (self.features is None) == (self.settings is None):
            raise LockstepError("BAD_VALUE", "/policy", "features or settings", "both or neither")

    def policy(self) -> Policy:
        """Give a fresh policy, for one run."""
        if self.settings is not None:
            return Batching(self.settings)
        return Swarm(self.seed, self.features)

    def document(self) -> dict[str, Any]:
        """Give the policy as a JSON value."""
        features = None if self.features is None else asdict(self.features)
        settings = None if self.settings is None else _listed(asdict(self.settings))
        return {"seed": self.seed, "features": features, "settings": settings}


@dataclass(frozen=True)
class Case:
    """What is run: a workload over a pool, by a policy or by steps.

    Attributes:
        workload: all requests.
        pool: the pool's constants.
        by: what decides the steps: a policy, or the steps themselves. Steps may end before every
            request is finished, and be none at all.
    """

    workload: Workload
    pool: Pool
    by: Driven | Steps

    @property
    def schedule(self) -> Schedule | None:
        """The schedule of a case of steps; None for one of a policy."""
        return None if isinstance(self.by, Driven) else Schedule(self.pool, self.by)

    def document(self) -> dict[str, Any]:
        """Give the case as a JSON value."""
        driven = isinstance(self.by, Driven)
        schedule = self.schedule
        return {
            "version": VERSION,
            "workload": self.workload.document(),
            "pool": {"blocks": self.pool.blocks, "block_size": self.pool.block_size},
            "policy": self.by.document() if isinstance(self.by, Driven) else None,
            "steps": None if driven or schedule is None else schedule.document()["steps"],
        }

    def encode(self) -> bytes:
        """Give the case in LCJ."""
        return lcj.encode(self.document())

    @cached_property
    def sha256(self) -> str:
        """The case's digest, in hex: SHA-256 of its LCJ."""
        return hashlib.sha256(self.encode()).hexdigest()


def parse_case(document: dict[str, Any], source: str = "") -> Case:
    """Give the case of what `Case.document` gave; `source` names the document in errors.

    Raises:
        LockstepError: as `parse_workload` and `parse_schedule`; BAD_VALUE, neither a policy nor
            steps, or both; MISSING_FIELD or UNKNOWN_FIELD, a member of the case itself.
    """
    _require_members(document, ("version", "workload", "pool", "policy", "steps"), source)
    if document["version"] != VERSION:
        raise LockstepError("BAD_VALUE", f"{source}:/version", VERSION, document["version"])
    policy, steps = document["policy"], document["steps"]
    if (policy is None) == (steps is None):
        raise LockstepError("BAD_VALUE", source, "a policy or steps", "both or neither")
    schedule = parse_schedule(
        {"version": 1, "pool": document["pool"], "steps": [] if steps is None else steps}, source
    )
    workload = parse_workload(document["workload"], source)
    by = schedule.steps if policy is None else _driven(policy, source)
    return Case(workload, schedule.pool, by)


def _driven(document: dict[str, Any], source: str) -> Driven:
    _require_members(document, ("seed", "features", "settings"), source)
    features, settings = document["features"], document["settings"]
    try:
        return Driven(
            document["seed"],
            None if features is None else Features(**features),
            None if settings is None else Settings(**_tupled(settings)),
        )
    except TypeError as fault:
        raise LockstepError(
            "BAD_VALUE", f"{source}:/policy", "its parameters", str(fault)
        ) from None


def _require_members(document: dict[str, Any], names: tuple[str, ...], source: str) -> None:
    for name in names:
        if name not in document:
            raise LockstepError("MISSING_FIELD", f"{source}:/{name}", "this field")
    for name in document:
        if name not in names:
            raise LockstepError("UNKNOWN_FIELD", f"{source}:/{name}", ", ".join(names))


def _listed(members: dict[str, Any]) -> dict[str, Any]:
    return {k: list(v) if isinstance(v, tuple) else v for k, v in members.items()}


def _tupled(members: dict[str, Any]) -> dict[str, Any]:
    return {k: tuple(v) if isinstance(v, list) else v for k, v in members.items()}
