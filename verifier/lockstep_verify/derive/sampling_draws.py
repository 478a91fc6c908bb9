"""Streams of numbers, the seeds that name them, and the scan (spec/sampling.md)."""

import hashlib
from collections.abc import Sequence
from typing import Any

from lockstep_verify.errors import Refusal

DOMAIN = "lockstep-sampling-v1"
TOTAL = 1 << 16
_WORDS = 1 << 64


class Stream:
    """The draws of one seed [SAMP-1].

    Args:
        seed: the text that names the stream.
        counter: the number of the next draw.
    """

    def __init__(self, seed: str, counter: int = 0) -> None:
        self._seed = seed.encode("utf-8")
        self.counter = counter

    def draw(self) -> int:
        """Give the next draw, an integer below 2^64."""
        data = self._seed + self.counter.to_bytes(8, "big")
        self.counter = (self.counter + 1) % _WORDS
        return int.from_bytes(hashlib.sha256(data).digest()[:8], "big")

    def below(self, n: int) -> int:
        """Give a draw below n, from 1 to 2^64, passing over what would favour any [SAMP-3].

        Raises:
            Refusal: BAD_VALUE, another n.
        """
        if not 1 <= n <= _WORDS:
            raise Refusal("BAD_VALUE", "/n", "1 to 2^64", n)
        limit = _WORDS - _WORDS % n
        while (word := self.draw()) >= limit:
            pass
        return word % n


def framed(domain: str, fields: Sequence[tuple[str, str]]) -> str:
    """Give the hash of a domain and named texts, each after its length, as hex [SAMP-5]."""
    lines = [domain]
    for name, text in fields:
        lines += [f"{name}_len={len(text.encode('utf-8'))}", text]
    return hashlib.sha256("\n".join(lines).encode("utf-8")).hexdigest()


def require_origin(user_seed: Any, inference_id: Any, beacon: Any = "") -> None:
    """See that a seed is made of what it may be made of [SAMP-4].

    Raises:
        Refusal: BAD_VALUE at the first member that is another.
    """
    # Exactly these types: a truth value is an integer to this language.
    if type(user_seed) is not int or not -(1 << 63) <= user_seed < 1 << 63:
        raise Refusal("BAD_VALUE", "/user_seed", "-2^63 to 2^63 - 1", user_seed)
    if type(inference_id) is not str or not 1 <= len(inference_id) <= 256:
        raise Refusal("BAD_VALUE", "/inference_id", "1 to 256 characters", inference_id)
    if not all("!" <= character <= "~" for character in inference_id):
        raise Refusal("BAD_VALUE", "/inference_id", "characters U+0021 to U+007E", inference_id)
    hexadecimal = type(beacon) is str and all(c in "0123456789abcdef" for c in beacon)
    if not hexadecimal or len(beacon) not in (0, 64):
        raise Refusal("BAD_VALUE", "/beacon", "nothing, or 64 hex digits", beacon)


def seed(user_seed: Any, inference_id: Any, beacon: Any, choice: Any, position: Any) -> str:
    """Give the seed of one position of one choice [SAMP-5].

    Raises:
        Refusal: BAD_VALUE, a value outside [SAMP-4].
    """
    require_origin(user_seed, inference_id, beacon)
    for name, value, bound in (("choice", choice, 1 << 16), ("position", position, 1 << 31)):
        if type(value) is not int or not 0 <= value < bound:
            raise Refusal("BAD_VALUE", f"/{name}", f"0 to {bound - 1}", value)
    fields = [
        ("user_seed", str(user_seed)),
        ("inference_id", inference_id),
        ("beacon", beacon),
        ("choice", str(choice)),
        ("position", str(position)),
    ]
    return framed(DOMAIN, fields)


def scan(weights: Sequence[tuple[str, int]], stream: Stream) -> str:
    """Draw one of weighted tokens, given in string order [SAMP-23].

    Raises:
        Refusal: BAD_VALUE, no token, a negative weight, or a sum of 0; no draw is taken then.
    """
    total = 0
    for token, weight in weights:
        if weight < 0:
            raise Refusal("BAD_VALUE", "/weights", "weights of 0 or more", f"{token}: {weight}")
        total += weight
    if total <= 0:
        raise Refusal("BAD_VALUE", "/weights", "a sum above 0", total)
    drawn = stream.below(total)
    for token, weight in weights:
        drawn -= weight
        if drawn < 0:
            return token
    raise AssertionError("a draw below the sum of the weights ends inside them")
