"""The scan of cumulative weights, and a draw by it [SAMP-23]."""

from collections.abc import Mapping, Sequence

from lockstep.errors import LockstepError
from lockstep.sampling.rng import below


def scan(weights: Sequence[int], point: int) -> int:
    """Give the first place whose cumulative weight is above a point.

    Args:
        weights: 0 or above.
        point: below their sum.
    """
    passed = 0
    for place, weight in enumerate(weights):
        passed += weight
        if passed > point:
            return place
    raise LockstepError("BAD_VALUE", "/point", f"below {passed}", point)


def draw(weights: Mapping[str, int], seed: str, counter: int = 0) -> str:
    """Draw a token in proportion to its weight.

    Args:
        weights: by token, in any order.
        seed: names the stream.
        counter: the number of the stream's draw that is taken first.

    Raises:
        LockstepError: BAD_VALUE, there is no token, a weight is negative, or all are 0; nothing
            is drawn then.
    """
    tokens = sorted(weights)
    values = [weights[token] for token in tokens]
    for token, value in zip(tokens, values, strict=True):
        if value < 0:
            raise LockstepError("BAD_VALUE", f"/weights/{token}", "0 or more", value)
    if sum(values) == 0:
        raise LockstepError("BAD_VALUE", "/weights", "a sum above 0", 0)
    return tokens[scan(values, below(seed, sum(values), counter)[0])]
