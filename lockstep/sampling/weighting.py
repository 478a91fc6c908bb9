"""Integer weights of a support: the same for executor and validator, and for ever [SAMP-22]."""

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import NamedTuple

from lockstep import spec
from lockstep.errors import LockstepError
from lockstep.sampling import pipeline
from lockstep.sampling.number import logprob, require_token
from lockstep.sampling.parameters import Parameters

Support = Mapping[str, str] | Iterable[tuple[str, str]]
"""Log-probabilities by token, as texts; what is listed as pairs may not list a token twice."""


class Limits(NamedTuple):
    """The constants of the sampler, from spec/sampling.json."""

    total: int
    gap_least: int
    scale: int
    most: int


def limits() -> Limits:
    """Give the constants of the sampler."""
    data = spec.load("sampling.json")
    return Limits(
        data["total"], data["gap_least"], 10 ** data["scale_digits"], data["weights_most"]
    )


def weights(support: Support, parameters: Parameters) -> dict[str, int]:
    """Give the weights of the tokens that filters keep, in string order; they sum to 65536.

    Args:
        support: canonical log-probabilities by canonical token; their order changes nothing.
        parameters: resolved, and not greedy.

    Raises:
        LockstepError: WRONG_TYPE, BAD_VALUE, LIMIT_SIZE at the text that no rule admits, or where
            nothing is to be drawn.
    """
    if parameters.greedy:
        got = parameters.temperature
        raise LockstepError("BAD_VALUE", "/temperature", "one that is not greedy", got)
    return of_values(ordered(support), parameters)


def ordered(support: Support) -> list[tuple[str, Decimal]]:
    """Read a support into string order [SAMP-10].

    Raises:
        LockstepError: as `weights`.
    """
    pairs = list(support.items() if isinstance(support, Mapping) else support)
    most = limits().most
    if not pairs:
        raise LockstepError("BAD_VALUE", "/support", "1 token or more", "none")
    if len(pairs) > most:
        raise LockstepError("LIMIT_SIZE", "/support", f"at most {most} tokens", len(pairs))
    read: dict[str, Decimal] = {}
    for token, text in pairs:
        require_token(token, "/support")
        if token in read:
            raise LockstepError("BAD_VALUE", f"/support/{token}", "each token once", "two")
        read[token] = logprob(text, f"/support/{token}")
    return sorted(read.items())


def of_values(
    values: Sequence[tuple[str, Decimal]],
    parameters: Parameters,
    exp_all: pipeline.ExpAll = pipeline.exp_each,
) -> dict[str, int]:
    """Give the weights of log-probabilities that are read already, in string order.

    Args:
        values: 1 token or more, each once.
        parameters: resolved, and not greedy.
        exp_all: as `pipeline.exponentials`.
    """
    arithmetic = pipeline.context()
    powers = pipeline.exponentials(
        [value for _, value in values],
        Decimal(parameters.temperature),
        limits().gap_least,
        arithmetic,
        exp_all,
    )
    kept = pipeline.chances([token for token, _ in values], powers, arithmetic)
    if parameters.top_k is not None:
        kept = pipeline.top_k(kept, parameters.top_k)
    if parameters.top_p is not None:
        kept = pipeline.top_p(kept, Decimal(parameters.top_p), arithmetic)
    if parameters.min_p is not None:
        kept = pipeline.min_p(kept, Decimal(parameters.min_p), arithmetic)
    scale = limits().scale
    shares = [_scaled(chance.p, scale) for chance in kept]
    given = apportion(shares, limits().total)
    return {chance.token: weight for chance, weight in zip(kept, given, strict=True)}


def apportion(shares: Sequence[int], whole: int) -> list[int]:
    """Share out a whole in proportion to integers, by largest remainder.

    Args:
        shares: 0 or above, with a sum above 0.
        whole: what the answer sums to.

    Returns:
        For each share its quota, rounded down, and one more for the largest remainders; of equal
        remainders the first. (Lemma Sampling.largest_remainder_sums_to_total.)
    """
    sum_of_shares = sum(shares)
    divided = [divmod(share * whole, sum_of_shares) for share in shares]
    given = [quota for quota, _ in divided]
    # Sorting is stable, also reversed: equal remainders stay in their order.
    order = sorted(range(len(shares)), key=lambda place: divided[place][1], reverse=True)
    for place in order[: whole - sum(given)]:
        given[place] += 1
    return given


def _scaled(p: Decimal, scale: int) -> int:
    """Give p times a power of ten that makes it an integer."""
    numerator, denominator = p.as_integer_ratio()
    return numerator * scale // denominator
