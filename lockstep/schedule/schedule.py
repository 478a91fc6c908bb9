"""Schedules: what an engine does, step by step [SCHED-10] to [SCHED-18]."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from lockstep.certificate import lcj
from lockstep.certificate.write import write_file
from lockstep.errors import LockstepError
from lockstep.lifecycle import Pool
from lockstep.schedule.document import place, read_document, require_schema
from lockstep.schedule.workload import Workload

VERSION = 1
"""The version of the document."""

_NAMED = 8
"""Requests that an error lists."""

NAMING = ("cache_hit", "chunk", "decode", "evict")
"""The events whose blocks an action may name [SCHED-10]."""


@dataclass(frozen=True)
class Action:
    """An event of one request.

    Attributes:
        event: an event of the lifecycle.
        request: the request's id.
        tokens: the tokens of a chunk, else 0.
        blocks: the blocks that are granted, taken or evicted; empty leaves them to [SCHED-14].
    """

    event: str
    request: str
    tokens: int = 0
    blocks: tuple[int, ...] = ()

    def document(self) -> dict[str, Any]:
        """Give the action as it stands in a schedule's document."""
        member: dict[str, Any] = {"event": self.event, "request": self.request}
        if self.tokens:
            member["tokens"] = self.tokens
        if self.blocks:
            member["blocks"] = list(self.blocks)
        return member


@dataclass(frozen=True)
class Schedule:
    """A pool and the actions of each step, in order."""

    pool: Pool
    steps: tuple[tuple[Action, ...], ...]

    def document(self) -> dict[str, Any]:
        """Give the schedule as a JSON value."""
        pool = {"blocks": self.pool.blocks, "block_size": self.pool.block_size}
        steps = [[action.document() for action in step] for step in self.steps]
        return {"version": VERSION, "pool": pool, "steps": steps}

    def encode(self) -> bytes:
        """Give the schedule in LCJ."""
        return lcj.encode(self.document())

    @cached_property
    def sha256(self) -> str:
        """The schedule's digest, in hex [SCHED-2]."""
        return hashlib.sha256(self.encode()).hexdigest()


def parse_schedule(document: dict[str, Any], source: str = "") -> Schedule:
    """Give the schedule of a JSON value; `source` names the document in errors.

    Raises:
        LockstepError: WRONG_TYPE, BAD_VALUE, UNKNOWN_FIELD or MISSING_FIELD, by the schema or
            where an action has a member that its event has no use for, or lacks one.
    """
    require_schema(document, "schedule", source)
    pool = Pool(**document["pool"])
    steps = tuple(
        tuple(
            _action(entry, pool, place(source, f"/steps/{step}/{index}"))
            for index, entry in enumerate(entries)
        )
        for step, entries in enumerate(document["steps"])
    )
    return Schedule(pool, steps)


def read_schedule(path: Path) -> Schedule:
    """Read a schedule from a file.

    Raises:
        LockstepError: as `read_document` and `parse_schedule`.
    """
    return parse_schedule(read_document(path), str(path))


def write_schedule(path: Path, schedule: Schedule) -> None:
    """Write a schedule's LCJ, whole or not at all.

    Raises:
        LockstepError: a value that its own schema refuses; nothing is written.
        OSError: the file cannot be written.
    """
    parse_schedule(schedule.document(), str(path))
    write_file(path, schedule.encode())


def require_fit(workload: Workload, pool: Pool, source: str = "") -> None:
    """Refuse a pool in which some request could never be admitted [SCHED-11].

    Raises:
        LockstepError: REQUEST_NEVER_FITS, at the pool, naming the request.
    """
    for request in workload.submission:
        tokens = len(request.prompt) + request.max_new
        need = -(-tokens // pool.block_size)
        if need > pool.blocks:
            raise LockstepError(
                "REQUEST_NEVER_FITS",
                place(source, "/pool"),
                f"at most {pool.blocks} blocks of {pool.block_size} slots for request {request.id}",
                f"{need} blocks for {tokens} tokens",
            )


def require_requests(schedule: Schedule, workload: Workload, source: str = "") -> None:
    """Refuse a schedule that names what its workload has not, or not yet [SCHED-11] [SCHED-13].

    Raises:
        LockstepError: REQUEST_NEVER_FITS, REQUEST_UNKNOWN or NOT_ARRIVED, with its pointer.
    """
    require_fit(workload, schedule.pool, source)
    arrivals = {request.id: request.arrival for request in workload.requests}
    for step, actions in enumerate(schedule.steps):
        for index, action in enumerate(actions):
            where = place(source, f"/steps/{step}/{index}")
            what = f"{action.event} of {action.request}"
            if action.request not in arrivals:
                expected = f"{what}: one of {', '.join(sorted(arrivals)[:_NAMED])}"
                if len(arrivals) > _NAMED:
                    expected += f" and {len(arrivals) - _NAMED} more"
                raise LockstepError("REQUEST_UNKNOWN", where, expected, action.request)
            if arrivals[action.request] > step:
                expected = f"{what}: step {arrivals[action.request]}, its arrival, or later"
                raise LockstepError("NOT_ARRIVED", where, expected, f"step {step}")


def require_complete(schedule: Schedule, workload: Workload, source: str = "") -> None:
    """Refuse a schedule that leaves requests unfinished: without a finish of each [SCHED-17].

    Raises:
        LockstepError: SCHEDULE_UNFINISHED, naming them.
    """
    finishes = {
        action.request for step in schedule.steps for action in step if action.event == "finish"
    }
    left = [request.id for request in workload.submission if request.id not in finishes]
    if left:
        raise LockstepError(
            "SCHEDULE_UNFINISHED",
            place(source, "/steps"),
            f"every request finished after {len(schedule.steps)} steps",
            ", ".join(left),
        )


def _action(entry: dict[str, Any], pool: Pool, where: str) -> Action:
    event = entry["event"]
    what = f"a {event} of request {entry['request']}"
    if event == "chunk" and "tokens" not in entry:
        raise LockstepError("MISSING_FIELD", f"{where}/tokens", f"the tokens of {what}")
    if event != "chunk" and "tokens" in entry:
        raise LockstepError("UNKNOWN_FIELD", f"{where}/tokens", f"no tokens in {what}")
    if event not in NAMING and "blocks" in entry:
        raise LockstepError("UNKNOWN_FIELD", f"{where}/blocks", f"no blocks in {what}")
    blocks = tuple(entry.get("blocks", ()))
    if len(set(blocks)) != len(blocks) or any(block >= pool.blocks for block in blocks):
        expected = f"distinct blocks of 0 to {pool.blocks - 1} in {what}"
        raise LockstepError("BAD_VALUE", f"{where}/blocks", expected, list(blocks))
    return Action(event, entry["request"], entry.get("tokens", 0), blocks)
