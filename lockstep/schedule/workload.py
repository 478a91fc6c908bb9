"""Workloads: the requests that are made of an engine [SCHED-4] to [SCHED-9]."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from lockstep.certificate import lcj
from lockstep.certificate.write import write_file
from lockstep.engine.sampling import Sampling
from lockstep.errors import LockstepError
from lockstep.schedule.document import place, read_document, require_schema

LARGEST_CHOICE = (1 << 16) - 1
"""Of a request with several [SAMP-4]."""

_CHOICE = re.compile(r"0|[1-9][0-9]{0,4}")

VERSION = 1
"""The version of the document."""

GREEDY = Sampling()
"""Nothing is drawn: the largest logit is taken."""


@dataclass(frozen=True)
class Request:
    """A request, as it is made.

    Attributes:
        id: its name within the workload.
        prompt: token ids, one or more.
        max_new: tokens that it may emit.
        arrival: the step, from 0, at whose beginning it is submitted.
        salt: parts prefix caches; requests of different salts share no block.
        ignore_eos: whether an end of sequence does not end it.
        sampling: how its tokens are chosen.
    """

    id: str
    prompt: tuple[int, ...]
    max_new: int
    arrival: int = 0
    salt: str = ""
    ignore_eos: bool = False
    sampling: Sampling = GREEDY

    @property
    def stream(self) -> tuple[str, int]:
        """What its draws are keyed by beside seed and position: a name and a choice [ENG-15]."""
        name, *rest = self.id.split(".", 2)
        chosen = _CHOICE.fullmatch(rest[0]) if rest else None
        choice = int(chosen[0]) if chosen else 0
        return name, choice if choice <= LARGEST_CHOICE else 0

    def document(self) -> dict[str, Any]:
        """Give the request as it stands in a workload's document."""
        return {
            "id": self.id,
            "prompt": list(self.prompt),
            "max_new": self.max_new,
            "arrival": self.arrival,
            "salt": self.salt,
            "ignore_eos": self.ignore_eos,
            "sampling": self.sampling.document(),
        }


@dataclass(frozen=True)
class Workload:
    """The requests of a workload, in the order of its document.

    Raises:
        LockstepError: DUPLICATE_REQUEST, two requests with one id; BAD_VALUE, none at all.
    """

    requests: tuple[Request, ...]

    def __post_init__(self) -> None:
        if not self.requests:
            raise LockstepError("BAD_VALUE", "/requests", "1 elements or more", 0)
        first: dict[str, int] = {}
        for index, request in enumerate(self.requests):
            if request.id in first:
                raise LockstepError(
                    "DUPLICATE_REQUEST",
                    f"/requests/{index}/id",
                    f"another id than that of /requests/{first[request.id]}",
                    request.id,
                )
            first[request.id] = index

    @cached_property
    def submission(self) -> tuple[Request, ...]:
        """The requests in the order of submission; a request's number is its place [SCHED-8]."""
        # Sorting is stable, so that the order of the workload stays within an arrival.
        return tuple(sorted(self.requests, key=lambda request: request.arrival))

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The number of each request by its id."""
        return {request.id: number for number, request in enumerate(self.submission)}

    def document(self) -> dict[str, Any]:
        """Give the workload as a JSON value."""
        return {"version": VERSION, "requests": [request.document() for request in self.requests]}

    def encode(self) -> bytes:
        """Give the workload in LCJ."""
        return lcj.encode(self.document())

    @cached_property
    def sha256(self) -> str:
        """The workload's digest, in hex [SCHED-2]."""
        return hashlib.sha256(self.encode()).hexdigest()

    def alone(self, request_id: str) -> Workload:
        """Give the workload of one request by itself, arriving at step 0."""
        request = self.submission[self.numbers[request_id]]
        return Workload((replace(request, arrival=0),))


def parse_workload(document: dict[str, Any], source: str = "") -> Workload:
    """Give the workload of a JSON value; `source` names the document in errors.

    Raises:
        LockstepError: EMPTY_PROMPT; WRONG_TYPE, BAD_VALUE, UNKNOWN_FIELD or MISSING_FIELD by the
            schema; BAD_VALUE for a sampling parameter out of its range; DUPLICATE_REQUEST.
    """
    for index, entry in enumerate(_entries(document)):
        if isinstance(entry, dict) and entry.get("prompt") == []:
            where = place(source, f"/requests/{index}/prompt")
            raise LockstepError("EMPTY_PROMPT", where, "one token or more", "none")
    require_schema(document, "workload", source)
    requests = tuple(
        Request(
            **{
                **entry,
                "prompt": tuple(entry["prompt"]),
                "sampling": Sampling.parse(
                    entry["sampling"], place(source, f"/requests/{index}/sampling")
                ),
            }
        )
        for index, entry in enumerate(document["requests"])
    )
    try:
        return Workload(requests)
    except LockstepError as fault:
        where = place(source, fault.pointer)
        raise LockstepError(fault.code, where, fault.expected, fault.got) from None


def read_workload(path: Path) -> Workload:
    """Read a workload from a file.

    Raises:
        LockstepError: as `read_document` and `parse_workload`.
    """
    return parse_workload(read_document(path), str(path))


def write_workload(path: Path, workload: Workload) -> None:
    """Write a workload's LCJ, whole or not at all.

    Raises:
        LockstepError: a value that its own schema refuses, or EMPTY_PROMPT; nothing is written.
        OSError: the file cannot be written.
    """
    parse_workload(workload.document(), str(path))
    write_file(path, workload.encode())


def require_model(
    workload: Workload, vocab_size: int, max_positions: int, source: str = ""
) -> None:
    """Refuse a workload that a model cannot take [SCHED-9].

    Args:
        workload: what the model is to compute.
        vocab_size: the model's token ids are those below it.
        max_positions: tokens of the longest sequence that the model is made for.
        source: names the workload in errors.

    Raises:
        LockstepError: TOKEN_OUT_OF_RANGE or SEQUENCE_TOO_LONG, with its pointer.
    """
    for index, request in enumerate(workload.requests):
        where = place(source, f"/requests/{index}")
        for position, token in enumerate(request.prompt):
            if not 0 <= token < vocab_size:
                raise LockstepError(
                    "TOKEN_OUT_OF_RANGE",
                    f"{where}/prompt/{position}",
                    f"a token id of request {request.id}, 0 to {vocab_size - 1}",
                    token,
                )
        length = len(request.prompt) + request.max_new
        if length > max_positions:
            raise LockstepError(
                "SEQUENCE_TOO_LONG",
                where,
                f"prompt and max_new of request {request.id} at most {max_positions} together",
                length,
            )


def _entries(document: dict[str, Any]) -> list[Any]:
    entries = document.get("requests")
    return entries if isinstance(entries, list) else []
