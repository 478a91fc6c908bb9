"""Random positions on which two implementations of the sampler are compared, drawn from a seed.

Chance alone seldom finds what makes implementations differ, so that most positions are of a kind
that does: arguments next to a midpoint of the exponential, equal numbers, gaps about the bound,
filters that are met with equality, and in profile upstream-1.0.0 numbers as lax as it takes them.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any

from lockstep.sampling.exp import exp

V1, UPSTREAM = "sampling/v1", "upstream-1.0.0"
Position = dict[str, Any]
"""The inputs of the op `sampling_token` of conformance/README.md."""
Numbers = list[str]

HARD = (
    "-0.6403554005", "-0.8437926222", "-0.0002515806942", "-0.000721544901", "-51.71848225",
    "-0.08469880677", "-0.0004011116847", "-0.0000002861498524", "-0.0004923668427",
    "-1.482525958", "-15.35687609", "-0.0000004009498961", "-0.0000007528504884", "-0.1828713452",
    "-41.59228552", "-45.07023382", "-0.03104241004", "-4.467883566", "-0.07612800564",
    "-0.0000004905497007", "-0.02805388913", "-16.63063652", "-0.0000001556502673",
    "-0.0002210106713", "-0.09636755168", "-0.0000008687500849", "-4.891544343",
    "-0.002753141769", "-0.413211791", "-1.232163318", "-4.509225607", "-2.698584286",
    "-2.268593746", "-2.058641957", "-1.003094531", "-0.933255508", "-0.8481917494",
    "-0.8297967438", "-0.7963882118", "-0.7566497443", "-0.7395743484", "-0.7228789291",
    "-0.6989091027", "-0.6758133902", "-0.6638205677", "-0.6590635107", "-0.6138853783",
    "-0.5853427201", "-0.5659364836", "-0.5375765177", "-0.5257299164", "-0.5203095809",
    "-0.4793393422", "-0.4712063797", "-0.4159602672", "-0.3312115576", "-0.2905086998",
    "-0.263880258", "-0.2573621186", "-0.2371588199", "-0.2284975579", "-0.1619435744",
    "-0.1492940147", "-0.1302190997", "-0.1073723246", "-0.05503708178", "-0.04624236934",
    "-0.01486233411",
)  # fmt: skip
"""Arguments whose exponential of 10 digits a library in use (apd 2, 3) gets wrong."""

_SIZES = (1, 2, 2, 3, 3, 4, 5, 5, 6, 8, 12, 20)
_TEMPERATURES = ("1", "1", "0.7", "0.35", "2", "0.00001", "0.1", "999.9999999999999999", "1.3")
_LAX_TEMPERATURES = (
    "1",
    " 1.0",
    "7e-1",
    "0.1",
    "1e-5",
    "0.00001",
    "-1",
    "inf",
    "1_0",
    "0",
    "nan",
    "2E0",
)
_LAX_NUMBERS = (
    "-0",
    "+0.0",
    "-inf",
    "-1e5",
    " -2.5",
    "-1_0.5",
    "-5.E-1",
    "-.25",
    "1",
    "-1e-300000",
)
_LAX_SHARES = ("1", "0.9", "0", "-1", "1.5", "5e-1", "inf", "1e-400000", "", "0.99999999995")
_OTHER_TOKENS = ("", "a", "\u00e9", "\uffee", "\U0001f600", "07", "7 ", "Z")


def positions(seed: str, count: int) -> Iterator[Position]:
    """Draw so many positions; the same seed gives the same ones, each of both profiles."""
    chosen = random.Random(seed)
    for number in range(count):
        yield _position(chosen, UPSTREAM if number % 3 == 2 else V1)


def _position(chosen: random.Random, profile: str) -> Position:
    temperature = chosen.choice(_TEMPERATURES)
    if chosen.random() < 0.2:
        temperature = _text(chosen.randrange(1, 3 * 10**9), 9)
    numbers = chosen.choice(_FAMILIES)(chosen)
    position: Position = {
        "op": "sampling_token",
        "profile": profile,
        "user_seed": str(chosen.randrange(-(2**63), 2**63)),
        "inference_id": f"id-{chosen.randrange(2**32):08x}",
        "beacon": chosen.choice(("", f"{chosen.getrandbits(256):064x}")),
        "choice": chosen.randrange(2**16),
        "position": chosen.randrange(2**31),
        "temperature": temperature,
        "top_k": _maybe(chosen, (0, -1, 1, 2, len(numbers) - 1, len(numbers), len(numbers) + 1)),
        "top_p": _maybe(chosen, ("1", "0.95", "0.5", "0.1", "0.0000000000000001", "0.9999999999")),
        "min_p": _maybe(chosen, ("1", "0", "0.05", "0.5", "0.0000000000000001", "0.9999999999")),
    }
    if profile == V1:
        _meet(chosen, position, numbers)
    tokens = [
        str(token) for token in chosen.sample(range(chosen.choice((450, 200_000))), len(numbers))
    ]
    if profile == UPSTREAM:
        _loosen(chosen, position, numbers, tokens)
    position["support"] = [list(pair) for pair in zip(tokens, numbers, strict=True)]
    return position


def _meet(chosen: random.Random, position: Position, numbers: Numbers) -> None:
    """Sometimes make a filter's comparison an equality, or a number one that no rule admits."""
    dice = chosen.random()
    if dice < 0.05:
        position["top_p"] = _text(chosen.randint(1, len(numbers)) * 10**16 // len(numbers), 16)
    elif dice < 0.1 and position["temperature"] == "1":
        number = Decimal(chosen.choice(HARD))
        numbers[:] = ["0", str(number)]
        position["min_p"] = f"{exp(number):f}".rstrip("0")
    elif dice < 0.11:
        numbers[0] = chosen.choice(("-0", "1", "-1.0", "-inf", "", "-1e-3", "-100000", "-0.5 "))
    elif dice < 0.12:
        position["temperature"] = chosen.choice(("0", "0.000001", "-1", "1.0", "1000", "1e0"))


def _loosen(chosen: random.Random, position: Position, numbers: Numbers, tokens: list[str]) -> None:
    """Sometimes put in what only the other profile takes, or refuses in its own way."""
    position["beacon"] = position["choice"] = None
    if chosen.random() < 0.3:
        position["temperature"] = chosen.choice(_LAX_TEMPERATURES)
    if chosen.random() < 0.3:
        numbers[chosen.randrange(len(numbers))] = chosen.choice(_LAX_NUMBERS)
    if chosen.random() < 0.15:
        tokens[chosen.randrange(len(tokens))] = chosen.choice(_OTHER_TOKENS)
    if chosen.random() < 0.3:
        position[chosen.choice(("top_p", "min_p"))] = chosen.choice(_LAX_SHARES)
    if chosen.random() < 0.1:
        position["top_k"] = chosen.choice((-2, -5, -(2**40), 2**40))


def _maybe(chosen: random.Random, values: tuple[Any, ...]) -> Any:
    return chosen.choice(values) if chosen.random() < 0.35 else None


def _text(units: int, places: int) -> str:
    """Give the text of units / 10^places, without needless zeros."""
    whole, part = divmod(units, 10**places)
    fraction = f"{part:0{places}d}".rstrip("0")
    return f"{whole}.{fraction}" if fraction else str(whole)


def _logprob(units: int, places: int) -> str:
    return f"-{_text(units, places)}" if units else "0"


def _model(chosen: random.Random) -> Numbers:
    """Numbers as an executor writes them."""
    return [
        _logprob(int(chosen.expovariate(0.2) * 10**12), 12) for _ in range(chosen.choice(_SIZES))
    ]


def _long(chosen: random.Random) -> Numbers:
    """Numbers with as many digits as there may be."""
    most = 10 ** chosen.choice((12, 24, 25, 26))
    return [_logprob(chosen.randrange(most), 24) for _ in range(chosen.choice(_SIZES))]


def _equal(chosen: random.Random) -> Numbers:
    """Few different numbers, so that ranks and remainders tie."""
    few = [_logprob(chosen.randrange(60), 1) for _ in range(chosen.choice((1, 1, 2, 3)))]
    size = chosen.choice((*_SIZES, 10, 16, 25, 32))
    return [chosen.choice(few) for _ in range(size)]


def _about_the_bound(chosen: random.Random) -> Numbers:
    """Gaps of 64 and next to it, tiny ones, and the largest."""
    near = (64 * 10**12, 64 * 10**12 + 1, 64 * 10**12 - 1, 64 * 10**12 + 10**4, 45 * 10**12)
    far = (1, 50, 51, 10**5, 99_999 * 10**12, 43_749_000_000_000, 300 * 10**12)
    numbers = ["0"] + [_logprob(chosen.choice(near + far), 12) for _ in range(chosen.randint(1, 6))]
    return numbers if chosen.random() < 0.5 else [*numbers, _logprob(chosen.randrange(10**8), 12)]


def _hard(chosen: random.Random) -> Numbers:
    """Exponentials that a library gets wrong."""
    return ["0", *chosen.sample(HARD, chosen.choice((1, 1, 2, 5)))]


def _midpoints(chosen: random.Random) -> Numbers:
    """Gaps whose exponential lies next to a midpoint, by as little as 10 digits allow."""
    numbers = ["0"]
    for _ in range(chosen.randint(1, 5)):
        middle = 10 * chosen.randrange(0, 3_000) + 5
        numbers.append(_logprob(middle * 10**8 + chosen.choice((0, 1, -1, 17, -300)), 19))
    return numbers


def _many(chosen: random.Random) -> Numbers:
    """Many tokens, once in a while: weights of less than one unit."""
    if chosen.random() < 0.97:
        return _model(chosen)
    size = chosen.choice((64, 100, 417))
    return [_logprob(chosen.randrange(9 * 10**12), 12) for _ in range(size)]


_FAMILIES: tuple[Callable[[random.Random], Numbers], ...] = (
    _model,
    _long,
    _equal,
    _about_the_bound,
    _hard,
    _midpoints,
    _many,
)
