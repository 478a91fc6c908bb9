"""Sequences on their way to a verdict, which no executor can keep them from [SAMP-49]."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from lockstep import spec
from lockstep.errors import LockstepError
from lockstep.sampling.document import (
    Artifact,
    Request,
    artifact_document,
    blank_artifact,
    read_artifact,
    read_request,
)
from lockstep.sampling.replay import right_numbers, uncovered

_MEMBERS = ("artifact", "choice", "request")


@dataclass(frozen=True)
class Entry:
    """A sequence that can be judged.

    Attributes:
        asked: the request's document.
        request: the request.
        choice: index of the sequence.
        signed: the artifact's document, or the blank one.
        artifact: what it holds.
        fault: why the blank artifact stands there; empty where it does not.
    """

    asked: Mapping[str, Any]
    request: Request
    choice: int
    signed: Mapping[str, Any]
    artifact: Artifact
    fault: str = ""

    @property
    def pairs(self) -> int:
        """Count the pairs of token and log-probability."""
        return sum(len(one.support or ()) for one in self.artifact.positions)


def admit(one: Any, at: str) -> Entry:
    """Read a sequence. What its executor sent may be anything; the request is held to its rules.

    Args:
        one: a JSON value.
        at: names it in errors.

    Raises:
        LockstepError: WRONG_TYPE, MISSING_FIELD, BAD_VALUE, UNKNOWN_FIELD at the first offence.
    """
    if not isinstance(one, dict):
        raise LockstepError("WRONG_TYPE", at, "an object", type(one).__name__)
    for name in _MEMBERS:
        if name not in one:
            raise LockstepError("MISSING_FIELD", f"{at}/{name}", "this member")
    request = read_request(one["request"], f"{at}/request")
    choice = one["choice"]
    if type(choice) is not int:
        raise LockstepError("WRONG_TYPE", f"{at}/choice", "an integer", type(choice).__name__)
    if not 0 <= choice < request.choices:
        raise LockstepError("BAD_VALUE", f"{at}/choice", f"below {request.choices}", choice)
    try:
        artifact = read_artifact(one["artifact"], f"{at}/artifact")
    except LockstepError as fault:
        blank = blank_artifact()
        told = f"{fault.code} at {fault.pointer}"
        return Entry(one["request"], request, choice, blank, read_artifact(blank), told)
    return Entry(one["request"], request, choice, one["artifact"], artifact)


def bounded(entries: Sequence[Entry], place: str) -> tuple[Entry, ...]:
    """Give sequences of which a certificate holds all, without what no verdict needs.

    Raises:
        LockstepError: LIMIT_SIZE, what the requests allow is too much.
    """
    most: int = spec.load("sampling.json")["pairs_most"]
    if sum(one.pairs for one in entries) <= most:
        return tuple(entries)
    kept = tuple(_lightened(one) for one in entries)
    pairs = sum(one.pairs for one in kept)
    if pairs > most:
        raise LockstepError("LIMIT_SIZE", place, f"at most {most} log-probabilities", pairs)
    return kept


def _lightened(one: Entry) -> Entry:
    """Leave out supports that nobody looks at, and an artifact that is larger than a valid one."""
    positions = one.artifact.positions
    if uncovered(one.request):
        bare = tuple(signed._replace(support=None) for signed in positions)
        artifact = replace(one.artifact, positions=bare)
        return replace(one, artifact=artifact, signed=artifact_document(artifact))
    too_large = len(positions) > one.request.max_tokens or any(
        len(signed.support or ()) > max(right_numbers(one.request, at))
        for at, signed in enumerate(positions)
    )
    if not too_large:
        return one
    blank = blank_artifact()
    fault = "LIMIT_SIZE: more log-probabilities than the request allows"
    return replace(one, signed=blank, artifact=read_artifact(blank), fault=fault)
