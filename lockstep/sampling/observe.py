"""Sequences as a file holds them, read and judged."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import repeat
from typing import Any

from lockstep import spec
from lockstep.errors import LockstepError
from lockstep.sampling.document import Request, Signed, read_artifact, read_request
from lockstep.sampling.replay import Look, SequenceOutcome, one_by_one, replay_sequence

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


def judge(
    document: Mapping[str, Any], source: str = "", look: Look = one_by_one, jobs: int = 1
) -> tuple[Judged, ...]:
    """Judge the sequences of a document `{"sequences": [{request, choice, artifact}, …]}`.

    Args:
        document: a JSON object; members of a sequence besides these three, as a certificate has
            them, are what somebody else derived, and are left aside.
        source: names the document in errors.
        look: judges positions.
        jobs: processes at a time; they change no outcome, and no error.

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
    named = [(one, f"{place}/{index}") for index, one in enumerate(sequences)]
    for (_, at), entry in zip(named, _each(named, look, jobs), strict=True):
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


def _each(named: Sequence[tuple[Any, str]], look: Look, jobs: int) -> Iterator[Judged]:
    """Judge sequences in their order; where there are few, their positions are shared out."""
    if jobs == 1:
        yield from (_judged(one, at, look) for one, at in named)
        return
    with ProcessPoolExecutor(jobs) as pool:
        if len(named) < jobs:
            parted = partial(shared, pool, jobs, look)
            yield from (_judged(one, at, parted) for one, at in named)
        else:
            outcomes = pool.map(partial(_outcome, look), named)
            for (one, _), outcome in zip(named, outcomes, strict=True):
                yield Judged(one["request"], one["choice"], one["artifact"], outcome)


def _outcome(look: Look, named: tuple[Any, str]) -> SequenceOutcome:
    return _judged(*named, look).outcome


def shared(
    pool: ProcessPoolExecutor,
    jobs: int,
    look: Look,
    request: Request,
    choice: int,
    first: int,
    positions: Sequence[Signed],
) -> list[str]:
    """Give the reasons of positions, looked at in as many parts as there are processes.

    Args:
        pool: of the processes.
        jobs: how many there are.
        look: judges positions.
        request: what was asked for; one that replay covers.
        choice: index of the sequence.
        first: index of the first position.
        positions: what the executor signed, one after the other.
    """
    size = max(1, -(-len(positions) // jobs))
    starts = range(0, len(positions), size)
    parts = pool.map(
        look,
        repeat(request),
        repeat(choice),
        [first + start for start in starts],
        [positions[start : start + size] for start in starts],
    )
    return [reason for part in parts for reason in part]


def _judged(one: Any, at: str, look: Look) -> Judged:
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
    outcome = replay_sequence(request, choice, artifact, look)
    return Judged(one["request"], choice, one["artifact"], outcome)
