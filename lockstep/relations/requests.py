"""The requests of relations: seeded prompts of given lengths, every other one drawing [REL-8]."""

from lockstep.engine.sampling import Sampling
from lockstep.relations.context import Context
from lockstep.schedule.workload import GREEDY, Request
from lockstep.schedule.workloads import SAMPLINGS

DRAWN = (*SAMPLINGS, Sampling(temperature="0.05"))
"""Each filter, and a temperature at which a logit that is lower by 1 has hardly any weight left."""

OVER_A_SPLIT = 520
"""Tokens of a prompt that reaches into the second split of attention."""

OVER_TWO_SPLITS = 1032
"""Tokens of a prompt that reaches into the third; two splits combine alike in either order."""


def tokens(context: Context, count: int) -> tuple[int, ...]:
    """Draw tokens of a prompt; 0, which ends a sequence of many models, is none of them."""
    vocabulary = context.model.config.vocab_size
    return tuple(1 + context.draws.below(vocabulary - 1) for _ in range(count))


def request(
    context: Context,
    number: int,
    length: int,
    max_new: int = 4,
    prefix: tuple[int, ...] = (),
    arrival: int = 0,
) -> Request:
    """Make a request of a prompt's length, which a given prefix is the beginning of."""
    return Request(
        id=f"r{number}",
        prompt=(prefix + tokens(context, max(0, length - len(prefix))))[:length],
        max_new=max_new,
        arrival=arrival,
        ignore_eos=True,
        sampling=sampling(context, number) if number % 2 else GREEDY,
    )


def requests(
    context: Context, lengths: tuple[int, ...], max_new: int = 4, first: int = 0
) -> tuple[Request, ...]:
    """Make a request for each length of a prompt, numbered from the first number."""
    numbered = enumerate(lengths, first)
    return tuple(request(context, number, length, max_new) for number, length in numbered)


def sampling(context: Context, number: int) -> Sampling:
    """Give parameters under which tokens are drawn, each filter in turn, and a drawn seed."""
    kept = DRAWN[number // 2 % len(DRAWN)]
    seed = context.draws.below(1 << 32)
    return Sampling(kept.temperature, kept.top_k, kept.top_p, kept.min_p, seed)
