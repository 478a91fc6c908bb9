"""The state of the machine: a pool, its blocks, requests and their queue [LIFE-5] to [LIFE-8]."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar

_Value = TypeVar("_Value")

ACTIVE = frozenset({"ADMITTED", "PREFILLING", "DECODING"})
WAITING = frozenset({"QUEUED", "PREEMPTED"})


def ceil_div(tokens: int, slots: int) -> int:
    """Give the number of blocks of `slots` that hold `tokens`."""
    return -(-tokens // slots)


@dataclass(frozen=True)
class Pool:
    """The pool's constants: `blocks` blocks of `block_size` token slots each."""

    blocks: int
    block_size: int


@dataclass(frozen=True)
class Request:
    """A request: constants, then what changes [LIFE-6].

    Attributes:
        prompt: tokens of its prompt.
        max_new: tokens that it may emit.
        state: a state of the relation.
        computed: leading tokens whose keys and values stand in its blocks.
        outputs: tokens emitted.
        table: the blocks that it holds; entry i holds positions i·S to i·S + S − 1.
    """

    prompt: int
    max_new: int
    state: str
    computed: int = 0
    outputs: int = 0
    table: tuple[int, ...] = ()

    @property
    def known(self) -> int:
        """The tokens that there are to compute."""
        return self.prompt + self.outputs

    @property
    def active(self) -> bool:
        """Whether the request holds a reservation."""
        return self.state in ACTIVE

    @property
    def waiting(self) -> bool:
        """Whether the request stands in the queue."""
        return self.state in WAITING

    def need(self, pool: Pool) -> int:
        """The blocks that its admission reserves."""
        return ceil_div(self.prompt + self.max_new, pool.block_size)

    def owed(self, pool: Pool) -> int:
        """The blocks reserved and not yet taken."""
        return self.need(pool) - len(self.table) if self.active else 0


@dataclass(frozen=True)
class Step:
    """An event of one request, with what was chosen in it.

    Attributes:
        request: the request's number.
        event: an event of the relation.
        tokens: the tokens of a chunk, else 0.
        blocks: the blocks granted by a cache_hit, taken by a chunk or decode, or evicted.
        published: the blocks that a chunk or decode makes cached.
    """

    request: int
    event: str
    tokens: int = 0
    blocks: tuple[int, ...] = ()
    published: tuple[int, ...] = ()


@dataclass(frozen=True)
class State:
    """The machine's state.

    Attributes:
        pool: its constants.
        references: of each block, the number of requests that hold it.
        cached: of each block, whether the prefix index offers its content.
        requests: all requests ever submitted; their numbers are their places.
        queue: numbers of the waiting requests, the head first.
    """

    pool: Pool
    references: tuple[int, ...]
    cached: tuple[bool, ...]
    requests: tuple[Request, ...] = ()
    queue: tuple[int, ...] = ()

    @cached_property
    def free(self) -> tuple[int, ...]:
        """The free blocks, ascending."""
        return tuple([b for b, n in enumerate(self.references) if n == 0 and not self.cached[b]])

    @cached_property
    def evictable(self) -> tuple[int, ...]:
        """The cached blocks that no request holds, ascending."""
        return tuple([b for b, n in enumerate(self.references) if n == 0 and self.cached[b]])

    @property
    def slack(self) -> int:
        """The free and evictable blocks that no reservation has a claim to [LIFE-7]."""
        owed = sum(request.owed(self.pool) for request in self.requests)
        return len(self.free) + len(self.evictable) - owed

    def with_request(self, number: int, request: Request) -> State:
        """Give the state in which this request stands for its former self."""
        requests = (*self.requests[:number], request, *self.requests[number + 1 :])
        return replace(self, requests=requests)

    def with_references(self, change: dict[int, int]) -> State:
        """Give the state in which these blocks have these reference counts."""
        return replace(self, references=_changed(self.references, change))

    def with_cached(self, change: dict[int, bool]) -> State:
        """Give the state in which these blocks are cached, or no longer are."""
        return replace(self, cached=_changed(self.cached, change))


def empty(pool: Pool) -> State:
    """Give the state of a pool that nobody has used [LIFE-8]."""
    return State(pool, (0,) * pool.blocks, (False,) * pool.blocks)


def _changed(values: tuple[_Value, ...], change: dict[int, _Value]) -> tuple[_Value, ...]:
    """Give the values with some replaced; as they are where none is, as most steps leave them."""
    if not change:
        return values
    changed = list(values)
    for block, value in change.items():
        changed[block] = value
    return tuple(changed)
