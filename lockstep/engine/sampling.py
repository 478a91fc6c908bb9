"""The sampling parameters of a request, read strictly: one form for each value [ENG-12].

Fractions stay decimal: as a request writes them, so are they taken, and none becomes binary.
"""

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from lockstep.errors import LockstepError
from lockstep.sampling.parameters import Parameters, resolve

LARGEST_SEED = (1 << 53) - 1
"""The largest integer that a document may hold [LCJ-5]."""

LARGEST_TOP_K = (1 << 31) - 1
"""Above the size of any vocabulary."""

LARGEST_TEMPERATURE = 100
"""At it no two logits of a model in use differ in weight by more than a few per cent."""

# At most three digits before the point and nine after it: both terms fit 64 bits.
_DECIMAL = re.compile(r"(0|[1-9][0-9]{0,2})(?:\.([0-9]{0,8}[1-9]))?")

_BEACON = re.compile(r"([0-9a-f]{64})?")

_GRAMMAR = "a decimal fraction as digits and point, without needless zeros, of at most 9 places"


class Fraction(NamedTuple):
    """A decimal fraction, exactly: numerator / denominator, the denominator a power of ten."""

    numerator: int
    denominator: int

    @property
    def off(self) -> bool:
        """Whether it is 0."""
        return self.numerator == 0


@dataclass(frozen=True)
class Sampling:
    """How a request's tokens are chosen.

    Attributes:
        temperature: 0 to 100; below 0.00001 it is greedy, and nothing is drawn.
        top_k: keep this many of the likeliest tokens; 0 keeps all.
        top_p: above 0 and at most 1; keep the fewest of the likeliest tokens that reach this
            probability together. "1" keeps all.
        min_p: 0 to 1; keep tokens with at least this share of the largest probability. "0" keeps
            all.
        seed: 0 to 2^53 - 1.
        beacon: 64 hex digits that nobody could choose, or empty [SAMP-4].

    Raises:
        LockstepError: WRONG_TYPE or BAD_VALUE, with the member's pointer.
    """

    temperature: str = "0"
    top_k: int = 0
    top_p: str = "1"
    min_p: str = "0"
    seed: int = 0
    beacon: str = ""

    def __post_init__(self) -> None:
        _within(self.temperature, "/temperature", False, LARGEST_TEMPERATURE)
        _within(self.top_p, "/top_p", True, 1)
        _within(self.min_p, "/min_p", False, 1)
        for name, largest in (("top_k", LARGEST_TOP_K), ("seed", LARGEST_SEED)):
            value = getattr(self, name)
            if type(value) is not int:
                raise LockstepError("WRONG_TYPE", f"/{name}", "an integer", value)
            if not 0 <= value <= largest:
                raise LockstepError("BAD_VALUE", f"/{name}", f"0 to {largest}", value)
        if type(self.beacon) is not str:
            raise LockstepError("WRONG_TYPE", "/beacon", "a string", type(self.beacon).__name__)
        if not _BEACON.fullmatch(self.beacon):
            raise LockstepError("BAD_VALUE", "/beacon", "64 hex digits", self.beacon[:80])

    @cached_property
    def resolved(self) -> Parameters:
        """The parameters without what is off [SAMP-12]."""
        return resolve(self.temperature, self.top_k, self.top_p, self.min_p)

    @cached_property
    def greedy(self) -> bool:
        """Whether the largest logit is taken [ENG-13]."""
        return self.resolved.greedy

    @classmethod
    def parse(cls, member: Any, pointer: str = "") -> "Sampling":
        """Read the member `sampling` of a request; all but `beacon` must be there.

        Raises:
            LockstepError: WRONG_TYPE, MISSING_FIELD, UNKNOWN_FIELD or BAD_VALUE, with its pointer.
        """
        if not isinstance(member, dict):
            raise LockstepError("WRONG_TYPE", pointer, "an object", type(member).__name__)
        names = tuple(cls.__dataclass_fields__)
        for name in names:
            if name not in member and name != "beacon":
                raise LockstepError("MISSING_FIELD", f"{pointer}/{name}", "a sampling parameter")
        for name in sorted(set(member) - set(names)):
            raise LockstepError("UNKNOWN_FIELD", f"{pointer}/{name}", f"only {', '.join(names)}")
        if member.get("beacon") == "":
            raise LockstepError("BAD_VALUE", f"{pointer}/beacon", "64 hex digits, or absent", "")
        try:
            return cls(**member)
        except LockstepError as fault:
            where = f"{pointer}{fault.pointer}"
            raise LockstepError(fault.code, where, fault.expected, fault.got) from None

    def document(self) -> dict[str, str | int]:
        """Give the member as it stands in a workload."""
        members = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {name: value for name, value in members.items() if name != "beacon" or value}


def fraction(text: str, pointer: str = "") -> Fraction:
    """Read a decimal fraction in its one form.

    Raises:
        LockstepError: WRONG_TYPE for what is no string, BAD_VALUE for another form.
    """
    if not isinstance(text, str):
        raise LockstepError("WRONG_TYPE", pointer, "a string", type(text).__name__)
    match = _DECIMAL.fullmatch(text)
    if match is None:
        raise LockstepError("BAD_VALUE", pointer, _GRAMMAR, text[:40])
    places = match[2] or ""
    return Fraction(int(match[1] + places), 10 ** len(places))


def _within(text: str, pointer: str, above_zero: bool, largest: int) -> None:
    value = fraction(text, pointer)
    if value.numerator > largest * value.denominator or (above_zero and value.off):
        low = "above 0" if above_zero else "0"
        raise LockstepError("BAD_VALUE", pointer, f"{low} to {largest}", text)
