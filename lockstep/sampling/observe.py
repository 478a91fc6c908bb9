"""Sequences as a file holds them, read and judged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lockstep import spec
from lockstep.errors import LockstepError
from lockstep.sampling.document import read_artifact, read_request
from lockstep.sampling.replay import SequenceOutcome, replay_sequence

_MEMBERS = ("artifact", "choice", "request")


@dataclass(frozen=True)
class Judged:
    """A sequence with what it came to.

    Attributes:
        request: the request's document.
        choice: index of the sequence.
        artifact: the artifact's document.
        outcome: the verdict, its reason and its counts.
    """

    request: Mapping[str, Any]
    choice: int
    artifact: Mapping[str, Any]
    outcome: SequenceOutcome


def judge(document: Mapping[str, Any], source: str = "") -> tuple[Judged, ...]:
    """Judge the sequences of a document `{"sequences": [{request, choice, artifact}, …]}`.

    Args:
        document: a JSON object; members of a sequence besides these three, as a certificate has
            them, are what somebody else derived, and are left aside.
        source: names the document in errors.

    Raises:
        LockstepError: MISSING_FIELD, WRONG_TYPE, UNKNOWN_FIELD or BAD_VALUE at the first offence;
            LIMIT_SIZE, too many sequences.
    """
    place = f"{source}:/sequences" if source else "/sequences"
    sequences = document.get("sequences")
    most: int = spec.load("sampling.json")["sequences_most"]
    if not isinstance(sequences, list):
        raise LockstepError("WRONG_TYPE", place, "an array", type(sequences).__name__)
    if not 1 <= len(sequences) <= most:
        raise LockstepError("LIMIT_SIZE", place, f"1 to {most} sequences", len(sequences))
    _require_few(sequences, place)
    seen: dict[str, Mapping[str, Any]] = {}
    choices: set[tuple[str, int]] = set()
    judged = []
    for index, one in enumerate(sequences):
        at = f"{place}/{index}"
        entry = _judged(one, at)
        name = entry.request["inference_id"]
        if seen.setdefault(name, entry.request) != entry.request:
            raise LockstepError("BAD_VALUE", f"{at}/request", "that of the same id before", name)
        if (name, entry.choice) in choices:
            raise LockstepError("BAD_VALUE", f"{at}/choice", "one that is not there", entry.choice)
        choices.add((name, entry.choice))
        judged.append(entry)
    return tuple(judged)


def _require_few(sequences: list[Any], place: str) -> None:
    """See that what is to be replayed is bounded, before any of it is [SAMP-32].

    Raises:
        LockstepError: LIMIT_SIZE.
    """
    most: int = spec.load("sampling.json")["pairs_most"]
    pairs = 0
    for one in sequences:
        artifact = one.get("artifact") if isinstance(one, dict) else None
        positions = artifact.get("positions") if isinstance(artifact, dict) else None
        for position in positions if isinstance(positions, list) else ():
            support = position.get("support") if isinstance(position, dict) else None
            pairs += len(support) if isinstance(support, list) else 0
    if pairs > most:
        raise LockstepError("LIMIT_SIZE", place, f"at most {most} log-probabilities", pairs)


def _judged(one: Any, at: str) -> Judged:
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
    artifact = read_artifact(one["artifact"], f"{at}/artifact")
    outcome = replay_sequence(request, choice, artifact)
    return Judged(one["request"], choice, one["artifact"], outcome)
