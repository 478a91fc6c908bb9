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
from lockstep.sampling.admission import Entry, admit, bounded
from lockstep.sampling.document import Request, Signed
from lockstep.sampling.replay import Look, SequenceOutcome, one_by_one, replay_sequence


@dataclass(frozen=True)
class Judged:
    """A sequence with what it came to.

    Attributes:
        request: the request's document.
        choice: index of the sequence.
        artifact: the artifact's document, or the blank one.
        outcome: the verdict, its reason and its counts.
        fault: why the blank artifact stands there [SAMP-49]; empty where it does not.
    """

    request: Mapping[str, Any]
    choice: int
    artifact: Mapping[str, Any]
    outcome: SequenceOutcome
    fault: str = ""


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
        LockstepError: MISSING_FIELD, WRONG_TYPE, UNKNOWN_FIELD or BAD_VALUE at the first offence
            that is not the executor's; LIMIT_SIZE, too many sequences, or too large ones.
    """
    place = f"{source}:/sequences" if source else "/sequences"
    sequences = document.get("sequences")
    most: int = spec.load("sampling.json")["sequences_most"]
    if not isinstance(sequences, list):
        raise LockstepError("WRONG_TYPE", place, "an array", type(sequences).__name__)
    if not 1 <= len(sequences) <= most:
        raise LockstepError("LIMIT_SIZE", place, f"1 to {most} sequences", len(sequences))
    entries: list[Entry] = []
    seen: dict[str, Mapping[str, Any]] = {}
    choices: set[tuple[str, int]] = set()
    for index, one in enumerate(sequences):
        at, entry = f"{place}/{index}", admit(one, f"{place}/{index}")
        name = entry.request.origin.inference_id
        if seen.setdefault(name, entry.asked) != entry.asked:
            raise LockstepError("BAD_VALUE", f"{at}/request", "that of the same id before", name)
        if (name, entry.choice) in choices:
            raise LockstepError("BAD_VALUE", f"{at}/choice", "one that is not there", entry.choice)
        choices.add((name, entry.choice))
        entries.append(entry)
    kept = bounded(entries, place)
    return tuple(
        Judged(entry.asked, entry.choice, entry.signed, outcome, entry.fault)
        for entry, outcome in zip(kept, _each(kept, look, jobs), strict=True)
    )


def _each(entries: Sequence[Entry], look: Look, jobs: int) -> Iterator[SequenceOutcome]:
    """Judge sequences in their order; where there are few, their positions are shared out."""
    if jobs == 1:
        yield from (_outcome(look, one) for one in entries)
        return
    with ProcessPoolExecutor(jobs) as pool:
        if len(entries) < jobs:
            parted = partial(shared, pool, jobs, look)
            yield from (_outcome(parted, one) for one in entries)
        else:
            yield from pool.map(partial(_outcome, look), entries)


def _outcome(look: Look, one: Entry) -> SequenceOutcome:
    return replay_sequence(one.request, one.choice, one.artifact, look)


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
