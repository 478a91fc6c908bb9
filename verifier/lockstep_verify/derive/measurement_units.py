"""Units of measurements: products of powers, none converted unasked (MEAS-2)."""

from fractions import Fraction
from typing import Any

from lockstep_verify import spec
from lockstep_verify.errors import Refusal

Unit = tuple[tuple[str, int], ...]
"""Bases with their exponents, ascending, without zeros."""


def read_unit(text: str, at: str) -> Unit:
    """Read a unit.

    Raises:
        Refusal: UNIT_MISMATCH, a base that is not known, or another spelling than the one of
            MEAS-2.
    """
    data = spec.load("measurement.json")["units"]
    bases = [*(name for name, _ in data["time"]), *data["other"]]
    found: Unit = ()
    for place, part in enumerate(text.split("/")):
        for factor in part.split("*"):
            name, _, power = factor.partition("^")
            if factor == "1":
                continue
            if name not in bases or power not in ("", "2", "3", "4"):
                raise Refusal("UNIT_MISMATCH", at, sorted(bases), factor)
            found = multiply(found, ((name, int(power or 1) * (1 - 2 * place)),))
    if write_unit(found) != text:
        raise Refusal("UNIT_MISMATCH", at, write_unit(found), text)
    return found


def write_unit(unit: Unit) -> str:
    """Write a unit in its one spelling."""
    halves = []
    for sign in (1, -1):
        factors = [(name, sign * power) for name, power in unit if sign * power > 0]
        halves.append("*".join(n if p == 1 else f"{n}^{p}" for n, p in factors))
    return (halves[0] or "1") + ("/" + halves[1] if halves[1] else "")


def multiply(first: Unit, second: Unit) -> Unit:
    """Multiply two units."""
    powers = dict(first)
    for name, power in second:
        powers[name] = powers.get(name, 0) + power
    return tuple(sorted((name, power) for name, power in powers.items() if power != 0))


def invert(unit: Unit) -> Unit:
    """Give the unit of one divided by a quantity of this one."""
    return tuple((name, -power) for name, power in unit)


def ending(unit: str) -> str:
    """Give what the name of a quantity of this unit ends with (MEAS-2)."""
    if unit == "1":
        return "_ratio"
    above, stroke, below = unit.replace("^", "").replace("*", "_").partition("/")
    return (
        "_"
        + (above if above != "1" else "")
        + ("_" if stroke and above != "1" else "")
        + (f"per_{below}" if stroke else "")
    )


def named(name: str, unit: str) -> bool:
    """Tell whether a reading's name ends with its unit, and with no longer one (MEAS-2)."""
    end = ending(unit)
    if unit == "1" or not name.endswith(end):
        return name.endswith(end)
    data = spec.load("measurement.json")["units"]
    bases = [*(base for base, _ in data["time"]), *data["other"]]
    words = {base + power for base in bases for power in ("", "2", "3", "4")}
    steps = name.removesuffix(end).split("_")
    if unit.startswith("1/") and steps[-1] in words:
        return False
    while steps and steps[-1] in words:
        steps.pop()
    return not steps or steps[-1] != "per"


def of_steps(unit: str, at: str) -> bool:
    """Tell whether a number of a unit says how many steps: above the line, or alone (MEAS-9)."""
    return unit == "1/step" or dict(read_unit(unit, at)).get("step", 0) > 0


def factor(source: Unit, target: Unit, at: str) -> Fraction:
    """Give what converts a number of one unit into one of another.

    Raises:
        Refusal: UNIT_MISMATCH, they differ in more than in the scale of time.
    """
    scale: dict[str, str] = dict(spec.load("measurement.json")["units"]["time"])
    ratio = multiply(source, invert(target))
    value, dimension = Fraction(1), 0
    for name, power in ratio:
        if name not in scale:
            raise Refusal("UNIT_MISMATCH", at, write_unit(source), write_unit(target))
        value *= Fraction(scale[name]) ** power
        dimension += power
    if dimension != 0:
        raise Refusal("UNIT_MISMATCH", at, write_unit(source), write_unit(target))
    return value


def fraction(stated: dict[str, Any], at: str) -> Fraction:
    """Read a fraction, which stands in lowest terms.

    Raises:
        Refusal: BAD_VALUE.
    """
    value = Fraction(int(stated["num"]), int(stated["den"]))
    if (str(value.numerator), str(value.denominator)) != (stated["num"], stated["den"]):
        raise Refusal("BAD_VALUE", at, f"{value}, in lowest terms", stated)
    return value
