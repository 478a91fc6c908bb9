"""A request on its way through the server, and what the engine tells of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from lockstep.errors import LockstepError
from lockstep.schedule.workload import Request


class Scored(NamedTuple):
    """A token with its log-probability, of the raw logits, in float32.

    Attributes:
        token: its id.
        logprob: float32, as a Python float of the same value.
        rank: 1 for the most probable; ties count by id.
        top: the most probable tokens with theirs, as many as were asked for, in order of rank.
    """

    token: int
    logprob: float
    rank: int
    top: tuple[tuple[int, float], ...]


@dataclass(frozen=True)
class Update:
    """What became known of a request in a step; the last one has a reason or a fault.

    Attributes:
        token: what it emitted, None where it only ended.
        scored: the token with its log-probability, where that was asked for.
        prompt: with the first token, the prompt's tokens with theirs, where asked for; the first
            token of a prompt has none.
        reason: `eos` or `length` where the request has ended.
        fault: why it could not go on.
    """

    token: int | None = None
    scored: Scored | None = None
    prompt: tuple[Scored | None, ...] | None = None
    reason: str | None = None
    fault: LockstepError | None = None

    @property
    def last(self) -> bool:
        """Whether nothing follows."""
        return self.reason is not None or self.fault is not None


@dataclass(eq=False)
class Ticket:
    """A request, what is to be told of it, and what the engine notes of it.

    Attributes:
        request: what is asked; its arrival is the engine's matter.
        deliver: takes updates, in the event loop's thread.
        top: log-probabilities beside each emitted token's own; None for none at all.
        prompt_top: likewise of the prompt's tokens.
        dropped: whether nobody waits for its output any more.
        execution: number of the execution that it is part of, 0 before.
        cached: tokens of its prompt that its first lookup granted.
        looked_up: whether it has got past its first lookup.
        width: the most requests of a batch that it was in.
        prompt_scores: of the prompt's tokens by position, as they become known.
    """

    request: Request
    deliver: Callable[[Update], None]
    top: int | None = None
    prompt_top: int | None = None
    dropped: bool = False
    execution: int = 0
    cached: int = 0
    looked_up: bool = False
    width: int = 0
    prompt_scores: dict[int, Scored] = field(default_factory=dict)
