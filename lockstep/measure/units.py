"""Units as products of powers of named bases: none passes for another unconverted [MEAS-2]."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from lockstep import spec
from lockstep.errors import LockstepError

_FACTOR = re.compile(r"([a-z]+)(?:\^([2-4]))?")

Powers = Mapping[str, int]
"""Base by exponent, none of which is 0; empty for a plain number."""


def _data() -> dict[str, Any]:
    data: dict[str, Any] = spec.load("measurement.json")["units"]
    return data


def parse(text: str, pointer: str = "") -> dict[str, int]:
    """Read a unit such as `us/token` or `as/token^2`.

    Raises:
        LockstepError: UNIT_MISMATCH, it is none, or not in its one spelling.
    """
    known = {name for name, _ in _data()["time"]} | set(_data()["other"])
    powers: dict[str, int] = {}
    above, _, below = text.partition("/")
    for sign, product in ((1, above), (-1, below)):
        for factor in [] if product in ("", "1") else product.split("*"):
            match = _FACTOR.fullmatch(factor)
            if match is None or match[1] not in known:
                raise LockstepError("UNIT_MISMATCH", pointer, f"one of {sorted(known)}", factor)
            powers[match[1]] = powers.get(match[1], 0) + sign * int(match[2] or 1)
    if render(powers) != text:
        raise LockstepError("UNIT_MISMATCH", pointer, render(powers), text)
    return powers


def render(powers: Powers) -> str:
    """Write a unit in its one spelling: bases ascending, `1` for no base above the stroke."""

    def product(sign: int) -> str:
        chosen = sorted(name for name, power in powers.items() if power * sign > 0)
        return "*".join(
            name if abs(powers[name]) == 1 else f"{name}^{abs(powers[name])}" for name in chosen
        )

    below = product(-1)
    return (product(1) or "1") + (f"/{below}" if below else "")


def words(unit: str) -> str:
    """Give what a name of this unit ends with: `us_per_token`, `ratio` for a plain number."""
    if unit == "1":
        return "ratio"
    above, _, below = unit.partition("/")
    parts = [part.replace("^", "").replace("*", "_") for part in (above, below) if part != ""]
    return "_per_".join(parts).removeprefix("1_")


def names(unit: str, name: str) -> bool:
    """Whether a reading's name ends with its unit, and with no longer one [MEAS-2].

    `cost_us_per_token` ends with `token` too, and is no number of tokens.
    """
    stem = name.removesuffix(f"_{words(unit)}")
    if stem == name or unit == "1":
        return stem != name
    bases = "|".join((*(base for base, _ in _data()["time"]), *_data()["other"]))
    longer = f"per(?:_(?:{bases})[234]?)*"
    if unit.startswith("1/"):
        longer += f"|(?:{bases})[234]?"
    return re.search(f"(?:^|_)(?:{longer})$", stem) is None


def times(first: Powers, second: Powers, sign: int = 1) -> dict[str, int]:
    """Multiply two units, or divide them where `sign` is -1."""
    found = {name: first.get(name, 0) + sign * second.get(name, 0) for name in {*first, *second}}
    return {name: power for name, power in found.items() if power}


def conversion(source: Powers, target: Powers, pointer: str = "") -> Fraction:
    """Give what a number of one unit is multiplied by to be one of another.

    Raises:
        LockstepError: UNIT_MISMATCH, they differ in more than the scale of time.
    """
    scale = dict(_data()["time"])
    factor, left = Fraction(1), [0, 0]
    for side, powers in enumerate((source, target)):
        for name, power in powers.items():
            if name in scale:
                factor *= Fraction(scale[name]) ** (power if side == 0 else -power)
                left[side] += power
    others = [{n: p for n, p in powers.items() if n not in scale} for powers in (source, target)]
    if others[0] != others[1] or left[0] != left[1]:
        raise LockstepError("UNIT_MISMATCH", pointer, render(source), render(target))
    return factor
