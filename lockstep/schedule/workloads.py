"""Workloads made from a seed: lengths at the edges of blocks and splits, prefixes, salts, draws."""

from dataclasses import dataclass
from typing import Literal

from lockstep.engine.sampling import Sampling
from lockstep.errors import LockstepError
from lockstep.lifecycle import Pool
from lockstep.limits import WORKLOAD_REQUESTS
from lockstep.schedule.draws import Draws
from lockstep.schedule.workload import GREEDY, Request, Workload

SPLIT = 512
"""Positions of one split of attention [KERN-14]; lengths around it reach the fold of splits."""

SAMPLINGS = (
    Sampling(temperature="0.7"),
    Sampling(temperature="1", top_k=20),
    Sampling(temperature="1.3", top_p="0.9"),
    Sampling(temperature="0.9", top_k=40, top_p="0.95", min_p="0.05"),
)
"""Each filter by itself, and all of them together."""

Kind = Literal["edges", "prefixes", "splits"]
KINDS: tuple[Kind, ...] = ("edges", "prefixes", "splits")
"""edges: prompts that end at a block's edge or beside it. prefixes: prompts that share beginnings,
some of them under another salt. splits: prompts that end around the first splits of attention."""


@dataclass(frozen=True)
class Shape:
    """What a made workload is like.

    Attributes:
        kind: where its prompts' lengths and contents come from.
        requests: how many there are.
        vocab_size: token ids lie below it. 0 is none of them: many models end a sequence at it.
        block_size: of the pool, at whose edges lengths lie.
        max_new: the most tokens that a request may emit; the least is 1.
        arrivals: requests arrive in the steps before this one, the first at 0.
        drawn: whether every other request draws its tokens; the rest are greedy.

    Raises:
        LockstepError: BAD_VALUE, a member out of its range.
    """

    kind: Kind = "edges"
    requests: int = 8
    vocab_size: int = 256
    block_size: int = 16
    max_new: int = 12
    arrivals: int = 4
    drawn: bool = True

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise LockstepError("BAD_VALUE", "kind", f"one of {', '.join(KINDS)}", self.kind)
        for name, least in (("requests", 1), ("vocab_size", 2), ("block_size", 1), ("max_new", 1)):
            if getattr(self, name) < least:
                raise LockstepError("BAD_VALUE", name, f"{least} or more", getattr(self, name))
        if self.requests > WORKLOAD_REQUESTS:
            expected = f"at most {WORKLOAD_REQUESTS}"
            raise LockstepError("BAD_VALUE", "requests", expected, self.requests)
        if self.arrivals < 1:
            raise LockstepError("BAD_VALUE", "arrivals", "1 or more", self.arrivals)


def make_workload(shape: Shape, seed: int) -> Workload:
    """Make a workload; the same shape and seed make the same one in any process."""
    draws = Draws(seed)
    prefixes = [_tokens(draws, shape, 4 * shape.block_size) for _ in range(2)]
    return Workload(
        tuple(_request(draws, shape, number, prefixes) for number in range(shape.requests))
    )


def pool_for(workload: Workload, block_size: int, tight: bool = False) -> Pool:
    """Give a pool for a workload: for all requests at once, or just for its largest.

    A tight pool makes requests wait for each other, and evict what others left.
    """
    needs = [
        -(-(len(request.prompt) + request.max_new) // block_size) for request in workload.requests
    ]
    return Pool(max(needs) if tight else sum(needs), block_size)


def _request(draws: Draws, shape: Shape, number: int, prefixes: list[tuple[int, ...]]) -> Request:
    salt = "other" if shape.kind == "prefixes" and draws.chance(1, 4) else ""
    draws_tokens = shape.drawn and number % 2 == 1
    return Request(
        id=f"r{number}",
        prompt=_prompt(draws, shape, prefixes),
        max_new=1 + draws.below(shape.max_new),
        arrival=draws.below(shape.arrivals) if number else 0,
        salt=salt,
        ignore_eos=draws.chance(1, 2),
        sampling=_sampling(draws) if draws_tokens else GREEDY,
    )


def _prompt(draws: Draws, shape: Shape, prefixes: list[tuple[int, ...]]) -> tuple[int, ...]:
    size = shape.block_size
    if shape.kind == "prefixes":
        shared = draws.choice(prefixes)[: size * (1 + draws.below(4))]
        return shared + _tokens(draws, shape, draws.below(size + 2))
    edge = SPLIT * (1 + draws.below(2)) if shape.kind == "splits" else size * (1 + draws.below(4))
    return _tokens(draws, shape, max(1, edge - 2 + draws.below(5)))


def _sampling(draws: Draws) -> Sampling:
    kept = draws.choice(SAMPLINGS)
    return Sampling(kept.temperature, kept.top_k, kept.top_p, kept.min_p, draws.below(1 << 32))


def _tokens(draws: Draws, shape: Shape, count: int) -> tuple[int, ...]:
    return tuple(1 + draws.below(shape.vocab_size - 1) for _ in range(count))
